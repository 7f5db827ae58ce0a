"""From a checked order to a durable notification: single ones share a transaction with their neighbours, a bulk has its own.

An Idempotency-Key is claimed and answered in the transaction of the work itself.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec
from msgspec import UNSET

from tidings.contracts.ids import NotificationId
from tidings.kernel.clock import Clock
from tidings.kernel.db import CallerRole, Database, TenantTx
from tidings.kernel.errors import DatabaseBusyError, DatabaseError, DatabaseUnavailableError
from tidings.kernel.gather import Gatherer
from tidings.kernel.http.errors import KeyReusedError, StillInProgressError
from tidings.kernel.http.problems import answer as problem_answer
from tidings.kernel.idempotency import Answer, Conflict, Idempotency, InProgress, Replay, in_environment
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import NoneAcceptedError, TooBusyError
from tidings.kernel.tracing import span_of_set
from tidings.notify.notifications.accept import Accepted, Acceptor, Incoming, Result
from tidings.notify.notifications.wire import AcceptedView, BulkResult, BulkView, RefusedBulk, links_of

SINGLE_SCOPE: Final = "POST:/api/v1/notifications"
BULK_SCOPE: Final = "POST:/api/v1/notifications/bulk"
_ACCEPTED: Final = 202

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Lane:
    """Whose orders share a transaction."""

    tenant_id: TenantId
    role: CallerRole
    #: Orders of test keys: a key of theirs is another than the same one of a live key.
    is_test: bool = False

    def scope(self, of: str) -> str:
        """What an Idempotency-Key is unique within."""
        return in_environment(of, is_test=self.is_test)


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """What the caller asked to be done once."""

    key: str
    request_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """One single order on its way."""

    item: Incoming
    once: Once | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What to answer: the body is ready."""

    body: bytes
    status: int = 202
    #: The answer to an earlier request with the same key.
    replayed: bool = False
    #: Whether anything was written; a replay and a repeat write nothing.
    wrote: bool = True
    #: Of a bulk: those that nothing was written for, because they were refused or were there before.
    unwritten: frozenset[NotificationId] = frozenset()


class Wake(Protocol):
    """Tells a dispatcher in this process that there is work."""

    def __call__(self, *, express: bool) -> None:
        """`express`: some of it is critical or high."""
        ...


class Intake:
    """The way in; one per process."""

    def __init__(
        self,
        *,
        db: Database,
        acceptor: Acceptor,
        idempotency: Idempotency,
        clock: Clock,
        wake: Wake,
        most_waiting: int = 2000,
        most_in_bulks: int = 20_000,
    ) -> None:
        self._db = db
        self._acceptor = acceptor
        self._idempotency = idempotency
        self._clock = clock
        self._wake = wake
        self._gatherer: Gatherer[Lane, Ticket, Reply] = Gatherer(self._group, most_waiting=most_waiting)
        self._most_in_bulks = most_in_bulks
        self._in_bulks = 0

    async def one(self, lane: Lane, ticket: Ticket) -> Reply:
        """Accept one; it is durable when this returns."""
        return await self._gatherer.do(lane, ticket)

    async def earlier(self, lane: Lane, once: Once) -> Reply | None:
        """What was answered to the same order before; None where it was never accepted. Nothing is accepted."""
        async with self._db.tenant(lane.tenant_id, caller_role=lane.role) as tx:
            known = _known(
                await self._idempotency.find(tx, lane.scope(SINGLE_SCOPE), once.key, once.request_hash)
            )
        if isinstance(known, Exception):
            raise known
        return known

    async def many(
        self, lane: Lane, places: Sequence[tuple[int, Incoming | Exception]], once: Once | None
    ) -> Reply:
        """Accept a bulk in one transaction; items that were refused before are among the places."""
        if self._in_bulks and self._in_bulks + len(places) > self._most_in_bulks:
            raise TooBusyError
        self._in_bulks += len(places)
        try:
            with _span(lane, [item for _, item in places if isinstance(item, Incoming)]):
                return await self._bulk(lane, places, once)
        finally:
            self._in_bulks -= len(places)

    async def _group(self, lane: Lane, tickets: Sequence[Ticket]) -> list[Reply | Exception]:
        with _span(lane, [ticket.item for ticket in tickets]):
            return await self._write_group(lane, tickets)

    async def _write_group(self, lane: Lane, tickets: Sequence[Ticket]) -> list[Reply | Exception]:
        asked = [t.once for t in tickets if t.once is not None]
        replies: list[Reply | Exception | None] = [None] * len(tickets)
        async with self._db.tenant(lane.tenant_id, caller_role=lane.role) as tx:
            if asked:
                begun = iter(
                    await self._idempotency.begin_many(
                        tx, lane.scope(SINGLE_SCOPE), [(once.key, once.request_hash) for once in asked]
                    )
                )
                for place, ticket in enumerate(tickets):
                    if ticket.once is not None:
                        replies[place] = _known(next(begun))
            fresh = [place for place, reply in enumerate(replies) if reply is None]
            results = await self._acceptor.accept(tx, [tickets[place].item for place in fresh])
            kept: dict[str, Answer] = {}
            released: list[str] = []
            for place, result in zip(fresh, results, strict=True):
                once = tickets[place].once
                if isinstance(result, Accepted):
                    body = _encode(accepted_view(result))
                    replies[place] = Reply(body=body, wrote=not result.duplicate)
                    if once is not None:
                        kept[once.key] = Answer(_ACCEPTED, body.decode())
                else:
                    replies[place] = result
                    if once is not None:
                        released.append(once.key)
            if kept:
                await self._idempotency.finish_many(tx, lane.scope(SINGLE_SCOPE), kept)
            if released:
                await self._idempotency.release_many(tx, lane.scope(SINGLE_SCOPE), released)
        self._wake(express=any(_urgent(ticket.item) for ticket in tickets))
        return [reply for reply in replies if reply is not None]

    async def _each(self, tx: TenantTx, items: Sequence[Incoming]) -> list[Result | Exception]:
        """As one set; one that the database does not take is found by halving, and fails alone."""
        try:
            async with tx.savepoint():
                return [*await self._acceptor.accept(tx, items)]
        except (DatabaseUnavailableError, DatabaseBusyError):
            raise  # Nobody's item is to blame.
        except DatabaseError as error:
            if len(items) == 1:
                return [error]
        middle = len(items) // 2
        return [*await self._each(tx, items[:middle]), *await self._each(tx, items[middle:])]

    async def _bulk(
        self, lane: Lane, places: Sequence[tuple[int, Incoming | Exception]], once: Once | None
    ) -> Reply:
        async with self._db.tenant(lane.tenant_id, caller_role=lane.role) as tx:
            if once is not None:
                known = _known(
                    await self._idempotency.begin(tx, lane.scope(BULK_SCOPE), once.key, once.request_hash)
                )
                if isinstance(known, Exception):
                    raise known
                if known is not None:
                    return known
            orders = [(index, item) for index, item in places if isinstance(item, Incoming)]
            results = await self._each(tx, [item for _, item in orders])
            became: dict[int, Result | Exception] = {
                index: item for index, item in places if isinstance(item, Exception)
            }
            became |= {index: result for (index, _), result in zip(orders, results, strict=True)}
            status, body = _told(_bulk_view(became))
            if once is not None:
                await self._idempotency.finish(
                    tx, lane.scope(BULK_SCOPE), once.key, Answer(status, body.decode())
                )
        self._wake(express=any(_urgent(item) for _, item in orders))
        unwritten = frozenset(
            item.id
            for (_, item), result in zip(orders, results, strict=True)
            if not isinstance(result, Accepted) or result.duplicate
        )
        return Reply(body=body, status=status, unwritten=unwritten)


