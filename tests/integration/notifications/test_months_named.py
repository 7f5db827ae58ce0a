"""However old an installation is, a statement locks the months of its rows and no others."""

from datetime import timedelta

from tests.support.postgres import TestDatabase
from tidings.contracts.ids import NOTIFICATION
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.sql import created_columns
from tidings.notify.notifications.store import QUERIES
from tidings.operations.partitions import make_missing

_MONTHS = 12
_LOCKED = """
SELECT count(*) FROM pg_locks JOIN pg_class ON pg_class.oid = relation
WHERE pid = pg_backend_pid() AND relispartition AND relkind = 'r' AND relname LIKE 'notifications\\_%\\_y%'
"""


async def test_a_statement_locks_the_months_of_its_rows_alone(
    fresh_database: TestDatabase, fresh_db: Database, tenant_id: TenantId
) -> None:
    now = SystemClock().now()
    async with fresh_database.owner() as owner:
        for month in range(_MONTHS):
            await make_missing(owner, now - timedelta(days=30 * month))
    query = QUERIES.find_notifications
    arguments = query.arguments(
        {"tenant_id": tenant_id, "ids": [NOTIFICATION.new(now)], **created_columns([now])}
    )
    locked: dict[str, int] = {}
    for name, text in {"named": query.text_for(arguments), "unnamed": query.text}.items():
        async with fresh_db.tenant(tenant_id, by_index=True) as tx:
            await tx.connection.fetch(text, *arguments)
            locked[name] = await tx.connection.fetchval(_LOCKED)

    assert locked["unnamed"] >= 3 * _MONTHS
    assert locked["named"] == 3
