"""Writes a set of valid orders, of one tenant or of many, in a transaction: durable when it has committed.

A set takes two statements, whatever its size: who the people are, with their keys, or new ones made with theirs; and the
rows with their places in the queue and their events. An order that can't be met fails alone.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.refusals import RefusalError
from tidings.notify.accept import store
from tidings.notify.accept.events import accepted_event
from tidings.notify.accept.order import AcceptedOrder, DuplicateOrder, Outcome, RefusedOrder
from tidings.notify.accept.row import NotificationRow
from tidings.notify.accept.validator import LONGEST_SCHEDULE, ValidOrder
from tidings.notify.recipients.upsert import RecipientUpserter

#: The bus keeps events for seven days and dead letters for fourteen; a schedule may wait for a year.
LEDGER_KEEPS: Final = LONGEST_SCHEDULE + timedelta(days=30)
#: Items of a bulk after which others get the processor.
_STRETCH: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OrderWriter:
    """Writes sets of orders."""

    upserter: RecipientUpserter
    keyring: Keyring
    clock: Clock
    #: Which of the counts this process adds to.
    stripe: int = 0

    async def write(
        self, tx: TenantTx | TenantsTx, group: Sequence[ValidOrder], *, last: bool = False
    ) -> list[Outcome]:
        """One outcome each, in the same order; nothing is written for those refused. `last`: the transaction ends with it."""
        if not group:
            return []
        # A set is of one environment.
        is_test = all(item.order.by.is_test for item in group)
        specs = [(item.order.by.tenant_id, item.recipient) for item in group]
        people = await self.upserter.upsert_of(tx, specs, change_known=not is_test)
        peppers = await self.keyring.peppers(tx, [tenant_id for tenant_id, _ in specs])
        results: list[Outcome] = []
        rows: list[NotificationRow] = []
        for place, (item, person) in enumerate(zip(group, people.results, strict=True)):
            await let_others_by(place)
            if isinstance(person, RefusalError):
                results.append(RefusedOrder(person))
                continue
            pepper = peppers[item.order.by.tenant_id]
            row = item.as_row(person.recipient.id, people.keys[person.recipient.id], pepper)
            rows.append(row)
            results.append(AcceptedOrder(id=row.id, status=row.status, recipient_id=row.recipient_id))
        rows, results = await self._without_repeats(tx, rows, results)
        if not rows:
            return results
        if last:
            tx.commit_with_next()
        await store.insert_notifications(
            tx,
            rows,
            [accepted_event(row, clock=self.clock) for row in rows],
            now=self.clock.now(),
            stripe=self.stripe,
        )
        return results

    async def _without_repeats(
        self, tx: TenantTx | TenantsTx, rows: list[NotificationRow], results: list[Outcome]
    ) -> tuple[list[NotificationRow], list[Outcome]]:
        """Leave out those that were sent for the same event before; their results name the first ones."""
        asked = [row for row in rows if row.source_event_id is not None]
        if not asked:
            return rows, results
        now = self.clock.now()
        first = await store.enter_ledger(tx, asked, now=now, expires_at=now + LEDGER_KEEPS)
        repeats = [row for row in asked if row.id not in first]
        if not repeats:
            return rows, results
        found = await store.find_in_ledger(tx, repeats)
        earlier = {row.id: found.get(place, row.id) for place, row in enumerate(repeats)}
        told: list[Outcome] = []
        for result in results:
            if isinstance(result, AcceptedOrder) and result.id in earlier:
                first_id = earlier[result.id]
                told.append(
                    DuplicateOrder(id=first_id, status=result.status, recipient_id=result.recipient_id)
                )
            else:
                told.append(result)
        return [row for row in rows if row.id not in earlier], told


async def let_others_by(place: int) -> None:
    """Called for each item of a bulk: every now and then a caller who sends a single one gets the processor."""
    if place % _STRETCH == _STRETCH - 1:
        await asyncio.sleep(0)
