"""Group commit: orders that arrive at the same moment, of whatever tenants, share a transaction; each gets its own outcome.

A set that is ordered together has a transaction of its own. An idempotency key is claimed and answered in the
transaction of the work itself.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from tidings.kernel.db import CallerRole, Database, TenantsTx, TenantTx
from tidings.kernel.durable.halving import SetDone, halve, is_of_an_item
from tidings.kernel.errors import DatabaseBusyError, DatabaseError
from tidings.kernel.gather import Gatherer
from tidings.kernel.idempotency import (
    Begun,
    Idempotency,
    IdempotencyKey,
    Replay,
    ScopedKey,
    StoredAnswer,
    refusal_of,
)
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import TooBusyError
from tidings.kernel.tracing import span_of_set
from tidings.notify.accept.order import AcceptedOrder, OrderedBy, Outcome, RefusedOrder
from tidings.notify.accept.replay import answer_of, outcome_of, scope_of_order, scope_of_set
from tidings.notify.accept.validator import ValidOrder
from tidings.notify.accept.writer import OrderWriter


class Wake(Protocol):
    """Tells a dispatcher in this process that there is work."""

    def __call__(self, *, express: bool) -> None:
        """`express`: some of it is critical or high."""
        ...


@dataclass(frozen=True, slots=True)
class _Lane:
    """Whose orders share a transaction."""

    role: CallerRole | None
    is_test: bool
    #: None: of all tenants.
    tenant_id: TenantId | None = None


class GroupCommit:
    """Commits valid orders; one per process."""

    def __init__(
        self,
        *,
        db: Database,
        writer: OrderWriter,
        idempotency: Idempotency,
        wake: Wake,
        most_waiting: int = 2000,
        most_in_sets: int = 20_000,
    ) -> None:
        self._db = db
        self._writer = writer
        self._idempotency = idempotency
        self._wake = wake
        self._gatherer: Gatherer[_Lane, ValidOrder, Outcome] = Gatherer(
            self._group, most_waiting=most_waiting
        )
        self._most_in_sets = most_in_sets
        self._in_sets = 0

    async def one(self, item: ValidOrder) -> Outcome:
        """Commit an order together with its neighbours; one that the database does not take is refused, as in a set."""
        by = item.order.by
        own = _Lane(by.role, by.is_test, by.tenant_id)
        try:
            # A tenant whose orders wait for a lock keeps to its own sets until they are through: no other tenant waits again.
            if self._gatherer.works_on(own):
                return await self._gatherer.do(own, item)
            try:
                return await self._gatherer.do(_Lane(by.role, by.is_test), item)
            except DatabaseBusyError:
                # A row of some tenant is locked: this tenant's orders wait for their own locks only.
                return await self._gatherer.do(own, item)
        except DatabaseError as error:
            if not _blames_order(error):
                raise
            return RefusedOrder(error)

    async def earlier(self, by: OrderedBy, once: IdempotencyKey) -> AcceptedOrder | None:
        """What became of the same order before; None where it was never accepted. Nothing is accepted."""
        async with self._db.tenant(by.tenant_id, caller_role=by.role) as tx:
            found = await self._idempotency.find(tx, scope_of_order(by), once.key, once.request_hash)
        return outcome_of(found) if found is not None else None

    async def many(self, by: OrderedBy, items: Sequence[ValidOrder]) -> list[Outcome]:
        """Commit a set in one transaction; one that holds an order which the database does not take, part by part."""
        with self._room(len(items)):
            try:
                return await self._group(_Lane(by.role, by.is_test, by.tenant_id), items)
            except DatabaseError as error:
                if not _blames_order(error):
                    raise
            with _span(items):
                async with self._db.tenant(by.tenant_id, caller_role=by.role) as tx:
                    outcomes = await self._each(tx, items)
                self._wake_for(items)
                return outcomes

    async def many_once(
        self,
        by: OrderedBy,
        items: Sequence[ValidOrder],
        *,
        once: IdempotencyKey,
        answer: Callable[[Sequence[Outcome]], StoredAnswer],
    ) -> StoredAnswer:
        """The same under the key of the whole set: its answer is kept with it, and replayed to a repeat."""

        async def work() -> StoredAnswer:
            return answer(await self._each(tx, items))

        with self._room(len(items)), _span(items):
            async with self._db.tenant(by.tenant_id, caller_role=by.role) as tx:
                done = await self._idempotency.once(tx, scope_of_set(by), once, work)
            if not done.replayed:
                self._wake_for(items)
            return done

    def _wake_for(self, items: Sequence[ValidOrder]) -> None:
        self._wake(express=any(item.is_urgent for item in items))

    @contextmanager
    def _room(self, count: int) -> Iterator[None]:
        """What is written in sets at the same moment is bounded, but a set alone always has room."""
        if self._in_sets and self._in_sets + count > self._most_in_sets:
            raise TooBusyError
        self._in_sets += count
        try:
            yield
        finally:
            self._in_sets -= count

    async def _each(self, tx: TenantTx, items: Sequence[ValidOrder]) -> list[Outcome]:
        """As one set; an order that the database does not take is found by halving, and is refused alone."""

        async def write(some: Sequence[ValidOrder]) -> list[Outcome]:
            async with tx.savepoint():
                return await self._once_each(tx, some)

        outcomes: list[Outcome] = []
        async for part in halve(items, write, blames_item=_blames_order):
            if isinstance(part, SetDone):
                outcomes += part.result
            elif isinstance(part.error, DatabaseError) and _blames_order(part.error):
                outcomes.append(RefusedOrder(part.error))
            else:
                raise part.error
        return outcomes

    async def _group(self, lane: _Lane, items: Sequence[ValidOrder]) -> list[Outcome]:
        tenants = {item.order.by.tenant_id for item in items}
        with _span(items):
            async with self._db.tenants(tenants, caller_role=lane.role, by_index=True, pipelined=True) as tx:
                # Where no key waits for its answer, nothing follows the rows.
                last = all(item.order.once is None for item in items)
                outcomes = await self._once_each(tx, items, last=last)
            self._wake_for(items)
            return outcomes

    async def _once_each(
        self, tx: TenantTx | TenantsTx, items: Sequence[ValidOrder], *, last: bool = False
    ) -> list[Outcome]:
        """Write those whose keys are fresh, and keep what became of them; the others get what is known of theirs.

        `last`: the transaction ends with the rows.
        """
        known = await self._known(tx, items)
        fresh = [item for item, outcome in zip(items, known, strict=True) if outcome is None]
        written = await self._writer.write(tx, fresh, last=last)
        kept: dict[ScopedKey, StoredAnswer] = {}
        released: list[ScopedKey] = []
        for item, outcome in zip(fresh, written, strict=True):
            if (key := _key_of(item)) is None:
                continue
            if isinstance(outcome, AcceptedOrder):
                kept[key] = answer_of(outcome)
            else:
                released.append(key)
        if kept:
            await self._idempotency.finish_many(tx, kept)
        if released:
            await self._idempotency.release_many(tx, released)
        rest = iter(written)
        return [next(rest) if outcome is None else outcome for outcome in known]

    async def _known(self, tx: TenantTx | TenantsTx, items: Sequence[ValidOrder]) -> list[Outcome | None]:
        """What is known of each order's key already; None: it is ours to write."""
        keys = [_key_of(item) for item in items]
        asked = [
            (key, item.order.once.request_hash)
            for key, item in zip(keys, items, strict=True)
            if key is not None and item.order.once is not None
        ]
        if not asked:
            return [None] * len(items)
        begun = iter(await self._idempotency.begin_many(tx, asked))
        return [_outcome(next(begun)) if key is not None else None for key in keys]


def _key_of(item: ValidOrder) -> ScopedKey | None:
    by, once = item.order.by, item.order.once
    return ScopedKey(by.tenant_id, scope_of_order(by), once.key) if once is not None else None


def _blames_order(error: Exception) -> bool:
    """Whether the database does not take one of the orders; a fault of ours refuses none."""
    return isinstance(error, DatabaseError) and is_of_an_item(error)


def _outcome(begun: Begun) -> Outcome | None:
    if isinstance(begun, Replay):
        return outcome_of(begun)
    refusal = refusal_of(begun)
    return RefusedOrder(refusal) if refusal is not None else None


def _span(items: Sequence[ValidOrder]) -> AbstractContextManager[object]:
    traceparents = (item.traceparent for item in items)
    tenant_ids = sorted({item.order.by.tenant_id for item in items})
    return span_of_set(
        "accept", "notifications accept", traceparents, tenant_ids=tenant_ids, count=len(items)
    )
