"""Writes a group of one tenant's orders in one transaction: durable when it has committed.

A group of known people takes three statements, whatever its size: who they are, their keys, and the rows with their
places in the queue and their events. An order that can't be met fails alone.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias

import msgspec

from tidings.contracts.ids import NOTIFICATION, NotificationId, RecipientId
from tidings.contracts.words import Status
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.refusals import RefusalError
from tidings.kernel.tracing import current_traceparent
from tidings.notify.notifications import store
from tidings.notify.notifications.announce import accepted_event
from tidings.notify.notifications.attachments import Stored
from tidings.notify.notifications.model import ATTACHMENTS_PURPOSE, VARIABLES_PURPOSE, NewNotification
from tidings.notify.notifications.order import LONGEST_SCHEDULE, Order
from tidings.notify.notifications.searchable import search_hash
from tidings.notify.recipients.upsert import RecipientUpserter

#: The bus keeps events for seven days and dead letters for fourteen; a schedule may wait for a year.
_LEDGER_KEEPS: Final = LONGEST_SCHEDULE + timedelta(days=30)
#: Items of a bulk after which others get the processor.
_STRETCH: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """An order that is durable once the transaction has committed."""

    id: NotificationId
    status: Status
    recipient_id: RecipientId
    #: There was one already for the same event; nothing was written.
    duplicate: bool = False

    @property
    def created_at(self) -> datetime:
        """The time inside its id."""
        return time_of(self.id)


Result: TypeAlias = Accepted | RefusalError


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """An order with its id, and with its files where it has any."""

    id: NotificationId
    order: Order
    is_test: bool
    files: Stored | None = field(default=None, repr=False)
    #: The place in a trace that it comes from: the request's, as a rule.
    traceparent: str | None = None


def incoming(order: Order, *, now: datetime, is_test: bool, files: Stored | None = None) -> Incoming:
    """An order that gets its id now."""
    return Incoming(
        id=NOTIFICATION.new(now),
        order=order,
        is_test=is_test,
        files=files,
        traceparent=current_traceparent(),
    )


class Acceptor:
    """Writes groups."""

    def __init__(
        self,
        *,
        upserter: RecipientUpserter,
        keyring: Keyring,
        clock: Clock,
        stripe: int = 0,
    ) -> None:
        self._upserter = upserter
        self._keyring = keyring
        self._clock = clock
        #: Which of the counts this process adds to.
        self._stripe = stripe

    async def accept(self, tx: TenantTx, group: Sequence[Incoming]) -> list[Result]:
        """One result each, in the same order; nothing is written for those refused."""
        if not group:
            return []
        # A set is of one caller, and so of one environment.
        is_test = all(item.is_test for item in group)
        people = await self._upserter.upsert(
            tx, [item.order.wish for item in group], change_known=not is_test
        )
        pepper = await self._keyring.pepper(tx)
        results: list[Result] = []
        rows: list[NewNotification] = []
        for place, (item, person) in enumerate(zip(group, people.results, strict=True)):
            await let_others_by(place)
            if isinstance(person, RefusalError):
                results.append(person)
                continue
            row = _row(item, person.recipient.id, people.keys[person.recipient.id], pepper)
            rows.append(row)
            results.append(Accepted(id=row.id, status=row.status, recipient_id=row.recipient_id))
        rows, results = await self._without_repeats(tx, rows, results)
        if not rows:
            return results
        await store.insert_notifications(
            tx,
            rows,
            [accepted_event(tx.tenant_id, row, clock=self._clock) for row in rows],
            now=self._clock.now(),
            stripe=self._stripe,
        )
        return results

    async def _without_repeats(
        self, tx: TenantTx, rows: list[NewNotification], results: list[Result]
    ) -> tuple[list[NewNotification], list[Result]]:
        """Leave out those that were sent for the same event before; their results name the first ones."""
        asked = [row for row in rows if row.source_event_id is not None]
        if not asked:
            return rows, results
        now = self._clock.now()
        first = await store.enter_ledger(tx, asked, now=now, expires_at=now + _LEDGER_KEEPS)
        repeats = [row for row in asked if row.id not in first]
        if not repeats:
            return rows, results
        found = await store.find_in_ledger(tx, repeats)
        earlier = {row.id: found.get(place, row.id) for place, row in enumerate(repeats)}
        told: list[Result] = []
        for result in results:
            if isinstance(result, Accepted) and result.id in earlier:
                told.append(replace(result, id=earlier[result.id], duplicate=True))
            else:
                told.append(result)
        return [row for row in rows if row.id not in earlier], told


async def let_others_by(place: int) -> None:
    """Called for each item of a bulk: every now and then whoever sends a single one gets the processor."""
    if place % _STRETCH == _STRETCH - 1:
        await asyncio.sleep(0)


def _row(item: Incoming, recipient_id: RecipientId, key: DataKey, pepper: Pepper) -> NewNotification:
    order = item.order
    version = order.published.version
    return NewNotification(
        id=item.id,
        created_at=time_of(item.id),
        recipient_id=recipient_id,
        status=Status.QUEUED if order.scheduled_for is None else Status.SCHEDULED,
        channel=order.channel,
        category=order.category.category,
        use_case=order.use_case,
        priority=order.priority,
        retention_class=order.category.retention_class,
        locale=order.locale,
        template_id=order.published.template.id,
        template_version_id=version.id,
        template_key=order.published.template.key,
        template_semver=str(version.semver),
        template_versions=msgspec.json.encode(order.versions).decode() if order.versions else None,
        # Under the pepper: a code of six digits would be found from its plain hash at once.
        variables_hash=pepper.hash(f"variables:{order.variables.decode()}"),
        variables=key.seal(order.variables, VARIABLES_PURPOSE),
        attachments=key.seal(item.files.manifest, ATTACHMENTS_PURPOSE) if item.files else None,
        scheduled_for=order.scheduled_for,
        expires_at=order.expires_at,
        is_test=item.is_test,
        source_event_id=order.source_event_id,
        source_event_type=order.source_event_type,
        source_event_produced_at=order.source_event_produced_at,
        correlation_id=order.correlation_id,
        metadata=order.metadata,
        pinned=msgspec.json.encode(order.pin).decode() if order.pin is not None else None,
        traceparent=item.traceparent,
        resent_from=order.resent_from,
        found_by=tuple((key, search_hash(pepper, key, text)) for key, text in order.searchable),
    )
