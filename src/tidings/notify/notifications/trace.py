"""All that is known of one notification's way: its row, where it waits, what the router and vendors said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from tidings.contracts.execution_history import AttemptRecord, ExecutionHistory, ExecutionRecord
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.db import TenantTx
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.decide.model import TraceLine
from tidings.notify.decide.reasons import GateReason
from tidings.notify.decide.trace import decode
from tidings.notify.dispatch.sent import hints_of
from tidings.notify.ids import SUPPRESSION, SuppressionId
from tidings.notify.inbox import store as inbox_store
from tidings.notify.inbox.model import InboxItem
from tidings.notify.notifications import store
from tidings.notify.notifications.model import FINAL, Notification
from tidings.notify.notifications.said_no import SaidNo, load_nos
from tidings.notify.notifications.store import DigestFacts, LoggedAttempt, Wait, find_one
from tidings.notify.schedule.firings import Firing, firing_of
from tidings.notify.suppressions import store as suppression_store
from tidings.notify.suppressions.model import Suppression

#: An appointment and a line of the trace that speak of the same moment; a trace knows seconds only.
_SAME_SECONDS = 1.0
#: What the log calls a vendor's answer to the call itself.
_AT_ONCE = frozenset({"accepted", "rejected_retryable", "rejected_terminal", "timeout", "failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryTrace:
    """What is known at one moment."""

    notification: Notification
    #: Of the decision, in the order in which the gates were asked.
    lines: Sequence[TraceLine]
    waits: Sequence[Wait]
    #: Ladders, the oldest first; one in nearly every case.
    executions: Sequence[ExecutionRecord]
    #: Notify's own log.
    log: Sequence[LoggedAttempt]
    #: The tenant's suppressions that gates have named, as they are now.
    held: Mapping[str, Suppression] = field(default_factory=dict)
    #: By the key of a person, the sealed addresses of messages can be shown as hints.
    keys: Mapping[str, DataKey] = field(default_factory=dict, repr=False)
    #: The time zone of who is written to; None: moments are told in UTC alone.
    zone: str | None = None
    #: Names of guardians that the reader may see, by their ids.
    names: Mapping[str, str] = field(default_factory=dict)
    #: The no that a line met, where it is known when and how it was said.
    nos: Mapping[TraceLine, SaidNo] = field(default_factory=dict)
    #: The window that it was gathered in, or that it is the digest of, while that is kept.
    digest: DigestFacts | None = None
    #: Where it is a digest: what it took the place of, the oldest first.
    digest_items: Sequence[str] = ()
    #: The trigger and the event that made it; None where a caller did.
    firing: Firing | None = None
    #: Its item in the in-app inbox of its reader, in view or not.
    item: InboxItem | None = None

    @property
    def reader_id(self) -> RecipientId:
        """Who is written to, as the router has it: a guardian may hear instead."""
        last = self.executions[-1] if self.executions else None
        return RecipientId(last.recipient_id) if last is not None else self.notification.recipient_id

    @property
    def gathered_in(self) -> str | None:
        """The window that it is the digest of."""
        return next((line.by for line in self.lines if line.reason == GateReason.IS_DIGEST), None)

    @property
    def repeats(self) -> str | None:
        """The digest before it, whose messages it tells once more."""
        return next((line.by for line in self.lines if line.reason == GateReason.DIGEST_REPEATS), None)

    @property
    def taken_by(self) -> str | None:
        """The digest that took its place."""
        return next((line.by for line in self.lines if line.reason == GateReason.DIGESTED), None)

    @property
    def attempts(self) -> list[AttemptRecord]:
        """Every attempt of every ladder, the oldest first."""
        found = [attempt for execution in self.executions for attempt in execution.attempts]
        return sorted(found, key=lambda attempt: (attempt.started_at, attempt.step, attempt.id))

    def went_to(self, attempt: AttemptRecord) -> tuple[str, ...]:
        """Hints of the addresses that an attempt went to; none where the person was erased."""
        record = attempt.record
        reader = next((e.recipient_id for e in self.executions if attempt in e.attempts), None)
        if record is None or reader is None:
            return ()
        return hints_of(self.keys.get(reader), record.address_ciphertext)

    @property
    def live(self) -> ExecutionRecord | None:
        """The ladder that is under way."""
        return next((e for e in reversed(self.executions) if e.result is None), None)

    @property
    def ended(self) -> ExecutionRecord | None:
        """The ladder that is over."""
        return next((e for e in reversed(self.executions) if e.result is not None), None)

    def attempt_of(self, reason: str | None) -> AttemptRecord | None:
        """The last attempt that ended with this code."""
        return next((one for one in reversed(self.attempts) if reason and one.reason == reason), None)

    @property
    def said_later(self) -> list[LoggedAttempt]:
        """Lines of the log that no attempt of the router tells: receipts, bounces, opens, clicks."""
        known = {
            attempt.id: {attempt.status, *(receipt.status for receipt in attempt.receipts)}
            for attempt in self.attempts
        }
        return [line for line in self.log if not _told_by(known.get(line.router_attempt_id or ""), line)]

    def wait_for(self, line: TraceLine) -> Wait | None:
        """The appointment that a deferral made, while it is known."""
        until = line.until
        if until is None:
            return None
        return next(
            (
                wait
                for wait in self.waits
                if wait.run_after is not None
                and wait.kind != "scheduled_send"
                and abs((wait.run_after - until).total_seconds()) <= _SAME_SECONDS
            ),
            None,
        )


def _told_by(statuses: set[str] | None, line: LoggedAttempt) -> bool:
    """Whether the router's attempt, or one of its receipts, says the same as this line of the log."""
    return statuses is not None and (
        line.outcome in _AT_ONCE or any(status.startswith(line.outcome) for status in statuses)
    )


