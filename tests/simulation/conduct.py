"""How vendors behave: they accept, refuse, fall silent and lie; what they say later is lost, late, repeated, out of order."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Final, Literal

from tidings.contracts.callback_forms import Canonical
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned

Temper = Literal[
    "honest",
    "silent",
    "unreachable",
    "refuses",
    "wrong address",
    "not now",
    "unlearned",
    "refuses and delivers",
    "contradicts itself",
]

_TEMPERS: Final[tuple[Temper, ...]] = (
    "honest",
    "silent",
    "unreachable",
    "refuses",
    "wrong address",
    "not now",
    "unlearned",
    "refuses and delivers",
    "contradicts itself",
)
#: What every vendor does now and then.
_OFTEN: Final[dict[Temper, int]] = {
    "honest": 6,
    "unreachable": 2,
    "wrong address": -1,
    "refuses and delivers": -1,
}
#: What a person's side, or a vendor, says of a message that will not arrive.
_FAILURES: Final = (
    "rejected_by_recipient",
    "bounced",
    "bounced",
    "failed_perm",
    "failed_temp",
    "rejected_by_provider",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """A receipt that a vendor will send."""

    after: float
    status: Canonical
    #: The same one is sent so often.
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """What a vendor does with one message."""

    temper: Temper
    outcome: Outcome
    #: Seconds until it answers.
    latency: float
    sayings: tuple[Saying, ...] = ()
    #: Its receipts can be told to belong to the message although no id of it was learned.
    knows_us: bool = False


class Conduct:
    """One vendor in one world: its character is drawn once, each of its deeds by itself."""

    def __init__(self, name: str, luck: Random, *, price: int, receipts: bool) -> None:
        self.name = name
        self.price = price
        self.receipts = receipts
        #: How likely each temper is; most vendors have one that they are in most of the time.
        usual = luck.choice(_TEMPERS)
        self._weights = [1 + 12 * (one == usual) + _OFTEN.get(one, 0) for one in _TEMPERS]
        self._slow = luck.choice((0.2, 1.0, 8.0, 60.0, 900.0))
        self._loses = luck.choice((0.0, 0.0, 0.1, 0.5))
        self._repeats = luck.choice((0.0, 0.2, 0.6))
        self._shuffles = luck.random() < 0.3
        self._made = 0

    def act(self, luck: Random) -> Doing:
        """One message."""
        self._made += 1
        temper = luck.choices(_TEMPERS, self._weights)[0]
        said, knows_us = self._said(temper, luck)
        return Doing(
            temper=temper,
            outcome=self._answer(temper, luck),
            latency=luck.choice((0.01, 0.05, 0.3, 2.0)),
            sayings=self._spread(said, luck) if self.receipts else (),
            knows_us=knows_us,
        )

    def _answer(self, temper: Temper, luck: Random) -> Outcome:
        """No two answers of a vendor have the same id or code, so that each can be found again where it is told."""
        match temper:
            case "refuses" | "refuses and delivers":
                return Refused(reason="no", code=f"550-{self._made}")
            case "wrong address":
                return Refused(reason="nobody there", code=f"5.1.{self._made}")
            case "not now":
                if luck.random() < 0.3:
                    return Refused(reason="not now", code=f"451-{self._made}", permanent=False)
                after = luck.choice((None, 0.0, 1.0, 20.0, 600.0))
                return TryLater(
                    reason="later",
                    code=f"429-{self._made}",
                    after=None if after is None else timedelta(seconds=after),
                )
            case "unlearned":
                return Unlearned(reason="no answer")
            case _:
                return Accepted(provider_message_id=f"{self.name}-{self._made}")

    def _said(self, temper: Temper, luck: Random) -> tuple[Sequence[Canonical], bool]:
        """In the order in which they come about; and whether they find their way without an id."""
        match temper:
            case "honest" | "unlearned":
                arrived: list[Canonical] = ["sent", "delivered"]
                return [*arrived, "delivered_read"] if luck.random() < 0.6 else arrived, False
            case "unreachable":
                gone: list[Canonical] = ["sent"] if luck.random() < 0.7 else []
                return [*gone, luck.choice(_FAILURES)], False
            case "refuses and delivers":
                return ("delivered",), luck.random() < 0.5
            case "contradicts itself":
                said: list[Canonical] = [
                    "sent",
                    "delivered",
                    luck.choice(_FAILURES),
                    luck.choice(_FAILURES),
                    "delivered_read",
                ]
                luck.shuffle(said)
                return said[: luck.randint(2, 5)], False
            case _:
                return (), False

    def _spread(self, said: Sequence[Canonical], luck: Random) -> tuple[Saying, ...]:
        after = 0.0
        sayings: list[Saying] = []
        for status in said:
            after += luck.expovariate(1 / self._slow)
            if luck.random() < self._loses:
                continue
            times = 1 if luck.random() >= self._repeats else luck.randint(2, 3)
            sayings.append(Saying(after=after, status=status, times=times))
        if self._shuffles:
            times_of_day = [one.after for one in sayings]
            luck.shuffle(times_of_day)
            sayings = [
                Saying(after=after, status=one.status, times=one.times)
                for after, one in zip(times_of_day, sayings, strict=True)
            ]
        return tuple(sayings)
