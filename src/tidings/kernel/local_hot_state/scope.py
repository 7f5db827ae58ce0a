"""Whose transaction a key belongs in."""

from contextlib import AbstractAsyncContextManager

from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId

_LONGEST_KEY = 500


def scope_of(
    db: Database, tenant_id: TenantId | None
) -> "AbstractAsyncContextManager[TenantTx | PlatformTx]":
    """The tenant's own transaction, or the platform's."""
    return db.platform() if tenant_id is None else db.tenant(tenant_id)


def checked_key(key: str) -> str:
    """The key, if an index can hold it."""
    if not 1 <= len(key) <= _LONGEST_KEY or "\x00" in key:
        raise BadValueError("key", f"must have 1 to {_LONGEST_KEY} characters, none of them null")
    return key