async def load_trace(
    tx: TenantTx,
    notification_id: NotificationId,
    *,
    history: ExecutionHistory,
    keyring: Keyring,
    now: datetime,
) -> DeliveryTrace:
    """Everything about one notification; an `UnknownNotificationError` where there is none."""
    notification = await find_one(tx, notification_id)
    waits = await store.find_waits(tx, notification, now=now)
    log = await store.load_own_attempts(tx, id=notification_id)
    executions = await history.of_notifications(tx, [notification_id])
    trace = _trace(notification, waits, log, executions.get(notification_id, []))
    if readers := _readers(trace):
        trace = replace(trace, keys=await keyring.data_keys(tx, readers, create=False))
    named = sorted({SuppressionId(line.by or "") for line in trace.lines if _names_suppression(line)})
    found = await suppression_store.find_suppressions(tx, named)
    ended = notification.moments.get(notification.status.value)
    nos = await load_nos(
        tx,
        trace.lines,
        recipient_id=trace.reader_id,
        channel=notification.channel,
        category=notification.category,
        until=ended or now,
    )
    firing = await firing_of(tx, notification_id) if notification.source_event_id is not None else None
    items = await inbox_store.find_of_notifications(tx, [notification_id])
    trace = replace(
        trace,
        held={str(id_): held for id_, held in found.items()},
        nos=nos,
        firing=firing,
        item=items.get(notification_id),
    )
    return await _with_digest(tx, trace)


async def _with_digest(tx: TenantTx, trace: DeliveryTrace) -> DeliveryTrace:
    """With the window that it was gathered in, or with what it took the place of."""
    of, one = trace.gathered_in, trace.notification
    if of is not None:
        trace = replace(trace, digest_items=await store.list_digest_items(tx, of, until=one.created_at))
    window_id = of or one.digest_group_id
    return trace if window_id is None else replace(trace, digest=await store.find_digest(tx, window_id))


def _names_suppression(line: TraceLine) -> bool:
    return line.by is not None and line.by.startswith(f"{SUPPRESSION.prefix}_")


def _readers(trace: DeliveryTrace) -> set[str]:
    """The recipients whose keys open the addresses of its messages."""
    one = trace.notification
    readers: set[str] = {one.reader_id} if one.address_ciphertext is not None else set()
    return readers | {
        execution.recipient_id
        for execution in trace.executions
        if any(attempt.record is not None for attempt in execution.attempts)
    }


async def load_brief_trace(
    tx: TenantTx,
    notification_id: NotificationId,
    *,
    history: ExecutionHistory,
    keyring: Keyring,
    now: datetime,
) -> DeliveryTrace:
    """The row, and where it is while it is under way; what is over costs two look-ups."""
    notification = await find_one(tx, notification_id)
    keys: Mapping[str, DataKey] = {}
    if notification.address_ciphertext is not None:
        keys = await keyring.data_keys(tx, [notification.reader_id], create=False)
    if notification.status in FINAL:
        return replace(_trace(notification, [], [], []), keys=keys)
    waits = await store.find_waits(tx, notification, now=now)
    executions = await history.of_notifications(tx, [notification_id])
    return replace(_trace(notification, waits, [], executions.get(notification_id, [])), keys=keys)


def _trace(
    notification: Notification,
    waits: Sequence[Wait],
    log: Sequence[LoggedAttempt],
    executions: Sequence[ExecutionRecord],
) -> DeliveryTrace:
    return DeliveryTrace(
        notification=notification,
        lines=decode(notification.trace),
        waits=waits,
        executions=sorted(executions, key=lambda execution: (execution.started_at, execution.id)),
        log=log,
    )
