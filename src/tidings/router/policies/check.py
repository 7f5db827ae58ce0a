"""What is wrong with a policy; no I/O."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tidings.contracts.adapters import Capabilities
from tidings.contracts.tenants import Channel
from tidings.kernel.refusals import FieldError
from tidings.router.policies.model import Conditions, PolicyStep, PolicyTerms
from tidings.router.policies.step_deadlines import beginnings, told

#: Channels with telephone numbers as addresses.
_TELEPHONES: Final[frozenset[Channel]] = frozenset({"sms", "whatsapp", "viber", "voice"})
#: Channels of which a profile knows whether they reach a recipient.
_KNOWN_OF: Final[frozenset[Channel]] = frozenset({"whatsapp", "telegram", "viber", "voice", "email"})
#: Receipts that are older than this are not matched any more.
_LONGEST_LADDER: Final = timedelta(days=30)


class ServesChannels(Protocol):
    """A kind of vendor."""

    @property
    def channels(self) -> frozenset[str]:
        """What it can send over."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        ...

    @property
    def by_settings(self) -> frozenset[str]:
        """Capabilities that each account's settings decide."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AvailableAdapters:
    """Who can be sent through."""

    kinds: Mapping[str, ServesChannels]
    #: By a vendor's name, which may be one that an account was given.
    find: Callable[[str], ServesChannels | None]

    def serving(self, channel: str) -> list[str]:
        """The kinds that serve a channel, by name."""
        return sorted(name for name, kind in self.kinds.items() if channel in kind.channels)


def wrong_with(terms: PolicyTerms, adapters: AvailableAdapters) -> list[FieldError]:
    """All that is not acceptable, by field, with what to do about it."""
    return [
        *_wrong_with_whole(terms),
        *(
            wrong
            for place, step in enumerate(terms.ladder)
            for wrong in _wrong_with_step(f"ladder[{place}]", step, adapters)
        ),
        *_twins(terms.ladder),
        *_never_reached(terms),
        *_repeated_words(terms.stop_keywords),
    ]


def _wrong_with_whole(terms: PolicyTerms) -> Iterator[FieldError]:
    steps = terms.ladder
    if terms.strategy == "PARALLEL" and len(steps) < 2:
        yield FieldError("ladder", "must have at least 2 steps for PARALLEL; use SEQUENTIAL for a single one")
    if terms.strategy != "FAILOVER":
        return
    channels = sorted({step.channel for step in steps})
    if len(channels) > 1:
        yield FieldError(
            "ladder",
            f"must stay on one channel for FAILOVER, not {', '.join(channels)}; use SEQUENTIAL to change channels",
        )
        return
    if len(steps) == 1 and steps[0].vendor is not None:
        yield FieldError(
            "ladder[0].vendor",
            "leaves nobody to fail over to; leave it out for all vendors of the channel, or add a step with another",
        )
    if len(steps) > 1:
        for place, step in enumerate(steps):
            if step.vendor is None:
                yield FieldError(
                    f"ladder[{place}].vendor",
                    "is required for FAILOVER with several steps: each names another vendor",
                )


def _wrong_with_step(at: str, step: PolicyStep, adapters: AvailableAdapters) -> Iterator[FieldError]:
    serving = adapters.serving(step.channel)
    if not serving:
        yield FieldError(f"{at}.channel", f"has no adapter here: nothing can be sent over {step.channel}")
    elif step.vendor is not None:
        kind = adapters.find(step.vendor)
        if kind is None or step.channel not in kind.channels:
            yield FieldError(
                f"{at}.vendor",
                f"must be an adapter that serves {step.channel}: {', '.join(serving)}, "
                f"or an account named after one, such as {serving[0]}_backup",
            )
    if step.call_seconds is not None and step.call_seconds > step.deadline_seconds:
        yield FieldError(
            f"{at}.call_seconds", f"must be at most deadline_seconds ({step.deadline_seconds}) of its step"
        )
    if step.conditions is not None:
        yield from _wrong_with_conditions(f"{at}.conditions", step.channel, step.conditions)


def _wrong_with_conditions(at: str, channel: Channel, conditions: Conditions) -> Iterator[FieldError]:
    if conditions.prefixes is not None and channel not in _TELEPHONES:
        yield FieldError(
            f"{at}.prefixes", f"is for telephone numbers ({', '.join(sorted(_TELEPHONES))}); leave it out"
        )
    if conditions.reachable is not None and channel not in _KNOWN_OF:
        yield FieldError(
            f"{at}.reachable",
            f"is known for {', '.join(sorted(_KNOWN_OF))} only; leave it out, or use min_score",
        )
    hours = conditions.hours
    if hours is None:
        return
    if hours.start == hours.end:
        yield FieldError(f"{at}.hours.end", "must be another time than start; leave hours out for all day")
    if not _zone_exists(hours.timezone):
        yield FieldError(
            f"{at}.hours.timezone", "must be a time zone of the IANA list, such as Europe/Berlin"
        )


def _zone_exists(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _twins(steps: Sequence[PolicyStep]) -> Iterator[FieldError]:
    """The same way twice is never taken twice; under other conditions it is another way."""
    first: dict[tuple[str, str | None, Conditions | None], int] = {}
    for place, step in enumerate(steps):
        earlier = first.setdefault((step.channel, step.vendor, step.conditions), place)
        if earlier != place:
            way = f"{step.channel} through {step.vendor}" if step.vendor else step.channel
            yield FieldError(
                f"ladder[{place}]",
                f"is {way} again, as ladder[{earlier}] is; raise its retry_budget, or give them other conditions",
            )


def _never_reached(terms: PolicyTerms) -> Iterator[FieldError]:
    for place, begins in enumerate(beginnings(terms)):
        if begins >= _LONGEST_LADDER:
            yield FieldError(
                f"ladder[{place}].deadline_seconds",
                f"is never reached: the steps before it may take {told(begins)}, and a ladder has "
                f"{_LONGEST_LADDER.days} days; shorten their deadline_seconds",
            )
            return


def _repeated_words(words: Sequence[str]) -> Iterator[FieldError]:
    seen: set[str] = set()
    for place, word in enumerate(words):
        if word.casefold() in seen:
            yield FieldError(f"stop_keywords[{place}]", "is given more than once; case makes no difference")
        seen.add(word.casefold())
