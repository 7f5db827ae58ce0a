"""The use case "these steps are ready": hand whole sets to vendors, learn what became of each, write it."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

from tidings.contracts.messages import OutboundMessage
from tidings.kernel.clock import Clock
from tidings.kernel.ids import TenantId
from tidings.router.executions.model import Live, Note, Observer
from tidings.router.executions.record import Recorder
from tidings.router.ladder.decide import Ladder, told_as
from tidings.router.ladder.model import EXPIRED, End
from tidings.router.vendors.vendors import Vendors


class Caller:
    """Calls vendors for ladders whose calls are noted; no transaction is open meanwhile."""

    def __init__(
        self,
        vendors: Vendors,
        recorder: Recorder,
        *,
        ladder: Ladder,
        clock: Clock,
        luck: Callable[[], float],
        observer: Observer,
    ) -> None:
        self.recorder = recorder
        self.ladder = ladder
        self._vendors = vendors
        self._clock = clock
        self._luck = luck
        self._observer = observer

    async def call(
        self, tenant_id: TenantId, worker: str, calls: Sequence[tuple[Live, OutboundMessage]]
    ) -> None:
        """Each vendor gets its set at once; a slow one keeps no other waiting."""
        now = self._clock.now()
        too_late: list[Note] = []
        by_vendor: dict[str, list[tuple[Live, OutboundMessage]]] = {}
        for live, message in calls:
            here = live.here
            if now >= here.expires_at:
                too_late.append(Note(live=live, decision=End(result="FAILED", reason=EXPIRED)))
                continue
            vendor = self._vendors.of(here.steps[here.step - 1].vendor, message, is_test=live.is_test)
            by_vendor.setdefault(vendor, []).append((live, message))
        sets = [self._call(tenant_id, worker, vendor, some) for vendor, some in by_vendor.items()]
        if too_late:
            sets.append(self.recorder.record(tenant_id, worker, too_late))
        if len(sets) == 1:
            await sets[0]
        else:
            await asyncio.gather(*sets)

    async def _call(
        self, tenant_id: TenantId, worker: str, vendor: str, calls: Sequence[tuple[Live, OutboundMessage]]
    ) -> None:
        started = self._clock.monotonic()
        sent = await self._vendors.send(tenant_id, vendor, [message for _, message in calls])
        now = self._clock.now()
        notes = [
            Note(
                live=live,
                decision=self.ladder.after(live.here, outcome, now=now, luck=self._luck()),
                happened=outcome,
                vendor=sent.vendor,
                account_id=sent.account_id,
            )
            for (live, _), outcome in zip(calls, sent.outcomes, strict=True)
        ]
        took = self._clock.monotonic() - started
        statuses = Counter(told[0] for outcome in sent.outcomes if (told := told_as(outcome)))
        for status, count in statuses.items():
            self._observer.called(sent.vendor, status, count, took)
        await self.recorder.record(tenant_id, worker, notes)
