"""What a notification waited for, from when until when; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tidings.kernel.mapping import by_name
from tidings.notify.decide.model import Gate, TraceLine
from tidings.notify.notifications.trace import DeliveryTrace

#: The reason of a wait for a worker.
QUEUE: Final = "queue"
#: A claim takes a moment; what takes longer than this has waited for a worker.
_A_MOMENT: Final = timedelta(seconds=5)
#: Statuses that a turn ends with without handing it over.
_DECIDED: Final = ("suppressed", "failed", "expired")

#: Why it waited, as a part of a sentence.
_WHY: Final[dict[str, str]] = {
    "circuit_open": "the vendor's circuit was open: too many calls had failed, and it was left alone for a while",
    "vendor_limit": "the limit of the vendor account was used up",
    "batch_pace": "as many messages of its batch had gone through the vendor account as its pacing lets",
    "notify_away": "no process of notify answered the router",
    "notification_locked": "the notification was being changed at that moment",
    "quiet_hours": "it was the recipient's quiet time",
    "digest": "it was gathered with others into a digest",
    "tenant_suspended": "the tenant was suspended",
    "recipient_channel_limited": "the recipient had got as many messages over this channel as the tenant allows",
    "no_account": "there was no account with the vendor",
    QUEUE: "no worker was free to take it",
}
_LIMITS: Final[dict[str, str]] = {
    Gate.LIMITS: "a limit of the tenant or of the recipient was used up",
    Gate.CHANNEL_LIMIT: "a limit of the channel was used up",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Waited:
    """One wait; the last one may go on."""

    reason: str
    since: datetime
    until: datetime
    #: Why, as a part of a sentence.
    why: str
    #: The step of the ladder; 0 for the notification as a whole.
    step: int = 0
    channel: str | None = None

    @property
    def lasted(self) -> timedelta:
        """How long."""
        return self.until - self.since


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferral:
    """A gate put it off."""

    line: TraceLine
    until: datetime
    since: datetime
    #: The moment is written nowhere, and was inferred.
    approximate: bool


def waits_of(trace: DeliveryTrace) -> list[Waited]:
    """All that it waited for, the oldest first."""
    found = [
        Waited(
            reason=one.line.reason or one.line.gate,
            since=one.since,
            until=one.until,
            why=_why(one.line.reason, one.line.gate),
            step=one.line.step,
        )
        for one in deferrals(trace)
    ]
    return sorted([*found, *steps_waits(trace), *queue_waits(trace)], key=lambda one: one.since)


def deferrals(trace: DeliveryTrace) -> list[Deferral]:
    """What gates have put off; of steps those that the router does not tell better."""
    one = trace.notification
    # Where the appointment is swept already: it was put off when its turn came, which was when the wait before ended.
    turn = one.scheduled_for or one.created_at
    sent = one.moments.get("dispatched", turn)
    told = {(wait.step, wait.reason) for ladder in trace.executions for wait in ladder.waits}
    found: list[Deferral] = []
    for line in trace.lines:
        if line.verdict != "defer" or line.until is None or (line.step, line.reason) in told:
            continue
        wait = trace.wait_for(line) if not line.step else None
        since = wait.created_at if wait is not None else _before(trace, line, turn, sent)
        found.append(Deferral(line=line, until=line.until, since=since, approximate=wait is None))
        turn = line.until if not line.step else turn
        sent = line.until if line.step else sent
    return found


def steps_waits(trace: DeliveryTrace) -> list[Waited]:
    """What steps waited for, as the router has it."""
    return [
        by_name(Waited, wait, why=_why(wait.reason, Gate.CHANNEL_LIMIT))
        for ladder in trace.executions
        for wait in ladder.waits
    ]


def queue_waits(trace: DeliveryTrace) -> list[Waited]:
    """Where it could have gone on, and no worker claimed it."""
    return [
        Waited(reason=QUEUE, since=since, until=until, why=_WHY[QUEUE])
        for since, until in _turns(trace)
        if until - since >= _A_MOMENT
    ]


def _turns(trace: DeliveryTrace) -> Iterator[tuple[datetime, datetime]]:
    """From when it could be claimed until a worker did."""
    one = trace.notification
    ready = one.scheduled_for or one.created_at
    for deferral in deferrals(trace):
        if deferral.line.step:
            continue
        yield ready, deferral.since
        ready = deferral.until
    taken = one.moments.get("dispatched") or _first(one.moments.get(name) for name in _DECIDED)
    if taken is not None:
        yield ready, taken


def _first(moments: Iterator[datetime | None]) -> datetime | None:
    return next((at for at in moments if at is not None), None)


def _before(trace: DeliveryTrace, line: TraceLine, turn: datetime, sent: datetime) -> datetime:
    if not line.step or line.until is None:
        return turn
    ended = [a.ended_at for a in trace.attempts if a.ended_at is not None and a.ended_at <= line.until]
    return max([sent, *ended])


def _why(reason: str | None, gate: str) -> str:
    if reason == "rate_limited":
        return _LIMITS.get(gate, "a limit was used up")
    return _WHY.get(reason or "", f"the reason was {reason}")


def longest(waits: Sequence[Waited], *, least: timedelta, most: int) -> list[Waited]:
    """Those worth a word in a summary, in their order."""
    known = sorted((one for one in waits if one.lasted >= least), key=lambda one: -one.lasted)[:most]
    return sorted(known, key=lambda one: one.since)
