"""How planned work and firings are found: each filter by the index that is meant for it, and none by reading the table."""

import re
from typing import Any

import pytest

from tests.support.pipeline import PipelineWorld
from tests.support.query_plans import explained
from tidings.kernel.ids import TenantId
from tidings.kernel.sql import Query
from tidings.notify.schedule.firings import QUERIES as FIRINGS
from tidings.notify.schedule.store import QUERIES as SCHEDULE
from tidings.notify.triggers.store import QUERIES as TRIGGERS

pytestmark = pytest.mark.xdist_group("triggers-plans")

_SUBJECTS = {
    "tenant_ids": ["tnt_1"],
    "trigger_ids": ["trg_1"],
    "event_sources": ["/pms"],
    "event_subjects": ["res-1"],
}
_WORK = {
    "status": None,
    "trigger_id": None,
    "subject": None,
    "recipient_id": None,
    "tests_only": False,
    "before_id": "sch_~",
    "most": 2000,
}
_LINES = {"trigger_id": None, "result": None, "before_id": "fir_~", "most": 2000}


@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize(
    ("query", "values", "index"),
    [
        (
            SCHEDULE.look_back,
            _WORK | {"status": "planned", "trigger_id": "trg_1"},
            "pk_notification_scheduled",
        ),
        (SCHEDULE.look_back_at_subject, _WORK | {"subject": "res-1"}, "ix_notification_scheduled_about"),
        (
            SCHEDULE.look_back_at_recipient,
            _WORK | {"recipient_id": "rcp_1"},
            "ix_notification_scheduled_recipient",
        ),
        (SCHEDULE.look_back_at_failed, _WORK | {"status": "failed"}, "ix_notification_scheduled_failed"),
        (FIRINGS.look_back, _LINES | {"trigger_id": "trg_1", "result": "sent"}, "pk_trigger_firings"),
        (FIRINGS.look_back_at_failed, _LINES | {"result": "failed"}, "ix_trigger_firings_failed"),
        (TRIGGERS.lines_about, _SUBJECTS | {"most": 20000}, "ix_trigger_firings_told"),
    ],
    ids=lambda one: one.name if isinstance(one, Query) else "",
)
async def test_each_filter_has_its_index(
    world: PipelineWorld, plan: str, query: Query, values: dict[str, Any], index: str
) -> None:
    told = await _explained(world, plan, query, values)

    assert re.search(rf"using {index} on", told), told
    sorted_by = re.findall(r"Sort Key: (\w+)\.", told)
    assert sorted_by in ([], ["seen"]), told


async def test_a_thing_that_was_moved_a_thousand_times_is_found_as_fast_as_another(
    world: PipelineWorld,
) -> None:
    """What is over is not read again with every event about it."""
    tenant_id = await world.tenant()
    async with world.unguarded("notification.notification_scheduled") as owner:
        await owner.execute(
            "INSERT INTO notification.notification_scheduled (tenant_id, id, kind, run_after, trigger_id, event_source, "
            "event_subject, obsolete, processed_at, payload_ciphertext) "
            "SELECT $1, 'sch_' || lpad(n::text, 26, '0'), 'trigger', now(), 'trg_1', '/pms', 'res-1', n < 3000, "
            "CASE WHEN n < 3000 THEN now() END, CASE WHEN n = 3000 THEN 'x'::bytea END FROM generate_series(1, 3000) AS n",
            tenant_id,
        )
        await owner.execute("ANALYZE notification.notification_scheduled")
    told = await _explained(
        world,
        "force_generic_plan",
        SCHEDULE.lock_planned_of_subjects,
        _SUBJECTS | {"tenant_ids": [tenant_id]},
        how="ANALYZE, BUFFERS OFF, TIMING OFF, SUMMARY OFF, COSTS OFF",
        tenant_id=tenant_id,
    )

    assert "using ix_notification_scheduled_planned_subject on" in told, told
    assert "Rows Removed" not in told
    assert re.search(r"^LockRows \(actual rows=1 ", told), told


async def _explained(
    world: PipelineWorld,
    plan: str,
    query: Query,
    values: dict[str, Any],
    *,
    how: str = "COSTS OFF",
    tenant_id: TenantId | None = None,
) -> str:
    tenant_id = tenant_id or await world.tenant()
    async with world.db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            f"SET LOCAL plan_cache_mode = {plan}; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off"
        )
        given = values | ({"tenant_id": tenant_id} if "tenant_id" in query.parameters else {})
        return await explained(tx.connection, query, given, how=how)
