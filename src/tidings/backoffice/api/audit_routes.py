"""Operations that read and verify the back office's audit: operators, their rights, sessions and settings."""

from typing import Annotated

from msgspec import Meta

from tidings.backoffice.attestations.attest import seat_of
from tidings.contracts.audit import AuditView, VerificationView
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.audit.verify_owner import verify_owner
from tidings.kernel.db import Database
from tidings.kernel.hot_state import Limits
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OwnerTx
from tidings.kernel.http.paging import Page, PageQuery, Paging
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.ids import AuditId

audit_trail = Resource("audit", at="/audit", tag="audit", scope="audit", owner=Owner.OPERATOR)

_Word = Annotated[str, Meta(min_length=1, max_length=300)]


class ListBackofficeAudit(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which rows are wanted."""

    entity_type: Annotated[_Word | None, Meta(description="Only this kind of thing: `operator`.")] = None
    entity_id: Annotated[_Word | None, Meta(description="Only the thing with this id.")] = None


@audit_trail.get(listing="backoffice_audit", problems=["operators_only"])
async def list_backoffice_audit(
    tx: OwnerTx, query: ListBackofficeAudit, paging: Paging, caller: Caller, audit: AuditLog
) -> Page[AuditView]:
    """List what operators were given, did to others, and had to prove, the newest first."""
    seat_of(caller)
    after = paging.after_id
    rows = await audit.read_recent(
        tx,
        entity_type=query.entity_type,
        entity_id=query.entity_id,
        before=AuditId(after) if after else None,
        limit=paging.fetch,
    )
    return paging.page(rows, AuditView.of)


@audit_trail.post("/verify", verb="verify", writes=False, scope="audit:read", problems=["operators_only"])
async def verify_backoffice_audit(
    caller: Caller, db: Database, limits: Limits, audit: AuditLog
) -> VerificationView:
    """Verify that this audit is as it was written: every row is hashed anew, and has to follow the one before."""
    seat_of(caller)
    return VerificationView.of(await verify_owner(db, limits, audit.schema, caller.tenant_id))
