"""The only Python here that runs SQL on inbound routes."""

from datetime import datetime

from tidings.kernel.db import TenantTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.router.inbound_routes.model import InboundRoute, InboundRouteId

QUERIES = Queries.beside(__file__)


async def find_serving(tx: TenantTx, *, now: datetime) -> dict[str, InboundRouteId]:
    """Where the tenant is told, by number."""
    rows = await tx.fetch(QUERIES.find_serving, now=now)
    return {row["inbound"]: row["id"] for row in rows}


async def list_routes(
    tx: TenantTx, *, after_id: str | None, inbound: str | None, with_removed: bool, limit: int
) -> list[InboundRoute]:
    """Some of them, the newest first."""
    rows = await tx.fetch(
        QUERIES.list_routes, after_id=after_id, inbound=inbound, with_removed=with_removed, limit=limit
    )
    return [_route(row) for row in rows]


async def find_route(tx: TenantTx, route_id: InboundRouteId) -> InboundRoute | None:
    """The route, removed or not."""
    row = await tx.fetch_one(QUERIES.find_route, id=route_id)
    return None if row is None else _route(row)


async def lock_route(tx: TenantTx, route_id: InboundRouteId) -> InboundRoute | None:
    """The same, to be changed."""
    row = await tx.fetch_one(QUERIES.lock_route, id=route_id)
    return None if row is None else _route(row)


async def insert_route(tx: TenantTx, route: InboundRoute) -> bool:
    """Write a new one; False where the number is taken."""
    return bool(
        await tx.execute(
            QUERIES.insert_route,
            route,
            now=route.created_at,
        )
    )


async def update_route(tx: TenantTx, route: InboundRoute) -> None:
    """Write a changed one."""
    await tx.execute(QUERIES.update_route, route)


async def find_outlived(tx: WorkerTx, *, now: datetime, limit: int) -> list[tuple[TenantId, InboundRouteId]]:
    """Removed ones that still have their number, and should not any more."""
    rows = await tx.fetch(QUERIES.find_outlived, now=now, limit=limit)
    return [(row["tenant_id"], row["id"]) for row in rows]


_route = RowMapper(InboundRoute, [QUERIES.list_routes, QUERIES.find_route, QUERIES.lock_route])
