"""What batches add to the hot statements is found by its key, whatever is known of the ledger's size."""

import re

import pytest

from tests.integration.batches.arranging import crowd
from tests.support.pipeline import PipelineWorld
from tidings.kernel.sql import Query
from tidings.notify.dispatch.outcome import QUERIES as OUTCOMES
from tidings.notify.dispatch.store import QUERIES as DISPATCH


async def _plan(world: PipelineWorld, query: Query) -> str:
    tenant_id = await world.tenant()
    await crowd(world, tenant_id, 1)
    async with world.db.tenant(tenant_id, by_index=True) as tx:
        await tx.connection.execute(f"PREPARE asked AS {query.text}")
        try:
            values = ", ".join("NULL" for _ in query.parameters)
            rows = await tx.connection.fetch(f"EXPLAIN EXECUTE asked({values})")
        finally:
            await tx.connection.execute("DEALLOCATE asked")
    return "\n".join(row[0] for row in rows)


@pytest.mark.parametrize("query", [DISPATCH.move, OUTCOMES.settle], ids=lambda query: query.name)
async def test_the_ledger_is_found_by_its_key(world: PipelineWorld, query: Query) -> None:
    told = await _plan(world, query)

    assert "Seq Scan on batch_people" not in told, told
    assert re.search(r"pk_batch_people on batch_people", told), told
