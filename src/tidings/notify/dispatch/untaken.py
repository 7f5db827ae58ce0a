"""Hand-overs that were announced and that no router has taken: the event died, or was lost with the bus.

Each request is kept until the router says that it has taken it. It is asked some minutes after the announcement; what it does
not know is handed over again, later and later. The router's inbox makes it harmless to be wrong.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from typing import Final, TypeAlias

import msgspec

from tidings.contracts.delivery import (
    DISPATCH_REQUESTED_SUBJECT,
    DispatchRequested,
    HandOff,
    TakenHandOvers,
)
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.ids import NotificationId
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, Row, TenantsTx
from tidings.kernel.events import Event
from tidings.kernel.ids import EVENT
from tidings.kernel.logs import get_logger
from tidings.kernel.mapping import by_name, tuple_columns
from tidings.kernel.outbox import Outbox
from tidings.kernel.sql import Queries
from tidings.notify.dispatch.hand_over import FIRST_LOOK
from tidings.notify.dispatch.store import OwnedId
from tidings.notify.metrics import NotifyMetrics

QUERIES = Queries.beside(__file__)

#: Between two announcements of the same request at most.
_LONGEST: Final = timedelta(hours=6)
#: A transaction's worth.
_SET: Final = 1_000

_log = get_logger("hand_over")
_decode = msgspec.json.Decoder(DispatchRequested).decode
_encode = msgspec.json.Encoder().encode

#: Hands over what no router has taken, in a transaction that names its tenants.
HandOverAgain: TypeAlias = Callable[[TenantsTx, Sequence[HandOff]], Awaitable[object]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UntakenSweeper:
    """Forgets requests that were taken, and hands the others over again."""

    db: Database
    router: TakenHandOvers
    again: HandOverAgain
    _: KW_ONLY
    clock: Clock
    metrics: NotifyMetrics

    async def sweep(self, most: int) -> int:
        """Look at so many requests at most; how many were looked at."""
        looked_at = 0
        while looked_at < most:
            limit = min(_SET, most - looked_at)
            async with self.db.worker() as tx:
                rows = await tx.fetch(QUERIES.find_untaken, now=self.clock.now(), limit=limit)
            if rows:
                await self._settle(rows)
            looked_at += len(rows)
            if len(rows) < limit:
                break
        return looked_at

    async def _settle(self, rows: Sequence[Row]) -> None:
        kept = {_owned(row): row for row in rows}
        taken = await self.router.taken(sorted(kept))
        if taken:
            async with self.db.worker() as tx:
                await tx.execute(QUERIES.forget_taken, **tuple_columns(sorted(taken), "tenant_ids ids"))
        missing = [kept[owned] for owned in sorted(kept.keys() - taken)]
        if not missing:
            return
        async with self.db.tenants({row["tenant_id"] for row in missing}, by_index=True) as tx:
            await self._put_off(tx, missing)
            await self.again(tx, [_hand_off(row) for row in missing])
        self.metrics.hand_overs_repeated.inc(len(missing))
        _log.warning(
            "hand_overs_not_taken",
            count=len(missing),
            notification_ids=[row["notification_id"] for row in missing[:10]],
        )

    async def _put_off(self, tx: TenantsTx, rows: Sequence[Row]) -> None:
        now = self.clock.now()
        pauses = [min(_LONGEST, FIRST_LOOK * 2 ** min(row["announcements"], 10)) for row in rows]
        await tx.execute(
            QUERIES.put_off,
            **tuple_columns([_owned(row) for row in rows], "tenant_ids ids"),
            look_ats=[now + pause for pause in pauses],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AnnouncedAgain:
    """`HandOverAgain` for a router in another process: a new event with the same request."""

    outbox: Outbox
    clock: Clock

    async def __call__(self, tx: TenantsTx, hand_offs: Sequence[HandOff]) -> None:
        await self.outbox.append(tx, [self._event(one) for one in hand_offs])

    def _event(self, hand_off: HandOff) -> Event:
        return Event(
            id=EVENT.new(self.clock.now()),
            tenant_id=hand_off.tenant_id,
            subject=DISPATCH_REQUESTED_SUBJECT,
            ordering_key=hand_off.notification_id,
            data=_encode(by_name(DispatchRequested, hand_off)).decode(),
            source=NOTIFY_SOURCE,
            traceparent=hand_off.traceparent,
        )


def _owned(row: Row) -> OwnedId:
    return row["tenant_id"], NotificationId(row["notification_id"])


def _hand_off(row: Row) -> HandOff:
    return by_name(
        HandOff, _decode(row["request"]), tenant_id=row["tenant_id"], traceparent=row["traceparent"]
    )
