"""What is known of a thing when an event moves it and says nothing but the new time: whom it is about, and with what words.

Both are with what is planned, and with the messages that were sent: their words lie with the notification, under the
person's key, for as long as it is kept. An erased person is not among them.
"""

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.keys.data_key import DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.accept.row import VARIABLES_PURPOSE
from tidings.notify.ids import ScheduledWorkId
from tidings.notify.received_events.errors import SetTooLargeError
from tidings.notify.received_events.store import MOST_LOADED_BYTES
from tidings.notify.schedule import store as schedule_store
from tidings.notify.schedule.firings import FiringResult
from tidings.notify.schedule.model import PLANNED_PURPOSE, PlannedOrder, StandingPlan
from tidings.notify.schedule.store import TriggerSubject
from tidings.notify.triggers import store
from tidings.notify.triggers.evaluate import Why
from tidings.notify.triggers.store import SubjectLine

#: Who was not written to for the time alone: the thing is still theirs when it is moved again.
_STILL_ABOUT: Final = frozenset({Why.DUPLICATE, Why.ALREADY_SENT, Why.TOO_LATE, Why.TOO_FAR})

_read_order = msgspec.json.Decoder(PlannedOrder).decode
_read_words = msgspec.json.Decoder(dict[str, Any]).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidBefore:
    """To whom something was to be said, or was said, and with what words."""

    recipient: str | dict[str, Any] = field(repr=False)
    variables: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What was planned and what was sent about things that a set of events moves."""

    planned: Mapping[ScheduledWorkId, SaidBefore] = field(default_factory=dict)
    sent: Mapping[TriggerSubject, Sequence[SaidBefore]] = field(default_factory=dict)


async def load_before(
    tx: TenantsTx,
    keyring: Keyring,
    rows: Mapping[TriggerSubject, Sequence[StandingPlan]],
    lines: Mapping[TriggerSubject, Sequence[SubjectLine]],
    moved: Collection[TriggerSubject],
) -> Before:
    """Open the planned orders about things that are moved, and the words of the messages that were sent about them.

    A `SetTooLargeError` where those of several things are too much for one transaction.
    """
    planned = [row for subject in moved for row in rows.get(subject, ())]
    told = {
        (subject.tenant_id, id_): subject
        for subject in moved
        for id_ in people_told(lines.get(subject, ()), rows.get(subject, ())).values()
    }
    if len(moved) > 1 and sum(row.order_bytes for row in planned) > MOST_LOADED_BYTES:
        raise SetTooLargeError
    words = await store.words_of_sent(
        tx, list(told), most_bytes=MOST_LOADED_BYTES if len(moved) > 1 else None
    )
    if not planned and not words:
        return Before()
    sealed = await schedule_store.load_orders(tx, planned)
    subjects = {row.key_subject for row in planned} | {(one.tenant_id, one.recipient_id) for one in words}
    keys = await keyring.data_keys_of(tx, subjects, create=False)
    sent: dict[TriggerSubject, list[SaidBefore]] = {}
    for one in words:
        # Erased in this moment: it is as if they had never been written to.
        with contextlib.suppress(DestroyedKeyError, KeyError):
            said = keys[one.tenant_id, one.recipient_id].unseal(one.variables, VARIABLES_PURPOSE)
            sent.setdefault(told[one.tenant_id, one.notification_id], []).append(
                SaidBefore(recipient=one.recipient_id, variables=_read_words(said))
            )
    orders = {
        row.id: _read_order(keys[row.key_subject].unseal(sealed[row.id], PLANNED_PURPOSE))
        for row in planned
        if row.id in sealed
    }
    return Before(
        planned={
            id_: SaidBefore(recipient=order.recipient, variables=order.variables)
            for id_, order in orders.items()
        },
        sent=sent,
    )


async def lines_by_subject(
    tx: TenantTx | TenantsTx, subjects: Sequence[TriggerSubject]
) -> dict[TriggerSubject, list[SubjectLine]]:
    """The lines of the ledger about these subjects."""
    found: dict[TriggerSubject, list[SubjectLine]] = {}
    for line in await store.lines_about(tx, subjects):
        found.setdefault(line.subject, []).append(line)
    return found


def people_told(
    lines: Sequence[SubjectLine], planned: Sequence[StandingPlan]
) -> dict[RecipientId, NotificationId]:
    """Whom the last event reached that said who they are, and has nothing planned for any more, with their newest message.

    Where something is planned, that is the event that planned it. One that ended things has reached nobody.
    """
    if planned:
        last = max(row.source_event_id for row in planned)
    else:
        last = max((line.event_id for line in lines), default="")
    waiting = {row.recipient_id for row in planned}
    group = [line for line in lines if line.event_id == last]
    people = {
        line.recipient_id: None
        for line in group
        if line.recipient_id is not None
        and line.recipient_id not in waiting
        and (line.result is FiringResult.SENT or line.reason in _STILL_ABOUT)
    }
    newest: dict[RecipientId, NotificationId] = {}
    for line in lines:
        who, id_ = line.recipient_id, line.notification_id
        if who is not None and who in people and id_ is not None and line.is_sent:
            newest[who] = max(newest.get(who, id_), id_)
    return newest
