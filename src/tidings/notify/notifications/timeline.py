"""What happened to a notification, the oldest first, each with a sentence to read aloud; pure."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from tidings.contracts.execution_history import AttemptRecord, ExecutionRecord, ReceiptRecord, StepRecord
from tidings.contracts.inbox import IN_APP
from tidings.contracts.moments import Moment
from tidings.contracts.receipts import LOST
from tidings.notify.decide.model import TraceLine
from tidings.notify.dispatch.files import FILES_LEFT_OUT
from tidings.notify.notifications.messages_en import (
    NEVER_LEARNED,
    answer_words,
    attempt_sentence,
    lasted,
    line_sentence,
    our_word_of,
    reason_sentence,
    receipt_sentence,
    result_sentence,
    said,
)
from tidings.notify.notifications.progress import reason_of
from tidings.notify.notifications.trace import DeliveryTrace
from tidings.notify.notifications.waiting import deferrals, queue_waits, steps_waits
from tidings.notify.schedule.firings import Firing

#: What comes first where two things have the same time.
_ORDER: Final = (
    "triggered",
    "accepted",
    "scheduled",
    "deferred",
    "waited",
    "decided",
    "dispatched",
    "given_up",
    "step_deferred",
    "step_skipped",
    "attempt",
    "stored",
    "receipt",
    "outcome",
)
_LAST: Final = len(_ORDER)
#: Statuses that end a notification, and what follows them.
_ENDS: Final[dict[str, str]] = {
    "delivered": "The notification is delivered.",
    "failed": "The notification failed.",
    "bounced": "It came back: the notification bounced.",
    "suppressed": "The notification was not sent.",
    "superseded": "A digest took its place.",
    "cancelled": "The notification was cancelled.",
    "expired": "Its time was over: the notification expired.",
    "opened": "It was opened.",
    "clicked": "A link in it was followed.",
    "read": "It was read.",
}
#: Their first time stands with the notification, and is told from there.
_DONE_WITH_IT: Final = frozenset({"opened", "clicked"})
#: Vendors date these, often to the second and by clocks of their own: the receipts that tell them.
_TOLD_BY: Final = {"bounced": LOST | {"bounced"}, "read": frozenset({"delivered_read"})}
#: What happens in one turn of a ladder is written within this.
_WRITTEN_WITHIN: Final = timedelta(seconds=5)
_STOPPED: Final = frozenset({"suppressed", "failed", "expired", "cancelled"})


class Happening(Struct, frozen=True, kw_only=True):
    """One thing that happened."""

    at: Moment
    #: `triggered accepted scheduled deferred waited decided dispatched given_up step_deferred step_skipped attempt receipt outcome`, what
    #: became of it in the in-app inbox (`stored seen acted archived removed`), or a status.
    kind: str
    #: The same as a sentence, to be read aloud; no address, nothing of the message.
    text: str
    #: Until when it waits.
    until: Moment | UnsetType = UNSET
    #: A code.
    reason: str | UnsetType = UNSET
    #: What the vendor's code means by the status map.
    meaning: str | UnsetType = UNSET
    #: Which gate said so.
    gate: str | UnsetType = UNSET
    #: `send` or `stop`.
    verdict: str | UnsetType = UNSET
    #: Which step of the ladder; counts from 1.
    step: int | UnsetType = UNSET
    channel: str | UnsetType = UNSET
    vendor: str | UnsetType = UNSET
    #: What the vendor's answer came to.
    status: str | UnsetType = UNSET
    attempt_id: str | UnsetType = UNSET
    ended_at: Moment | UnsetType = UNSET
    took_ms: int | UnsetType = UNSET
    #: False where nobody knows whether the vendor took it.
    answer_learned: bool | UnsetType = UNSET
    #: How the ladder ended.
    result: str | UnsetType = UNSET
    evidence: str | UnsetType = UNSET
    #: The moment is inferred from what came before it; it is not written anywhere.
    approximate: bool | UnsetType = UNSET


def timeline(trace: DeliveryTrace) -> list[Happening]:
    """Everything that happened, in its order."""
    found = [
        *_beginning(trace),
        *_deferrals(trace),
        *_waits(trace),
        *_decision(trace),
        *_ladders(trace),
        *_receipts(trace),
        *_ends(trace),
        *_in_inbox(trace),
    ]
    return sorted(found, key=lambda one: (_millisecond(one.at), _rank(one), one.at))


def _millisecond(at: datetime) -> datetime:
    """As it is shown: the router's clocks know no more, and what led to something never stands below it."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def _rank(one: Happening) -> int:
    # Before it is handed over it waits for a worker, and after that for a step.
    kind = "receipt" if one.kind == "waited" and one.step is not UNSET else one.kind
    return _ORDER.index(kind) if kind in _ORDER else _LAST


