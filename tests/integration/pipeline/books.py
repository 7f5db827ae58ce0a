"""How much of everything a tenant has: what a refused request must not change."""

from tests.support.pipeline import Sender

_TABLES = (
    "notification.notifications",
    "notification.dispatch_queue",
    "notification.notification_scheduled",
    "notification.recipients",
    "notification.recipient_addresses",
    "notification.idempotency_keys",
    "notification.dedup_ledger",
    "notification.counters",
    "notification.template_versions",
    "kernel.data_keys",
)


async def books(sender: Sender) -> dict[str, int]:
    """Rows by table, events that wait, and files in the blob store."""
    world = sender.world
    found: dict[str, int] = {}
    async with world.db.tenant(sender.tenant_id) as tx:
        for table in _TABLES:
            query = f"SELECT count(*) FROM {table} WHERE tenant_id = $1"
            found[table] = await tx.connection.fetchval(query, sender.tenant_id)
    async with world.db.worker() as tx:
        query = "SELECT count(*) FROM notification.outbox WHERE tenant_id = $1"
        found["events"] = await tx.connection.fetchval(query, sender.tenant_id)
    found["files"] = sum(
        path.is_file() for path in (world.folder / "blobs").rglob(f"*{sender.tenant_id}*/**/*")
    )
    return found


def change(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """What differs, by how much."""
    return {name: after[name] - before[name] for name in after if after[name] != before[name]}
