"""Fair claims across tenants: priority first, then the tenants round-robin, each with its share by weight."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tidings.contracts.ids import NotificationId
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.durable.presence import WorkerId
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import tuple_columns
from tidings.kernel.sql import Queries
from tidings.notify.dispatch.store import OwnedId

QUERIES = Queries.beside(__file__)

LOWEST: Final = 3
#: Tenants that get a turn in one round at most.
_MOST_SEATS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedBatches:
    """Notifications of one priority, by tenant."""

    by_tenant: Mapping[TenantId, Sequence[NotificationId]]
    #: The priority that all of them have.
    rank: int = LOWEST
    #: A tenant got its whole share and may have more, or the circle of tenants was cut at its end.
    more: bool = False

    def __len__(self) -> int:
        return sum(map(len, self.by_tenant.values()))


class FairClaimer:
    """Remembers which tenant was last, so that the round-robin goes on where it stopped."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._after = ""

    async def claim(
        self, worker: WorkerId, *, most: int, to_rank: int = LOWEST, full: Collection[TenantId] = ()
    ) -> ClaimedBatches:
        """The next ones, marked as ours; tenants that are `full` are passed over."""
        async with self._db.worker(claims=True) as tx:
            # Where a tenant is full, all tenants that have any of the best priority may be: then the next one is asked for.
            for from_rank in range(to_rank + 1 if full else 1):
                found = await self._round(
                    tx, worker=worker, most=most, from_rank=from_rank, to_rank=to_rank, full=list(full)
                )
                if found:
                    return await self._filled(tx, found, worker=worker, most=most, full=list(full))
        return ClaimedBatches(by_tenant={})

    async def _filled(
        self, tx: WorkerTx, found: ClaimedBatches, *, most: int, **asked: Any
    ) -> ClaimedBatches:
        """What tenants with little leave of their shares goes to those that have more, and to those at the beginning of the circle."""
        left = most - len(found)
        if left <= 0 or not found.more:
            return found
        rank = found.rank
        more = await self._round(tx, most=left, from_rank=rank, to_rank=rank, **asked)
        if more is None:
            return found
        by_tenant = {tenant_id: [*ids] for tenant_id, ids in found.by_tenant.items()}
        for tenant_id, ids in more.by_tenant.items():
            by_tenant.setdefault(tenant_id, []).extend(ids)
        return ClaimedBatches(by_tenant=by_tenant, rank=rank)

    async def _round(self, tx: WorkerTx, *, most: int, **asked: Any) -> ClaimedBatches | None:
        # The circle closes: tenants before the last one in the order of ids come after its end.
        for after in dict.fromkeys((self._after, "")):
            rows = await tx.fetch(
                QUERIES.claim, after=after, most=most, seats=min(most, _MOST_SEATS), **asked
            )
            if rows:
                found: dict[TenantId, list[NotificationId]] = {}
                for row in rows:
                    ids = found.setdefault(TenantId(row["tenant_id"]), [])
                    ids.append(NotificationId(row["notification_id"]))
                # A single tenant need not be looked for after itself first.
                self._after = max(found) if len(found) > 1 else ""
                shares = {row["tenant_id"]: row["share"] for row in rows}
                more = bool(after) or any(len(ids) == shares[tenant] for tenant, ids in found.items())
                return ClaimedBatches(by_tenant=found, rank=rows[0]["priority"], more=more)
        return None


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