def _beginning(trace: DeliveryTrace) -> Iterator[Happening]:
    one, firing = trace.notification, trace.firing
    if firing is not None:
        yield _triggered(firing, trace.zone)
    how = "on the channel that the ladder chooses" if one.channel == "auto" else f"by {one.channel}"
    test = " It is a test, and reaches no vendor." if one.is_test else ""
    yield Happening(
        at=one.created_at,
        kind="accepted",
        text=f"Accepted: {one.template_key} {one.template_semver}, to be sent {how}.{test}",
    )
    if one.scheduled_for is not None:
        yield Happening(
            at=one.created_at,
            kind="scheduled",
            text=f"To be sent on {said(one.scheduled_for, trace.zone)}, as was asked.",
            until=one.scheduled_for,
        )


def _triggered(firing: Firing, zone: str | None) -> Happening:
    about = f" about {firing.event_subject}" if firing.event_subject is not None else ""
    by = f"trigger {firing.trigger_id}, version {firing.trigger_version}"
    later = firing.scheduled_id is not None and firing.send_at is not None
    when = f"was planned for {said(firing.send_at, zone)}" if later and firing.send_at else "was sent at once"
    return Happening(
        at=firing.fired_at,
        kind="triggered",
        text=f"The event {firing.event_type}{about} came ({firing.event_id}); by {by}, it {when}.",
        until=firing.send_at if later and firing.send_at is not None else UNSET,
    )


def _deferrals(trace: DeliveryTrace) -> Iterator[Happening]:
    for one in deferrals(trace):
        line = one.line
        yield Happening(
            at=one.since,
            kind="step_deferred" if line.step else "deferred",
            text=f"Put off until {said(one.until, trace.zone)}. {line_sentence(line)}",
            until=one.until,
            reason=line.reason or UNSET,
            gate=line.gate,
            step=line.step or UNSET,
            approximate=True if one.approximate else UNSET,
        )


def _waits(trace: DeliveryTrace) -> Iterator[Happening]:
    live = trace.live
    for wait in (*queue_waits(trace), *steps_waits(trace)):
        how = f"Step {wait.step}, {wait.channel}: waited" if wait.step else "Waited"
        until = said(wait.until, trace.zone)
        goes_on = live is not None and live.waits_for == wait.reason and live.due_at == wait.until
        yield Happening(
            at=wait.since,
            kind="waited",
            text=f"Step {wait.step}, {wait.channel}: waits until {until}, because {wait.why}."
            if goes_on
            else f"{how} {lasted(wait.lasted)}, until {until}, because {wait.why}.",
            until=wait.until,
            reason=wait.reason,
            step=wait.step or UNSET,
            channel=wait.channel or UNSET,
        )


def _decision(trace: DeliveryTrace) -> Iterator[Happening]:
    one = trace.notification
    once = [line for line in trace.lines if not line.step]
    if "dispatched" in one.moments:
        notable = dict.fromkeys(
            line_sentence(line, trace.names) for line in _last_round(once) if line.reason is not None
        )
        yield Happening(
            at=one.moments["dispatched"],
            kind="decided",
            text=" ".join(["Every gate was passed: it may be sent.", *notable]),
            verdict="send",
        )
        return
    ended = one.moments.get(one.status.value)
    if once and once[-1].verdict == "stop" and ended is not None:
        yield Happening(
            at=ended,
            kind="decided",
            text=f"Not to be sent. {line_sentence(once[-1])}",
            verdict="stop",
            gate=once[-1].gate,
            reason=once[-1].reason or UNSET,
        )


def _last_round(once: list[TraceLine]) -> list[TraceLine]:
    """The lines since it was last put off."""
    put_off = [place for place, line in enumerate(once) if line.verdict == "defer"]
    return once[put_off[-1] + 1 :] if put_off else once


def _ladders(trace: DeliveryTrace) -> Iterator[Happening]:
    one = trace.notification
    dispatched = one.moments.get("dispatched")
    if dispatched is not None:
        ladder = trace.executions[0] if trace.executions else None
        yield Happening(at=dispatched, kind="dispatched", text=f"Handed over{_by(ladder)}.")
    bare = {line.step for line in trace.lines if line.reason == FILES_LEFT_OUT}
    for execution in trace.executions:
        for attempt in execution.attempts:
            yield _attempt(attempt, without_files=attempt.step in bare)
            yield from (
                _receipt(execution, attempt, receipt)
                for receipt in attempt.receipts
                # What was read in the inbox is told from there.
                if attempt.vendor != IN_APP or receipt.status == "timed_out"
            )
        if execution.result is not None and execution.ended_at is not None:
            yield Happening(
                at=execution.ended_at,
                kind="outcome",
                text=result_sentence(execution),
                result=execution.result,
                evidence=execution.evidence or UNSET,
                channel=execution.final_channel or UNSET,
            )


def _by(ladder: ExecutionRecord | None) -> str:
    if ladder is None or not ladder.steps:
        return ""
    between = " and at once " if ladder.strategy == "PARALLEL" else ", then "
    learned = ", in the order that has reached them best for the money" if ladder.order == "learned" else ""
    ways = between.join(_way(step) for step in ladder.steps)
    return f", to go {ways}{learned}"


