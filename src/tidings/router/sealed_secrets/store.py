"""The only Python here that runs SQL on entered secrets."""

from collections.abc import Sequence
from datetime import datetime

from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.router.sealed_secrets.model import SealedSecret

QUERIES = Queries.beside(__file__)


async def lock_secret(tx: TenantTx | PlatformTx, name: str) -> None:
    """Wait for a transaction that is changing the same one."""
    await tx.fetch(QUERIES.lock_secret, name=name)


async def find_secrets(
    tx: TenantTx | PlatformTx, names: Sequence[str] | None = None
) -> dict[str, SealedSecret]:
    """The owner's, by name; all where None."""
    rows = await tx.fetch(QUERIES.find_secrets, names=None if names is None else list(names))
    return {row["name"]: _from_row(row) for row in rows}


async def find_webhooks(tx: TenantTx) -> dict[str, list[str]]:
    """The inbound routes that sign with one, by its reference."""
    found: dict[str, list[str]] = {}
    for row in await tx.fetch(QUERIES.find_webhooks):
        found.setdefault(row["secret_ref"], []).append(row["id"])
    return found


async def insert_secret(
    tx: TenantTx | PlatformTx, name: str, box: bytes, *, actor: str, now: datetime
) -> None:
    """Write a new one."""
    await tx.execute(QUERIES.insert_secret, name=name, box=box, now=now, actor=actor)


async def update_secret(
    tx: TenantTx | PlatformTx, name: str, box: bytes, *, actor: str, now: datetime
) -> None:
    """Write another one in its place."""
    await tx.execute(QUERIES.update_secret, name=name, box=box, now=now, actor=actor)


async def delete_secret(tx: TenantTx | PlatformTx, name: str) -> None:
    """Remove it."""
    await tx.execute(QUERIES.delete_secret, name=name)


_from_row = RowMapper(SealedSecret, [QUERIES.find_secrets])
