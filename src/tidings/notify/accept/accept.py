"""The use case "accept": from orders to durable notifications. Every way into notify ends here.

Each order is validated, its files are put into the blob store, and it is committed; each has its own outcome, in the
order of the orders. A set may be of many tenants. An error that no single order is to blame for (the database is away,
or too many wait already) is raised.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from msgspec import structs

from tidings.contracts.ids import NotificationId
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.errors import BadValueError, DatabaseUnavailableError, TidingsError
from tidings.kernel.idempotency import IdempotencyKey, StoredAnswer
from tidings.kernel.refusals import RefusalError
from tidings.notify.accept.attachments import Attachments, Stored
from tidings.notify.accept.group_commit import GroupCommit
from tidings.notify.accept.order import AcceptedOrder, Order, OrderedBy, Outcome, RefusedOrder, is_written
from tidings.notify.accept.validator import OrderValidator, ValidOrder
from tidings.notify.accept.writer import OrderWriter, let_others_by

T = TypeVar("T")


class _Batch:
    """Orders on their way: valid or refused, each at its place."""

    def __init__(self) -> None:
        self.places: list[ValidOrder | RefusedOrder] = []
        self._written: set[NotificationId] = set()

    @property
    def valid(self) -> list[ValidOrder]:
        return [item for item in self.places if isinstance(item, ValidOrder)]

    def outcomes(self, of_valid: Sequence[Outcome]) -> list[Outcome]:
        """What became of all, from what became of those that were valid."""
        self._written = {one.id for one in of_valid if isinstance(one, AcceptedOrder) and is_written(one)}
        rest = iter(of_valid)
        return [item if isinstance(item, RefusedOrder) else next(rest) for item in self.places]

    def files(self, *, unwritten: bool = False) -> list[Stored]:
        """Those of every valid order, or of those that nothing was written for."""
        return [
            item.files
            for item in self.valid
            if item.files is not None and not (unwritten and item.id in self._written)
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Acceptor:
    """Notify's own port: the way in for HTTP, replies, confirmations and resends."""

    validator: OrderValidator
    attachments: Attachments
    writer: OrderWriter
    group_commit: GroupCommit

    async def accept(self, orders: Sequence[Order]) -> list[Outcome]:
        """What became of each order; those accepted are durable when this returns."""

        async def commit(batch: _Batch) -> list[Outcome]:
            return batch.outcomes(await self._commit(batch.valid))

        return await self._run(orders, commit)

    async def accept_once(
        self,
        by: OrderedBy,
        orders: Sequence[Order],
        *,
        once: IdempotencyKey,
        answer: Callable[[Sequence[Outcome]], StoredAnswer],
    ) -> StoredAnswer:
        """Accept a set under one idempotency key; `answer` is kept with it, and a repeat of the set gets it again."""

        async def commit(batch: _Batch) -> StoredAnswer:
            return await self.group_commit.many_once(
                by, batch.valid, once=once, answer=lambda of_valid: answer(batch.outcomes(of_valid))
            )

        return await self._run(orders, commit)

    async def accept_within(self, tx: TenantTx | TenantsTx, orders: Sequence[Order]) -> list[Outcome]:
        """Accept in a transaction of the caller's, together with other work. The orders have neither files nor keys, and
        are of one environment."""

        async def commit(batch: _Batch) -> list[Outcome]:
            return batch.outcomes(await self.writer.write(tx, batch.valid))

        return await self._run(orders, commit)

    async def earlier(self, by: OrderedBy, once: IdempotencyKey) -> AcceptedOrder | None:
        """What became of the same order before; None where it was never accepted. Nothing is accepted."""
        return await self.group_commit.earlier(by, once)

    async def _run(self, orders: Sequence[Order], commit: Callable[[_Batch], Awaitable[T]]) -> T:
        batch = _Batch()
        try:
            for place, order in enumerate(orders):
                await let_others_by(place)
                batch.places.append(await self._validated(order))
            done = await commit(batch)
        except TidingsError as error:
            # Where the database went away it is not known whether they were written: then their files stay.
            if not isinstance(error, DatabaseUnavailableError):
                await self._discard(batch.files())
            raise
        await self._discard(batch.files(unwritten=True))
        return done

    async def _validated(self, order: Order) -> ValidOrder | RefusedOrder:
        try:
            item = await self.validator.validate(order)
            if not order.attachments:
                return item
            files = await self.attachments.store(order.by.tenant_id, item.id, order.attachments)
            return structs.replace(item, files=files)
        except (RefusalError, BadValueError) as error:
            return RefusedOrder(error)

    async def _commit(self, items: Sequence[ValidOrder]) -> list[Outcome]:
        if len(items) == 1:
            return [await self.group_commit.one(items[0])]
        sets: dict[OrderedBy, list[ValidOrder]] = {}
        for item in items:
            sets.setdefault(item.order.by, []).append(item)
        became: dict[NotificationId, Outcome] = {}
        for by, of_one in sets.items():
            outcomes = await self.group_commit.many(by, of_one)
            became |= {item.id: outcome for item, outcome in zip(of_one, outcomes, strict=True)}
        return [became[item.id] for item in items]

    async def _discard(self, files: Sequence[Stored]) -> None:
        for stored in files:
            await self.attachments.discard(stored)
