"""Hands events to a group's handler: in sets, once in effect, and so that a poisoned one fails alone."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field

from tidings.kernel.bus import NoHandlerError, Subscription
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.deduplicate import ConsumedEvents
from tidings.kernel.durable.halving import SetDone, halve, in_two
from tidings.kernel.errors import DatabaseBusyError, DatabaseUnavailableError, TidingsError
from tidings.kernel.logs import get_logger
from tidings.kernel.postgres_bus.event_stream import Arrival
from tidings.kernel.postgres_bus.lease import LeaseLostError
from tidings.kernel.postgres_bus.parked import Failure, ParkedLane, Settlement

_log = get_logger("bus.consumer")


@dataclass(slots=True)
class _Result:
    """What became of a set."""

    #: Events that the handler saw and that are committed.
    consumed: int = 0
    done: list[Arrival] = field(default_factory=list)
    failed: list[tuple[Arrival, str]] = field(default_factory=list)
    #: Events behind a failed one.
    waiting: list[Arrival] = field(default_factory=list)


class EventDelivery:
    """Calls the handler of one subscription."""

    def __init__(
        self, db: Database, subscription: Subscription, *, clock: Clock, tenants_at_once: int
    ) -> None:
        self._db = db
        self._subscription = subscription
        self._clock = clock
        self._ledger = ConsumedEvents(subscription.ledger)
        self._turns = asyncio.Semaphore(tenants_at_once)

    async def deliver(
        self,
        arrivals: Sequence[Arrival],
        lanes: Sequence[ParkedLane],
        *,
        still_ours: Callable[[], bool],
        blame_outages: bool,
    ) -> Settlement:
        """Apply them all; what is to be written down about it.

        Whatever a handler raises is the event's failure. An unreachable database is not, and is raised
        here; except with `blame_outages`, because an event may bring the connection down by itself.
        """
        settlement = Settlement()
        ready = [arrival for arrival in arrivals if not arrival.behind_parked]
        settlement.parked += [_waiting(arrival) for arrival in arrivals if arrival.behind_parked]
        attempt = _Attempt(self, still_ours=still_ours, blame_outages=blame_outages)
        await _all(
            *(self._retry(attempt, lane, settlement) for lane in lanes),
            *(self._first_try(attempt, members, settlement) for members in self._sets(ready)),
        )
        return settlement

    def _sets(self, arrivals: Sequence[Arrival]) -> list[list[Arrival]]:
        if self._subscription.on_tenants_events is not None:
            parts = (
                [one for one in arrivals if (one.event.tenant_id is None) is kind] for kind in (False, True)
            )
            return [part for part in parts if part]
        if self._subscription.on_tenant_events is None:
            return [list(arrivals)] if arrivals else []
        together: dict[str | None, list[Arrival]] = {}
        for arrival in arrivals:
            event = arrival.event
            together.setdefault(event.lane if self._subscription.by_lane else event.tenant_id, []).append(
                arrival
            )
        return list(together.values())

    async def _first_try(
        self, attempt: "_Attempt", members: Sequence[Arrival], settlement: Settlement
    ) -> None:
        result = _Result()
        async with self._turns:
            await attempt.apply(members, result)
        settlement.consumed += result.consumed
        settlement.parked += [self._failed(arrival, 1, error) for arrival, error in result.failed]
        settlement.parked += [_waiting(arrival) for arrival in result.waiting]
        self._bury(settlement, settlement.parked, result)

    async def _retry(self, attempt: "_Attempt", lane: ParkedLane, settlement: Settlement) -> None:
        result = _Result()
        arrivals = [arrival for arrival, _ in lane.events]
        async with self._turns:
            # The first one alone: it has failed before, and would take the others down with it.
            await attempt.apply(arrivals[:1], result)
            if not result.failed:
                await attempt.apply(arrivals[1:], result)
        attempts = {arrival.position: count for arrival, count in lane.events}
        settlement.consumed += result.consumed
        settlement.unparked += result.done
        settlement.postponed += [
            self._failed(arrival, attempts[arrival.position] + 1, error) for arrival, error in result.failed
        ]
        self._bury(settlement, settlement.postponed, result)

    def _failed(self, arrival: Arrival, attempts: int, error: str) -> Failure:
        _log.warning(
            "event_failed",
            group=self._subscription.group,
            event_id=arrival.event.id,
            tenant_id=arrival.event.tenant_id,
            type=arrival.event.subject,
            attempts=attempts,
            error=error,
        )
        delay = self._subscription.retry.delay(attempts, random.random())  # noqa: S311  # spreads load only
        return Failure(
            arrival=arrival, attempts=attempts, next_attempt_at=self._clock.now() + delay, error=error
        )

    def _bury(self, settlement: Settlement, failures: Sequence[Failure], result: _Result) -> None:
        new = {arrival.position for arrival, _ in result.failed}
        retry = self._subscription.retry
        settlement.dead += [
            failure.arrival
            for failure in failures
            if failure.arrival.position in new and retry.gives_up(failure.attempts)
        ]

    async def commit_set(self, arrivals: Sequence[Arrival]) -> int:
        """Apply these in one transaction; how many of them were new."""
        subscription = self._subscription
        events = [arrival.event for arrival in arrivals]
        if subscription.select is not None:
            wanted = {event.id for event in await subscription.select(events)}
            events = [event for event in events if event.id in wanted]
            if not events:
                return 0
        tenant_id, now = events[0].tenant_id, self._clock.now()
        if subscription.on_tenants_events is not None and tenant_id is not None:
            named = {event.tenant_id for event in events if event.tenant_id is not None}
            async with self._db.tenants(named, by_index=subscription.by_index) as tenants_tx:
                new = await self._ledger.first_times(tenants_tx, events, consumer=subscription.group, now=now)
                if new:
                    await subscription.on_tenants_events(tenants_tx, new)
        elif subscription.on_tenant_events is not None and tenant_id is not None:
            async with self._db.tenant(tenant_id, by_index=self._subscription.by_index) as tx:
                new = await self._ledger.first_times(tx, events, consumer=subscription.group, now=now)
                if new:
                    await subscription.on_tenant_events(tx, new)
        elif subscription.on_platform_events is not None:
            async with self._db.platform() as platform_tx:
                new = await self._ledger.first_times(
                    platform_tx, events, consumer=subscription.group, now=now
                )
                if new:
                    await subscription.on_platform_events(platform_tx, new)
        else:
            raise NoHandlerError
        return len(new)


class _Attempt:
    """One turn's calls: halves a set that fails until the poisoned events stand alone."""

    def __init__(
        self, delivery: EventDelivery, *, still_ours: Callable[[], bool], blame_outages: bool
    ) -> None:
        self._delivery = delivery
        self._still_ours = still_ours
        self._blame_outages = blame_outages

    async def apply(self, arrivals: Sequence[Arrival], result: _Result) -> None:
        """Apply in order; an event whose lane has failed in `result` waits."""

        def still_to_do(some: Sequence[Arrival]) -> Sequence[Arrival]:
            blocked = {arrival.event.lane for arrival, _ in result.failed}
            if not blocked:
                return some
            result.waiting += [arrival for arrival in some if arrival.event.lane in blocked]
            return [arrival for arrival in some if arrival.event.lane not in blocked]

        parts = halve(
            arrivals, self._commit, blames_item=self._blames_item, narrow=still_to_do, cut=_tenants_first
        )
        async for part in parts:
            if isinstance(part, SetDone):
                result.consumed += part.result
                result.done += part.items
            elif self._blames_item(part.error):
                result.failed.append((part.items[0], _name(part.error)))
            else:
                raise part.error

    async def _commit(self, arrivals: Sequence[Arrival]) -> int:
        if not self._still_ours():
            raise LeaseLostError
        return await self._delivery.commit_set(arrivals)

    def _blames_item(self, error: Exception) -> bool:
        if isinstance(error, LeaseLostError):
            return False
        return self._blame_outages or not isinstance(error, DatabaseUnavailableError)


def _tenants_first(arrivals: Sequence[Arrival], error: Exception) -> Sequence[Sequence[Arrival]]:
    """Where a row of one tenant is locked, the others wait no longer: each goes on by itself."""
    by_tenant: dict[str | None, list[Arrival]] = {}
    if isinstance(error, DatabaseBusyError):
        for arrival in arrivals:
            by_tenant.setdefault(arrival.event.tenant_id, []).append(arrival)
    return list(by_tenant.values()) if len(by_tenant) > 1 else in_two(arrivals, error)


def _waiting(arrival: Arrival) -> Failure:
    return Failure(arrival=arrival, attempts=0, next_attempt_at=None, error=None)


def _name(error: Exception) -> str:
    # Its words may quote what was in the event; its class does not.
    return error.code if isinstance(error, TidingsError) else type(error).__name__


async def _all(*parts: Coroutine[None, None, None]) -> None:
    """Let every part end before the first one's error is raised: none goes on behind our back."""
    results = await asyncio.gather(*parts, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
