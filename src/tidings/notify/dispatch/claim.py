"""Fair claims across tenants: priority first, then the tenants round-robin, each with its share by weight."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tidings.contracts.ids import NotificationId
from tidings.kernel.db import Database, Row, WorkerTx
from tidings.kernel.durable.presence import WorkerId
from tidings.kernel.errors import DatabaseError
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import tuple_columns
from tidings.kernel.sql import Queries
from tidings.notify.dispatch.store import OwnedId

QUERIES = Queries.beside(__file__)

LOWEST: Final = 3
#: Tenants that get a turn in one round at most.
_MOST_SEATS: Final = 100
#: Rounds of one claim at most: to the end of the circle, from its beginning, and for those who have more than their share.
_MOST_ROUNDS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedBatches:
    """Notifications of one priority, by tenant."""

    by_tenant: Mapping[TenantId, Sequence[NotificationId]]
    #: The priority that all of them have.
    rank: int = LOWEST
    #: Something that was asked for may still be free: of a lower priority, or because a round failed.
    leaves_some: bool = False

    def __len__(self) -> int:
        return sum(map(len, self.by_tenant.values()))


class FairClaimer:
    """Remembers at which tenant it stopped, so that the round-robin goes on there."""

    def __init__(self, db: Database) -> None:
        self._db = db
        #: The circle goes by the tenants' ids; '' is its beginning.
        self._after = ""

    async def claim(
        self, worker: WorkerId, *, most: int, to_rank: int = LOWEST, full: Collection[TenantId] = ()
    ) -> ClaimedBatches:
        """The next ones, marked as ours; tenants that are `full` are passed over."""
        # Where a tenant is full, all tenants that have any of the best priority may be: then the next one is asked for.
        for from_rank in range(to_rank + 1 if full else 1):
            claimed = await self._rounds(
                most=most, ranks=(from_rank, to_rank), worker=worker, full=list(full)
            )
            if claimed:
                return claimed
        return ClaimedBatches(by_tenant={})

    async def _rounds(self, *, most: int, ranks: tuple[int, int], **asked: Any) -> ClaimedBatches:
        """Along the circle, until there are enough or nobody has more: what some leave of their shares goes to others."""
        claimed: dict[TenantId, list[NotificationId]] = {}
        left, after, leaves_some = most, self._after, False
        to_rank = ranks[1]
        for _ in range(_MOST_ROUNDS):
            try:
                rows = await self._round(after=after, most=left, ranks=ranks, **asked)
            except DatabaseError:
                if not claimed:
                    raise
                leaves_some = True
                break  # What the rounds before have claimed is ours.
            before, after, has_more = after, "", False
            if rows:
                for row in rows:
                    ids = claimed.setdefault(TenantId(row["tenant_id"]), [])
                    ids.append(NotificationId(row["notification_id"]))
                got = Counter(row["tenant_id"] for row in rows)
                has_more = any(got[row["tenant_id"]] == row["share"] for row in rows)
                self._after = after = rows[0]["stopped_at"]
                if ranks[1] == to_rank:
                    leaves_some = rows[0]["leaves_lower"]
                ranks = (rows[0]["priority"], rows[0]["priority"])
                left -= len(rows)
            # From somewhere in the circle to its end is not all of it, nor is a part that ends before.
            if left <= 0 or not (before or after or has_more):
                break
        return ClaimedBatches(by_tenant=claimed, rank=ranks[0], leaves_some=leaves_some)

    async def _round(self, *, most: int, ranks: tuple[int, int], **asked: Any) -> list[Row]:
        """One statement, which is all of its transaction: one round trip."""
        async with self._db.worker(claims=True, pipelined=True) as tx:
            tx.commit_with_next()
            return await tx.fetch(
                QUERIES.claim,
                most=most,
                seats=min(most, _MOST_SEATS),
                from_rank=ranks[0],
                to_rank=ranks[1],
                **asked,
            )


async def give_back(
    tx: WorkerTx, batch: Sequence[OwnedId], *, worker: WorkerId, to_blame: bool = True
) -> dict[OwnedId, int]:
    """Free them again; how often each has failed by now. `to_blame`: the failure may be theirs."""
    rows = await tx.fetch(
        QUERIES.give_back,
        worker=worker,
        blame=int(to_blame),
        **tuple_columns(batch, "tenant_ids notification_ids"),
    )
    return {(row["tenant_id"], row["notification_id"]): row["attempts"] for row in rows}


async def free_orphans(tx: WorkerTx, *, worker: WorkerId | None = None, held: Sequence[str] = ()) -> int:
    """Free what workers had claimed that are gone, and what `worker` has claimed and does not hold."""
    return await tx.execute(QUERIES.free_orphans, worker=worker, held=list(held))
