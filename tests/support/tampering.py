"""Does to the audit what the product can't: as the owner, with the guards off."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from tests.support.postgres import TestDatabase

_TABLES = (
    "notification.audit",
    "notification.audit_heads",
    "chan.audit",
    "chan.audit_heads",
    "kernel.audit_anchors",
    "kernel.audit_anchor_lines",
)


@asynccontextmanager
async def tampering(database: TestDatabase) -> AsyncIterator[asyncpg.Connection]:
    """A connection for which nothing is append-only and no row is hidden; the guards are up again afterwards."""
    async with database.owner() as owner:
        for table in _TABLES:
            await owner.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
            await owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        try:
            yield owner
        finally:
            for table in _TABLES:
                await owner.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
                await owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
