"""The only Python here that runs SQL on the activity ledger."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tidings.backoffice.activity.model import Activity, Outcome
from tidings.backoffice.ids import ActivityId
from tidings.kernel.bounded_scan import Glance, ScannedPage, scan_back
from tidings.kernel.db import PlatformTx, TenantsTx, TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries, Query

QUERIES = Queries.beside(__file__)
#: Sorts behind every id.
_AFTER_ALL: Final = "act_~"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityFilter:
    """Which rows are wanted; None: all."""

    #: Who reads, and the properties that they have a right to; None: all of them.
    reader: str
    properties: list[str] | None
    since: datetime
    until: datetime
    operator_id: str | None = None
    property_id: str | None = None
    action: str | None = None
    category: str | None = None
    outcome: Outcome | None = None
    resource_id: str | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether rows are looked at that do not fit, besides those that an index leaves out."""
        index = self.operator_id is not None, self.action is not None
        others = (self.property_id, self.category, self.outcome, self.resource_id, self.properties)
        return all(index) or any(one is not None for one in others)


async def insert_activity(tx: TenantsTx | PlatformTx, rows: Sequence[Activity]) -> None:
    """Write a set."""
    await tx.execute(
        QUERIES.insert_activity,
        ids=[row.id for row in rows],
        tenant_ids=[row.tenant_id for row in rows],
        occurred_at=[row.occurred_at for row in rows],
        property_ids=[row.property_id for row in rows],
        operator_ids=[row.operator_id for row in rows],
        device_ids=[row.device_id for row in rows],
        session_ids=[row.session_id for row in rows],
        categories=[row.category for row in rows],
        actions=[row.action for row in rows],
        resource_kinds=[row.resource_kind for row in rows],
        resource_ids=[row.resource_id for row in rows],
        outcomes=[row.outcome for row in rows],
        statuses=[row.status for row in rows],
        error_codes=[row.error_code for row in rows],
        latencies=[row.latency_ms for row in rows],
        context_hashes=[row.context_hash for row in rows],
    )


async def list_activity(
    tx: TenantTx | PlatformTx, wanted: ActivityFilter, *, after_id: ActivityId | None, limit: int
) -> ScannedPage[ActivityId, Activity]:
    """The newest first, from a cursor on; of rare ones maybe fewer, with a place to go on from."""
    of_platform = isinstance(tx, PlatformTx)
    way = "operator" if wanted.operator_id else "action" if wanted.action else "time"
    query = _LOOKS[of_platform, way]

    async def look(*, before_at: datetime, before_id: str, most: int) -> Glance[ActivityId]:
        row = await tx.fetch_one(query, wanted, before_at=before_at, before_id=before_id, most=most)
        return Glance.of(row)

    async def find(ids: Sequence[ActivityId]) -> Mapping[ActivityId, Activity]:
        if not ids:
            return {}
        found = QUERIES.find_activity_of_platform if of_platform else QUERIES.find_activity
        rows = await tx.fetch(found, ids=list(ids), oldest=time_of(ids[-1]), newest=time_of(ids[0]))
        return {row.id: row for row in map(_from_row, rows)}

    # Behind all rows of the last millisecond.
    start = (wanted.until, _AFTER_ALL) if after_id is None else (time_of(after_id), after_id)
    return await scan_back(look, find, start=start, limit=limit, filtered=wanted.is_filtered)


#: Whose, and by which index.
_LOOKS: Final[Mapping[tuple[bool, str], Query]] = {
    (False, "operator"): QUERIES.look_by_operator,
    (False, "action"): QUERIES.look_by_action,
    (False, "time"): QUERIES.look_by_time,
    (True, "operator"): QUERIES.look_by_operator_of_platform,
    (True, "action"): QUERIES.look_by_action_of_platform,
    (True, "time"): QUERIES.look_by_time_of_platform,
}
_from_row = RowMapper(Activity, [QUERIES.find_activity, QUERIES.find_activity_of_platform])
