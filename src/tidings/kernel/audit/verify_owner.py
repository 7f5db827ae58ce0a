"""Verifies the streams of one tenant, or the platform's own, for somebody who waits for the answer.

`AuditVerifier` reads a whole log; this reads the streams of one owner, so many rows at most, and not the anchors' signatures.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tidings.kernel.audit.chain import ChainFinding
from tidings.kernel.audit.record import AuditSchema
from tidings.kernel.audit.verify import AuditVerifier
from tidings.kernel.db import Database
from tidings.kernel.hot_state import Limits, Take
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import SlidingWindow
from tidings.kernel.refusals import TooBusyError

#: Rows that are read for one answer, about; a stream that was begun is read to its end.
MOST_ROWS: Final = 20_000
_MOST_FINDINGS: Final = 50
_LIMIT: Final = SlidingWindow(limit=30, window=timedelta(hours=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was found."""

    streams: int
    rows: int
    findings: tuple[ChainFinding, ...]
    #: Whether all streams were read; otherwise `tidings audit verify` reads the rest.
    is_complete: bool


async def verify_owner(
    db: Database, limits: Limits, schema: AuditSchema, tenant_id: TenantId | None
) -> Verification:
    """Every row is hashed anew, and has to follow the one before; at most 30 times in an hour."""
    (taken,) = await limits.take(tenant_id, [[Take(key=f"audit_verify:{schema}", limit=_LIMIT)]])
    if not taken.granted:
        raise TooBusyError
    verifier = AuditVerifier(db, schema, None)
    found: list[ChainFinding] = []
    is_complete = True
    for entity_type in await verifier.entity_types(tenant_id):
        if verifier.progress.rows >= MOST_ROWS or len(found) >= _MOST_FINDINGS:
            is_complete = False
            break
        check = await verifier.begin(tenant_id, entity_type)
        async for finding in verifier.walk(tenant_id, entity_type, check):
            found.append(finding)
    progress = verifier.progress
    return Verification(
        streams=progress.streams,
        rows=progress.rows,
        findings=tuple(found[:_MOST_FINDINGS]),
        is_complete=is_complete,
    )
