"""Settles lock actions whose answer was never learned: asks the lock service what came of them, until it says or a day is over."""

import asyncio
from dataclasses import dataclass
from typing import Final

from tidings.backoffice.ids import LockAuditId
from tidings.backoffice.lock_actions import store
from tidings.backoffice.lock_actions.ledger import LockLedger
from tidings.backoffice.lock_actions.model import GIVE_UP_AFTER, PendingAction, ask_again_in
from tidings.backoffice.lock_actions.perform import ACTIONS_PATH
from tidings.backoffice.metrics import BackofficeMetrics
from tidings.backoffice.upstreams.client import Upstreams, at
from tidings.backoffice.upstreams.contract.locks import LockActionResult
from tidings.backoffice.upstreams.errors import UpstreamAwayError
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.job_watch import turn_is_over
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger

#: Seconds between two looks.
_EVERY: Final = 5.0
_MOST: Final = 200
_AT_ONCE: Final = 8

_log = get_logger("backoffice")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LockSettler:
    """Any number of processes may run it: whoever removes what is pending writes how it ended."""

    db: Database
    upstreams: Upstreams
    ledger: LockLedger
    metrics: BackofficeMetrics
    clock: Clock

    async def run(self, stop: asyncio.Event) -> None:
        """Until told to stop."""
        while not stop.is_set():
            try:
                await self.settle_due()
            except TidingsError as error:
                _log.error("lock_actions_not_settled", code=error.code)
            await wait_for_stop(stop, _EVERY)

    async def settle_due(self) -> int:
        """Ask about all that are due; how many ended."""
        async with self.db.worker() as tx:
            due = await store.due_actions(tx, now=self.clock.now(), limit=_MOST)
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(tenant_id: TenantId, action_id: LockAuditId) -> bool:
            async with room:
                turn_is_over()
                return await self._settle(tenant_id, action_id)

        return sum(await asyncio.gather(*(one(*each) for each in due)))

    async def _settle(self, tenant_id: TenantId, action_id: LockAuditId) -> bool:
        async with self.db.tenant(tenant_id) as tx:
            pending = await store.find_pending(tx, action_id)
        if pending is None:
            return False
        if pending.unknown_id is None:
            # Its process was killed: said before it is asked about.
            async with self.db.tenant(tenant_id) as tx:
                await self.ledger.unknown(tx, pending, "process_ended")
                pending = await store.find_pending(tx, action_id)
            if pending is None:
                return False
        try:
            answer = await self.upstreams.call(
                "locks",
                "GET",
                at(f"{ACTIONS_PATH}/{{}}", pending.property_id, pending.id),
                tenant_id=tenant_id,
            )
            result = answer.read(LockActionResult) if answer.status == 200 else None
        except UpstreamAwayError:
            return await self._ask_again(pending)
        if result is None and answer.status != 404:
            return await self._ask_again(pending)
        async with self.db.tenant(tenant_id) as tx:
            ended = await self.ledger.ended(
                tx,
                pending,
                # The lock service never got it, and its request has long ended.
                "failure" if result is None else result.outcome,
                error_code="not_received" if result is None else result.error_code,
                result=result,
                request_id=answer.request_id,
                latency_ms=answer.latency_ms,
            )
        self.metrics.lock_actions_settled.labels("failure" if result is None else result.outcome).inc()
        return ended is not None

    async def _ask_again(self, pending: PendingAction) -> bool:
        now = self.clock.now()
        async with self.db.tenant(pending.tenant_id) as tx:
            if now - pending.asked_at < GIVE_UP_AFTER:
                due_at = now + ask_again_in(pending.attempts)
                await store.postpone_pending(tx, pending.id, due_at=due_at, unknown_id=pending.unknown_id)
                return False
            # The alert stays: somebody has to look at the door.
            await self.ledger.ended(tx, pending, "unknown", error_code="never_learned")
        self.metrics.lock_actions_settled.labels("unknown").inc()
        return True
