"""The only Python here that runs SQL on layouts: texts of a tenant that its templates share."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.notify.templates.store import Side

QUERIES = Queries.beside(__file__)

#: Layouts that a tenant may have, and characters of one.
MOST: Final = 100
LONGEST: Final = 300_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A text by its name."""

    name: str
    text: str
    version: int
    updated_by: str
    updated_at: datetime


async def list_layouts(tx: Side) -> list[Layout]:
    """All of them; the platform has none."""
    if not isinstance(tx, TenantTx):
        return []
    return [_layout(row) for row in await tx.fetch(QUERIES.list_layouts)]


async def find_layout(tx: TenantTx, *, name: str, lock: bool = False) -> Layout | None:
    """One of them; held until the end of the transaction where that is wanted."""
    query = QUERIES.lock_layout if lock else QUERIES.find_layout
    row = await tx.fetch_one(query, name=name)
    return _layout(row) if row else None


async def put_layouts(tx: TenantTx, texts: Mapping[str, str], *, actor: str, now: datetime) -> None:
    """Add or change layouts; one statement for all of them."""
    await tx.execute(QUERIES.put_layouts, names=list(texts), texts=list(texts.values()), actor=actor, now=now)


async def delete_layout(tx: TenantTx, *, name: str) -> None:
    """Take one away; versions that were published with it keep it."""
    await tx.execute(QUERIES.delete_layout, name=name)


_layout = RowMapper(Layout, [QUERIES.list_layouts, QUERIES.lock_layout, QUERIES.find_layout])
