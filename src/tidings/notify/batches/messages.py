"""Makes the messages of some people of a batch, in the runner's transaction; who can't have one is noted, and holds up no other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from tidings.contracts.ids import RecipientId
from tidings.kernel.db import TenantTx
from tidings.kernel.durable.halving import SetDone, halve, is_of_an_item
from tidings.kernel.errors import DatabaseError, TidingsError
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.accept.accept import Acceptor
from tidings.notify.accept.order import AcceptedOrder, Order, Outcome, RefusedOrder
from tidings.notify.batches.model import BatchVariables, LedgerLine, Person, PersonState, StoredBatch
from tidings.notify.batches.orders import BatchOrders
from tidings.notify.batches.store import PlannedPerson

#: How long messages live that may have to wait for their turn: over the longest weekend that a window may have, and some days.
_PACED_EXPIRY: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BatchMessages:
    """From people to messages and lines of the ledger."""

    acceptor: Acceptor
    orders: BatchOrders
    keyring: Keyring

    async def make(
        self,
        tx: TenantTx,
        batch: StoredBatch,
        variables: BatchVariables,
        people: Sequence[tuple[Person | PlannedPerson, int]],
        *,
        now: datetime,
    ) -> list[LedgerLine]:
        """A line for each, who comes with their share of an A/B test."""
        paced = batch.pacing is not None and batch.pacing.by_account
        expires_at = now + _PACED_EXPIRY if paced else None
        own, unreadable = await self._own_variables(tx, [one for one, _ in people])
        readable = [
            (one.recipient_id, variant) for one, variant in people if one.recipient_id not in unreadable
        ]
        orders = [
            self.orders.order(
                batch, variables, recipient_id, variant, own.get(recipient_id), expires_at=expires_at
            )
            for recipient_id, variant in readable
        ]

        async def accept(some: Sequence[Order]) -> list[Outcome]:
            async with tx.savepoint():
                return await self.acceptor.accept_within(tx, some)

        outcomes: list[Outcome] = []
        async for part in halve(orders, accept, blames_item=_blames_order):
            if isinstance(part, SetDone):
                outcomes += part.result
            elif isinstance(part.error, TidingsError) and _blames_order(part.error):
                outcomes.append(RefusedOrder(part.error))
            else:
                raise part.error
        return [
            _line(recipient_id, variant, outcome)
            for (recipient_id, variant), outcome in zip(readable, outcomes, strict=True)
        ] + [
            LedgerLine(
                recipient_id=one.recipient_id,
                variant=variant,
                state=PersonState.REFUSED,
                error_code=unreadable[one.recipient_id],
            )
            for one, variant in people
            if one.recipient_id in unreadable
        ]

    async def _own_variables(
        self, tx: TenantTx, people: Sequence[Person | PlannedPerson]
    ) -> tuple[dict[RecipientId, Mapping[str, Any]], dict[RecipientId, str]]:
        """What the list says of them alone; and of whom it can't be read, with the reason."""
        sealed = {
            one.recipient_id: one.variables_ciphertext
            for one in people
            if one.variables_ciphertext is not None
        }
        keys = await self.keyring.data_keys(tx, sealed, create=False) if sealed else {}
        own: dict[RecipientId, Mapping[str, Any]] = {}
        unreadable: dict[RecipientId, str] = {}
        for recipient_id, box in sealed.items():
            found = self.orders.open_own(box, keys.get(recipient_id))
            if isinstance(found, str):
                unreadable[recipient_id] = found
            else:
                own[recipient_id] = found
        return own, unreadable


def _blames_order(error: Exception) -> bool:
    return isinstance(error, DatabaseError) and is_of_an_item(error)


def _line(recipient_id: RecipientId, variant: int, outcome: Outcome) -> LedgerLine:
    if isinstance(outcome, AcceptedOrder):
        return LedgerLine(
            recipient_id=recipient_id,
            variant=variant,
            state=PersonState.ACCEPTED,
            notification_id=outcome.id,
        )
    return LedgerLine(
        recipient_id=recipient_id, variant=variant, state=PersonState.REFUSED, error_code=outcome.error.code
    )
