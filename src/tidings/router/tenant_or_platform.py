"""Routes that stand twice: for a tenant's own things, and for the platform's."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Request

from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.http.callers import TenantNeed, caller_of, tenant_of


def name_of(handler: str, need: TenantNeed) -> str:
    """What the API's description calls it."""
    return f"{handler}_of_platform" if need is TenantNeed.NONE else handler


def tx_of(
    request: Request[Any, Any, Any],
    db: Database,
    need: TenantNeed,
) -> AbstractAsyncContextManager[TenantTx] | AbstractAsyncContextManager[PlatformTx]:
    """A transaction of the tenant that the caller acts for, or of the platform."""
    role = caller_of(request).role
    if need is TenantNeed.NONE:
        return db.platform(caller_role=role)
    return db.tenant(tenant_of(request), caller_role=role)
