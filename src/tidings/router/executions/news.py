"""Ladders in our hands as they stand now, with what was heard of their messages since."""

from collections.abc import Sequence

from tidings.kernel.db import Database, TenantTx
from tidings.kernel.ids import TenantId
from tidings.router.executions import store
from tidings.router.executions.model import ExecutionId, Live
from tidings.router.ladder.model import Heard


async def load(
    db: Database, tenant_id: TenantId, ids: Sequence[ExecutionId], *, worker: str
) -> list[tuple[Live, tuple[Heard, ...]]]:
    """Those that are still ours."""
    async with db.tenant(tenant_id, by_index=True) as tx:
        lives = await store.load_claimed(tx, ids, worker=worker)
        heard = await _heard(tx, [live for live in lives if live.receipts])
    return [(live, tuple(heard.get(live.id, ()))) for live in lives]


async def _heard(tx: TenantTx, lives: Sequence[Live]) -> dict[ExecutionId, list[Heard]]:
    """All receipts of these, also those heard before: to hear one twice changes nothing."""
    if not lives:
        return {}
    owners = {past.id: live.id for live in lives for past in live.here.past}
    attempts = [(past.id, past.started_at) for live in lives for past in live.here.past]
    found: dict[ExecutionId, list[Heard]] = {}
    for row in await store.find_receipts(tx, attempts):
        one = Heard(attempt_id=row["attempt_id"], status=row["status"], reason=row["reason"])
        found.setdefault(owners[one.attempt_id], []).append(one)
    return found
