"""The operation that reads notify's audit; nothing is written here."""

from typing import Annotated

from msgspec import Meta

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

audit_trail = Resource("audit", at="/audit", tag="audit", scope="audit", owner=Owner.CALLER)

_Word = Annotated[str, Meta(min_length=1, max_length=300)]


class ListAudit(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which rows are wanted."""

    entity_type: Annotated[
        _Word | None, Meta(description="Only this kind of thing: `api_key`, `tenant`.")
    ] = None
    entity_id: Annotated[_Word | None, Meta(description="Only the thing with this id.")] = None


@audit_trail.get()
async def list_audit(tx: OwnerTx, query: ListAudit, paging: Paging, audit: AuditLog) -> Page[AuditView]:
    """List what happened, the newest first.

    With a platform key: the platform's own rows, or those of the tenant that X-Tenant-Id names.
    """
    after = paging.after_id
    rows = await audit.read_recent(
        tx,
        entity_type=query.entity_type,
        entity_id=query.entity_id,
        before=AuditId(after) if after else None,
        limit=paging.fetch,
    )
    return paging.page(rows, AuditView.of)


@audit_trail.post("/verify", verb="verify", writes=False, scope="audit:read")
async def verify_audit(caller: Caller, db: Database, limits: Limits, audit: AuditLog) -> VerificationView:
    """Verify that the audit is as it was written: every row is hashed anew, and has to follow the one before.

    Of one tenant, or with a platform key of the platform; some 20,000 rows at most. `tidings audit verify` reads all of
    it, and the anchors' signatures.
    """
    return VerificationView.of(await verify_owner(db, limits, audit.schema, caller.tenant_id))