def _way(step: StepRecord) -> str:
    way = f"by {step.channel}"
    return f"{way} through {' or '.join(step.vendors)}" if step.vendors else way


def _given_up_at(execution: ExecutionRecord, attempt: AttemptRecord, receipt: ReceiptRecord) -> datetime:
    """It is written with what follows from it, a moment after that began: the step that follows never stands before it."""
    if execution.strategy == "PARALLEL":
        return receipt.recorded_at
    followed = (
        other.started_at
        for other in execution.attempts
        if other.step > attempt.step
        and timedelta() <= receipt.recorded_at - other.started_at < _WRITTEN_WITHIN
    )
    return min([receipt.recorded_at, *followed])


def _receipt(execution: ExecutionRecord, attempt: AttemptRecord, receipt: ReceiptRecord) -> Happening:
    given_up = receipt.status == "timed_out"
    return Happening(
        at=_given_up_at(execution, attempt, receipt) if given_up else receipt.recorded_at,
        kind="given_up" if given_up else "receipt",
        text=receipt_sentence(attempt, receipt),
        step=attempt.step,
        channel=attempt.channel,
        vendor=attempt.vendor or UNSET,
        status=receipt.status,
        reason=receipt.code or receipt.reason or UNSET,
        meaning=(our_word_of(receipt) if receipt.code else None) or UNSET,
        attempt_id=attempt.id,
    )


def _attempt(attempt: AttemptRecord, *, without_files: bool) -> Happening:
    ended = attempt.ended_at
    skipped = attempt.status == "step_skipped"
    return Happening(
        at=attempt.started_at,
        kind="step_skipped" if skipped else "attempt",
        text=f"{attempt_sentence(attempt)} {reason_sentence(FILES_LEFT_OUT)}"
        if without_files and not skipped
        else attempt_sentence(attempt),
        step=attempt.step,
        channel=attempt.channel,
        vendor=attempt.vendor or UNSET,
        status=attempt.status,
        reason=attempt.reason or UNSET,
        meaning=attempt.meaning or UNSET,
        attempt_id=attempt.id,
        ended_at=ended or UNSET,
        took_ms=UNSET
        if ended is None or skipped
        else round((ended - attempt.started_at).total_seconds() * 1000),
        answer_learned=UNSET if skipped or ended is None else attempt.reason != NEVER_LEARNED,
    )


def _receipts(trace: DeliveryTrace) -> Iterator[Happening]:
    for line in trace.said_later:
        if line.outcome in _DONE_WITH_IT and line.outcome in trace.notification.moments:
            continue
        words = answer_words(line.outcome, line.vendor)
        yield Happening(
            at=line.finished_at or line.started_at,
            kind="receipt",
            text=f"Afterwards: {words}.",
            channel=line.channel,
            vendor=line.vendor,
            status=line.outcome,
            reason=line.reason or UNSET,
            attempt_id=line.router_attempt_id or UNSET,
        )


def _ends(trace: DeliveryTrace) -> Iterator[Happening]:
    one = trace.notification
    for name, text in _ENDS.items():
        at = one.moments.get(name)
        if at is None:
            continue
        stopped = name in _STOPPED and name == one.status.value
        why = reason_of(trace) if stopped else None
        heard = _heard(trace, name, at) if name in _TOLD_BY else at
        yield Happening(
            at=heard,
            kind=name,
            text=f"{text} {why}" if why else text,
            reason=one.reason if why and one.reason else UNSET,
            approximate=UNSET if heard == at else True,
        )


def _in_inbox(trace: DeliveryTrace) -> Iterator[Happening]:
    """What became of its item in the in-app inbox; that it was read stands with the notification."""
    item = trace.item
    if item is None:
        return
    happened = (
        ("stored", item.arrived_at, "It is in the in-app inbox."),
        ("seen", item.seen_at, "It was seen in the in-app inbox."),
        ("acted", item.acted_at, f"The action {item.acted} was chosen in the in-app inbox."),
        ("archived", item.archived_at, "It was archived in the in-app inbox."),
        ("removed", item.removed_at, "It was removed from the in-app inbox: deleted, or expired."),
    )
    for kind, at, text in happened:
        if at is not None:
            yield Happening(at=at, kind=kind, text=text, channel=IN_APP)


def _heard(trace: DeliveryTrace, name: str, at: datetime) -> datetime:
    """When we can have heard of it: not before what led to it, and with the receipt that told it."""
    moments = trace.notification.moments
    floor = max([at, *(moments[step] for step in ("dispatched", "delivered") if step in moments)])
    told = (
        receipt.recorded_at
        for attempt in trace.attempts
        for receipt in attempt.receipts
        if receipt.status in _TOLD_BY[name] and receipt.recorded_at >= floor
    )
    return min(told, default=floor)