def _span(lane: Lane, items: Sequence[Incoming]) -> AbstractContextManager[object]:
    traceparents = (item.traceparent for item in items)
    return span_of_set(
        "accept", "notifications accept", traceparents, tenant_id=lane.tenant_id, count=len(items)
    )


def _urgent(item: Incoming) -> bool:
    return item.order.priority in ("critical", "high")


def _known(begun: object) -> Reply | Exception | None:
    """What is known of a key already; None: the work is ours."""
    match begun:
        case Replay(status, response):
            return Reply(body=response.encode(), status=status, replayed=True, wrote=False)
        case Conflict():
            return KeyReusedError()
        case InProgress():
            return StillInProgressError()
    return None


def accepted_view(accepted: Accepted) -> AcceptedView:
    """What is answered for one that was accepted."""
    return AcceptedView(
        id=accepted.id,
        status=accepted.status,
        recipient_id=accepted.recipient_id,
        created_at=accepted.created_at,
        links=links_of(accepted.id),
        duplicate=True if accepted.duplicate else UNSET,
    )


def _told(view: BulkView) -> tuple[int, bytes]:
    """Status and body: where not one was accepted it is a problem, so that those who look at the status alone notice."""
    if view.accepted:
        return _ACCEPTED, _encode(view)
    none = NoneAcceptedError(f"none of the {view.refused} notifications was accepted; results says why")
    told = problem_answer(none, path="/api/v1/notifications/bulk", request_id="").problem
    facts = {name: getattr(told, name) for name in told.__struct_fields__}
    return told.status, _encode(RefusedBulk(**facts, accepted=0, refused=view.refused, results=view.results))


def _bulk_view(became: dict[int, Result | Exception]) -> BulkView:
    results: list[BulkResult] = []
    accepted = 0
    for index in sorted(became):
        result = became[index]
        if not isinstance(result, Accepted):
            problem = problem_answer(result, path="", request_id="").problem
            results.append(BulkResult(index=index, problem=problem))
            continue
        accepted += 1
        view = accepted_view(result)
        results.append(
            BulkResult(
                index=index,
                id=view.id,
                status=view.status,
                recipient_id=view.recipient_id,
                created_at=view.created_at,
                links=view.links,
                duplicate=view.duplicate,
            )
        )
    return BulkView(accepted=accepted, refused=len(results) - accepted, results=results)
