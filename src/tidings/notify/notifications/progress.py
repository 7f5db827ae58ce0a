"""Where a notification is on its way, what comes next, and the whole of it in a sentence; pure."""

from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.moments import Moment
from tidings.notify.decide.model import TraceLine
from tidings.notify.dispatch.files import FILES_LEFT_OUT
from tidings.notify.notifications.messages_en import (
    EVIDENCE,
    NEVER_LEARNED,
    failure_words,
    held_sentence,
    lasted,
    line_sentence,
    no_sentence,
    reason_sentence,
    result_sentence,
    said,
)
from tidings.notify.notifications.model import FINAL
from tidings.notify.notifications.store import Wait
from tidings.notify.notifications.trace import DeliveryTrace
from tidings.notify.notifications.waiting import longest, waits_of

#: `queued`: its turn is to come. `waiting`: for a moment that is known. `sending`: a worker has it in hand. `ending`: the
#: outcome is known and about to be its status.
Phase = Literal["queued", "waiting", "sending", "ending"]
#: A wait that a summary tells, and how many of them.
_WORTH_TELLING: Final = timedelta(seconds=2)
_MOST_WAITS: Final = 3
#: No notification waits longer in the queue while workers run.
_LONG: Final = timedelta(minutes=1)
#: Where it waits that is gathered with others.
_DIGEST: Final = "digest"
_TAKEN: Final = frozenset({"accepted", "sent", "delivered", "delivered_read"})
_ARRIVED: Final = frozenset({"delivered", "delivered_read", "opened", "clicked"})
_LOST: Final = frozenset({"failed_temp", "failed_perm", "rejected_by_provider", "rejected_by_recipient"})


class Next(Struct, frozen=True, kw_only=True):
    """What comes next."""

    #: Null: as soon as its turn comes.
    at: Moment | None
    #: `decide`: the gates are asked, and it is sent if they let it. `send`: the next call to a vendor. `finish`: its status.
    what: Literal["decide", "send", "finish"]
    text: str


def phase_of(trace: DeliveryTrace, now: datetime) -> Phase | None:
    """Where it is; None once it is over."""
    if trace.notification.status in FINAL:
        return None
    live = trace.live
    if live is not None:
        under_way = any(attempt.ended_at is None for attempt in live.attempts)
        later = live.due_at is not None and live.due_at > now
        return "waiting" if later and not under_way else "sending"
    if trace.notification.status is NotificationStatus.DISPATCHED:
        return "ending" if trace.ended is not None else "sending"
    place = _place(trace)
    if place is None:
        # Between its appointment and its place in the queue, or in a turn that is just ending.
        return "queued"
    if place.claimed:
        return "sending"
    return "queued" if place.kind == "queue" else "waiting"


def next_of(trace: DeliveryTrace, now: datetime) -> Next | None:
    """What comes next; None once it is over."""
    phase = phase_of(trace, now)
    if phase is None:
        return None
    live, place = trace.live, _place(trace)
    if phase == "waiting" and live is not None and live.due_at is not None:
        return Next(
            at=live.due_at,
            what="send",
            text=f"It goes on at {said(live.due_at, trace.zone)}. {_why_later(trace)}".rstrip(),
        )
    if phase == "waiting" and place is not None and place.kind == _DIGEST and place.run_after is not None:
        return Next(
            at=place.run_after,
            what="send",
            text=f"Its digest is sent on {said(place.run_after, trace.zone)}. {_why_waiting(trace, place)}".rstrip(),
        )
    if phase == "waiting" and place is not None and place.run_after is not None:
        return Next(
            at=place.run_after,
            what="decide",
            text=f"The gates are asked on {said(place.run_after, trace.zone)}. {_why_waiting(trace, place)}".rstrip(),
        )
    if phase == "ending":
        return Next(at=None, what="finish", text="The outcome is known; its status follows in a moment.")
    if phase == "sending":
        return Next(at=None, what="send", text="A worker has it in hand.")
    return Next(at=None, what="decide", text=_in_the_queue(place, now))


def _in_the_queue(place: Wait | None, now: datetime) -> str:
    so_far = now - place.created_at if place is not None else timedelta()
    if so_far < _LONG:
        return "It waits for its turn; a worker takes it next."
    return (
        f"It has waited {lasted(so_far)} in the queue, and no worker has taken it: "
        "look whether `tidings work` is running and keeps up."
    )


def repeated_perhaps(trace: DeliveryTrace) -> bool:
    """Whether the person may have got it more than once: an answer was never learned, and it was tried again."""
    attempts = [a for a in trace.attempts if a.status != "step_skipped"]
    unlearned = [place for place, attempt in enumerate(attempts) if attempt.reason == NEVER_LEARNED]
    return bool(unlearned) and any(
        attempt.status in _TAKEN or attempt.reason == NEVER_LEARNED
        for attempt in attempts[unlearned[0] + 1 :]
    )


def summary(trace: DeliveryTrace, now: datetime) -> str:
    """The whole of it, to be read aloud."""
    ended = _ended(trace)
    told = f"{ended}{_waited(trace)}" if ended is not None else _under_way(trace, now)
    if repeated_perhaps(trace):
        told += (
            " A vendor's answer was never learned, so it was sent again: the person may have got it twice."
        )
    return told


def _waited(trace: DeliveryTrace) -> str:
    """What made it late."""
    found = longest(waits_of(trace), least=_WORTH_TELLING, most=_MOST_WAITS)
    return "".join(f" It waited {lasted(one.lasted)}, because {one.why}." for one in found)


