"""What a worker runs: finds the tenants of inbound messages, and has them taken on."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.durable.halving import SetDone, halve, is_of_an_item
from tidings.kernel.durable.locked_sets import (
    SET_TIMEOUT,
    TENANT_TIMEOUT,
    LockedSetJob,
    LockedSetSettings,
    SetTurn,
    for_each_tenant,
)
from tidings.kernel.errors import DatabaseUnavailableError, TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.kms import KmsError
from tidings.kernel.logs import get_logger, where, why
from tidings.router.conversations import queue
from tidings.router.conversations.model import ConversationObserver
from tidings.router.conversations.queue import ClaimedInbound, DeferredInbound
from tidings.router.conversations.receive import Receiver, ReceiveResult
from tidings.router.conversations.resolve import ResolvedMessage, TenantResolver
from tidings.router.conversations.retry_policy import INBOUND_RETRY
from tidings.router.conversations.shared_stop import SharedStop, SharedStops
from tidings.router.conversations.wakeups import ConversationWakeups
from tidings.router.executions.model import moment

_log = get_logger("conversations")
#: Until the next look while the key store does not answer: it is no look in vain, and STOP must not wait for long.
_WITHOUT_KEYS: Final = timedelta(seconds=5)
#: Looks before a message counts as unmatched, about two minutes: an answer may overtake the note of the very message that it answers,
#: which is written when its vendor has answered for the whole set.
_LOOKS_FOR_AN_OWNER: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSettings(LockedSetSettings):
    """How the job paces itself: `limit` is shared by all accounts that people write to."""

    limit: int = 200
    #: Messages of each account in any case.
    least: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _NotDone:
    """Messages of a set, by their ids."""

    #: Tried in vain.
    failed: frozenset[str] = frozenset()
    #: No worker could have taken them on: the key store does not answer.
    locked: frozenset[str] = frozenset()
    #: Not tried yet.
    left: frozenset[str] = frozenset()

    def __or__(self, other: "_NotDone") -> "_NotDone":
        return _NotDone(
            failed=self.failed | other.failed, locked=self.locked | other.locked, left=self.left | other.left
        )

    @property
    def all(self) -> frozenset[str]:
        """Whichever it is."""
        return self.failed | self.locked | self.left


class ConversationJob(LockedSetJob):
    """Takes inbound messages on. Each tenant's are taken on in a transaction of its own, and the set is marked after; if
    that is lost, it is done again, and the transcript knows what it has."""

    def __init__(
        self,
        db: Database,
        resolver: TenantResolver,
        receiver: Receiver,
        shared: SharedStops,
        *,
        wakeups: ConversationWakeups,
        clock: Clock,
        observer: ConversationObserver | None = None,
        settings: ConversationSettings | None = None,
        poll_seconds: Callable[[], float] | None = None,
    ) -> None:
        self._settings = settings or ConversationSettings()
        super().__init__(
            wakeup=wakeups.inbound, clock=clock, settings=self._settings, poll_seconds=poll_seconds
        )
        self._db = db
        self._resolver = resolver
        self._receiver = receiver
        self._shared = shared
        self._wakeups = wakeups
        self._clock = clock
        self._observer = observer or ConversationObserver()
        self._slots = asyncio.Semaphore(self._settings.tenants_at_once)

    async def turn(self) -> SetTurn:
        """Take one set on."""
        now = moment(self._clock)
        async with self._db.worker(claims=True) as tx:
            claimed = await queue.claim_inbound(
                tx, now=now, limit=self._settings.limit, least=self._settings.least
            )
            if not claimed:
                self._observer.waiting(0.0)
                return self.sleep_until(await queue.next_inbound(tx))
            sorted_ = await self._resolver.resolve(tx, claimed)
            stops: list[SharedStop] = []
            not_done = await self._take(sorted_.by_tenant, now, stops)
            own = {one.id for one in claimed if one.owner_id is not None}
            not_done |= await self._share(
                tx, [stop for stop in stops if stop.message.id not in own], sorted_.by_tenant, now
            )
            # What is left stays as it is: it is due, and comes with the next set.
            done = [
                (str(m.id), tenant)
                for tenant, some in sorted_.by_tenant.items()
                for m in some
                if m.id not in not_done.all
            ]
            lost = [one for one in sorted_.unmatched if one.looks + 1 >= _LOOKS_FOR_AN_OWNER]
            looking = [one for one in sorted_.unmatched if one.looks + 1 < _LOOKS_FOR_AN_OWNER]
            failed = [one for one in claimed if one.id in not_done.failed]
            waiting = [_waiting(one, now) for one in (*looking, *failed)]
            waiting += [
                DeferredInbound(id=one.id, next_at=now + _WITHOUT_KEYS, looks=0)
                for one in claimed
                if one.id in not_done.locked
            ]
            waiting += [DeferredInbound(id=one.id, next_at=None) for one in sorted_.unreadable]
            if done:
                await queue.mark_applied(tx, done, now=now)
            if lost:
                await queue.mark_unmatched(tx, [one.id for one in lost], now=now)
            if waiting:
                await queue.mark_again(tx, waiting, now=now)
        dead = sum(one.next_at is None for one in waiting)
        self._tell(claimed, len(done), len(lost), dead, now)
        return SetTurn(done=len(done), again=len(waiting) - dead, dead=dead)

    async def _share(
        self,
        tx: WorkerTx,
        stops: Sequence[SharedStop],
        by_tenant: Mapping[TenantId, Sequence[ResolvedMessage]],
        now: datetime,
    ) -> _NotDone:
        """A STOP to a shared number holds for all who wrote from it: each tenant's part in its own transaction, before the
        message is marked. What is not done is done with the next look; what is done stays."""
        if not stops:
            return _NotDone()
        answered = {message.id: tenant for tenant, some in by_tenant.items() for message in some}
        sharers = await self._resolver.sharers(tx, [stop.message for stop in stops])
        by_sharer: dict[TenantId, list[SharedStop]] = {}
        for stop in stops:
            for tenant_id in sharers.get(stop.message.id, ()):
                if tenant_id != answered.get(stop.message.id):
                    by_sharer.setdefault(tenant_id, []).append(stop)
        until = asyncio.get_running_loop().time() + SET_TIMEOUT
        total = _NotDone()
        for tenant_id, some in by_sharer.items():
            total |= await self._share_with(tenant_id, some, now, until)
        return total

    async def _share_with(
        self, tenant_id: TenantId, stops: Sequence[SharedStop], now: datetime, until: float
    ) -> _NotDone:
        ids = frozenset(str(stop.message.id) for stop in stops)
        if asyncio.get_running_loop().time() > until:
            return _NotDone(left=ids)
        try:
            async with asyncio.timeout(TENANT_TIMEOUT), self._db.tenant(tenant_id) as tx:
                await self._shared.heed(tx, stops, now=now)
        except Exception as error:  # noqa: BLE001  # one tenant's trouble must not hold up the others
            return self._not_done(tenant_id, ids, error)
        return _NotDone()

    async def _take(
        self, by_tenant: dict[TenantId, list[ResolvedMessage]], now: datetime, stops: list[SharedStop]
    ) -> _NotDone:
        """Each tenant's in its own transaction; those that are not done. Every STOP is added to `stops`."""

        async def take(tenant_id: TenantId, messages: Sequence[ResolvedMessage]) -> _NotDone:
            return await self._take_tenant(tenant_id, messages, now, stops)

        results, left = await for_each_tenant(by_tenant, take, self._slots)
        return reduce(or_, results, _NotDone(left=frozenset(message.id for message in left)))

    async def _take_tenant(
        self, tenant_id: TenantId, messages: Sequence[ResolvedMessage], now: datetime, stops: list[SharedStop]
    ) -> _NotDone:
        """A tenant's in one transaction, halved where that fails."""

        async def receive(some: Sequence[ResolvedMessage]) -> ReceiveResult:
            async with asyncio.timeout(TENANT_TIMEOUT), self._db.tenant(tenant_id) as tx:
                return await self._receiver.receive(tx, some, now=now)

        total = _NotDone()
        async for part in halve(messages, receive, blames_item=_blames_message):
            if isinstance(part, SetDone):
                stops.extend(part.result.stops)
                self._tell_received(part.result)
                total |= _NotDone(left=part.result.left)
            else:
                total |= self._not_done(tenant_id, frozenset(m.id for m in part.items), part.error)
        return total

    def _not_done(self, tenant_id: TenantId, ids: frozenset[str], error: Exception) -> _NotDone:
        """One tenant's trouble does not hold up the others, except where the database is away."""
        if isinstance(error, DatabaseUnavailableError):
            raise error
        self._note(tenant_id, len(ids), error)
        return _NotDone(locked=ids) if isinstance(error, KmsError) else _NotDone(failed=ids)

    def _tell_received(self, received: ReceiveResult) -> None:
        for action, count in received.keywords.items():
            self._observer.keyword(action, count)
        if received.confirmations:
            self._wakeups.replies.set()
        if received.deliveries:
            self._wakeups.deliveries.set()

    def _note(self, tenant_id: TenantId, count: int, error: Exception) -> None:
        self._observer.failed("conversations")
        _log.warning(
            "inbound_not_taken_on",
            tenant_id=tenant_id,
            count=count,
            error=type(error).__name__,
            # Not the whole story: a traceback with its values would tell what a person wrote.
            where=where(error),
        )

    def failed(self, error: TidingsError, seconds: float) -> None:
        """Count it, and say when it is tried again."""
        self._observer.failed("conversations")
        _log.warning("inbound_not_taken", retry_seconds=seconds, **why(error))

    def _tell(
        self, claimed: Sequence[ClaimedInbound], taken: int, lost: int, dead: int, now: datetime
    ) -> None:
        fresh = [one.received_at for one in claimed if one.looks == 0]
        self._observer.waiting((now - min(fresh)).total_seconds() if fresh else 0.0)
        if taken:
            oldest = min(one.received_at for one in claimed)
            self._observer.taken(taken, (now - oldest).total_seconds())
        if lost:
            self._observer.unmatched(lost)
        if dead:
            self._observer.died(dead)
            _log.error("inbound_dead", count=dead)


def _blames_message(error: Exception) -> bool:
    return is_of_an_item(error) and not isinstance(error, KmsError)


def _waiting(one: ClaimedInbound, now: datetime) -> DeferredInbound:
    pause = INBOUND_RETRY.next_delay(one.looks + 1)
    return DeferredInbound(id=one.id, next_at=None if pause is None else now + pause)