def _ended(trace: DeliveryTrace) -> str | None:
    one = trace.notification
    if one.status not in FINAL:
        return None
    at = one.moments.get(one.status.value)
    when = f" on {said(at, trace.zone)}" if at is not None else ""
    if one.status is NotificationStatus.DELIVERED:
        after = f", {lasted(at - (one.scheduled_for or one.created_at))} after it was due" if at else ""
        by = f" by {one.final_channel}" if one.final_channel else ""
        on = f": {EVIDENCE[one.evidence]}" if one.evidence in EVIDENCE else ""
        return f"Delivered{by}{when}{after}{on}.{_bare(trace)}{_gainsaid(trace)}"
    if one.status is NotificationStatus.BOUNCED:
        return f"It was sent, and came back{when}. {reason_of(trace) or ''}".rstrip()
    if one.status is NotificationStatus.CANCELLED and (one.reason is None or one.reason == "cancelled"):
        stop = _last(trace, "stop")
        return f"Cancelled{when}, before it was sent.{f' {line_sentence(stop)}' if stop else ''}"
    if one.status is NotificationStatus.SUPERSEDED:
        digest = trace.taken_by
        return f"A digest took its place{when}{f': {digest}' if digest else ''}."
    stop = _last(trace, "stop")
    why = (
        _held(trace, one.reason)
        or _not_rendered(trace, one.reason)
        or reason_of(trace)
        or (line_sentence(stop) if stop else "")
    )
    if not why and trace.ended is not None:
        why = result_sentence(trace.ended)
    what = "Not delivered" if trace.executions else "Not sent"
    return f"{what}: {one.status.value}{when}. {why}".rstrip()


def reason_of(trace: DeliveryTrace) -> str | None:
    """Why it ended as it did, with what is known of the vendor's code."""
    reason = trace.notification.reason
    last = trace.attempt_of(reason)
    if last is None:
        return reason_sentence(reason)
    return reason_sentence(reason, meaning=last.meaning, vendor=last.vendor)


def _bare(trace: DeliveryTrace) -> str:
    """That the message went without its files."""
    delivered = {one.step for one in trace.attempts if one.channel == trace.notification.final_channel}
    bare = any(line.reason == FILES_LEFT_OUT and line.step in delivered for line in trace.lines)
    return f" {reason_sentence(FILES_LEFT_OUT)}" if bare else ""


def _gainsaid(trace: DeliveryTrace) -> str:
    """What the vendor that it was delivered by said afterwards, where that is that it did not arrive."""
    channel = trace.notification.final_channel
    taken = [one for one in trace.attempts if one.status in _TAKEN and one.channel == channel]
    if not taken:
        return ""
    last = max(taken, key=lambda one: one.started_at)
    lost = [receipt for receipt in last.receipts if receipt.status in _LOST]
    if not lost or any(receipt.status in _ARRIVED for receipt in last.receipts):
        return ""
    code = f" ({lost[-1].code})" if lost[-1].code else ""
    return f" But {last.vendor or 'the vendor'} said afterwards that it did not arrive{code}."


def _held(trace: DeliveryTrace, reason: str | None) -> str | None:
    """What the suppression says that stopped it, or when and how the recipient said no, where that is known."""
    said_no = [trace.nos[line] for line in trace.lines if line in trace.nos and line.reason == reason]
    if said_no:
        return no_sentence(said_no[-1])
    stops = [line for line in trace.lines if line.by in trace.held and line.reason == reason]
    return held_sentence(trace.held[stops[-1].by or ""]) if stops else None


def _not_rendered(trace: DeliveryTrace, reason: str | None) -> str | None:
    """Where the text failed, where it is known."""
    stops = [line for line in trace.lines if line.gate == "render" and line.by and line.reason == reason]
    return line_sentence(stops[-1]) if stops else None


def _under_way(trace: DeliveryTrace, now: datetime) -> str:
    comes = next_of(trace, now)
    if trace.notification.status is NotificationStatus.DISPATCHED:
        return f"It was handed over and is not over yet. {comes.text if comes else ''}".rstrip()
    return f"It was not sent yet. {comes.text if comes else ''}".rstrip()


def _place(trace: DeliveryTrace) -> Wait | None:
    """Where it waits now: in the queue, or else at its next appointment."""
    open_waits = [wait for wait in trace.waits if not wait.over]
    queued = [wait for wait in open_waits if wait.kind == "queue"]
    later = sorted((w for w in open_waits if w.run_after is not None), key=lambda w: str(w.run_after))
    return next(iter(queued or later), None)


def _why_waiting(trace: DeliveryTrace, place: Wait) -> str:
    if place.kind == "scheduled_send":
        return "That is when it was asked to be sent."
    line = _last(trace, "defer")
    return line_sentence(line) if line is not None else reason_sentence(place.kind) or ""


def _why_later(trace: DeliveryTrace) -> str:
    line = trace.lines[-1] if trace.lines else None
    if line is not None and line.step and line.verdict == "defer":
        return line_sentence(line)
    waits_for = trace.live.waits_for if trace.live is not None else None
    if waits_for == "receipt":
        return "The vendor accepted it, and has not said yet what became of it."
    tried = _last_try(trace)
    if waits_for is not None:
        return f"{reason_sentence(waits_for) or ''}{f' {tried}' if tried else ''}"
    return f"{tried} Step {trace.attempts[-1].step} is tried again." if tried else ""


def _last_try(trace: DeliveryTrace) -> str:
    """Why the last call came to nothing; empty where it did not."""
    last = next((one for one in reversed(trace.attempts) if one.status != "step_skipped"), None)
    if last is None or last.status not in {"failed_temp", "timed_out"}:
        return ""
    failure = "its answer was never learned" if last.reason == NEVER_LEARNED else failure_words(last)
    return f"The last try did not succeed{f': {failure}' if failure else ''}."


def _last(trace: DeliveryTrace, verdict: str) -> TraceLine | None:
    return next((line for line in reversed(trace.lines) if line.verdict == verdict), None)
