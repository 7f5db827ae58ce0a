"""The only Python here that runs SQL on the pictures of versions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidings.kernel.db import TenantTx
from tidings.kernel.sql import Queries, Query
from tidings.notify.ids import TemplateVersionId
from tidings.notify.templates.assets import Asset
from tidings.notify.templates.model import AssetFacts, TemplateVersion
from tidings.notify.templates.store import Side

QUERIES = Queries.beside(__file__)


async def find_assets(tx: Side, version: TemplateVersion, *, name: str | None = None) -> list[Asset]:
    """The version's pictures, or one of them; no statement for a version that has none."""
    if not version.assets:
        return []
    if isinstance(tx, TenantTx) and version.tenant_id is not None:
        rows = await tx.fetch(QUERIES.find_assets, tenant_id=tx.tenant_id, version_id=version.id, name=name)
    else:
        rows = await tx.fetch(QUERIES.find_platform_assets, version_id=version.id, name=name)
    return [Asset(row["name"], bytes(row["content"])) for row in rows]


async def put_assets(tx: Side, fresh: Sequence[tuple[TemplateVersionId, Asset]], *, now: datetime) -> None:
    """Add or change pictures of drafts; one statement for all of them."""
    if not fresh:
        return
    query, scope = _side(tx, QUERIES.put_assets, QUERIES.put_platform_assets)
    await tx.execute(
        query,
        version_ids=[version_id for version_id, _ in fresh],
        names=[asset.name for _, asset in fresh],
        contents=[asset.content for _, asset in fresh],
        now=now,
        **scope,
    )


async def delete_assets(tx: Side, gone: Sequence[tuple[TemplateVersionId, str]]) -> None:
    """Take pictures of drafts away, each by its version and its name."""
    if not gone:
        return
    query, scope = _side(tx, QUERIES.delete_assets, QUERIES.delete_platform_assets)
    await tx.execute(
        query,
        version_ids=[version_id for version_id, _ in gone],
        names=[name for _, name in gone],
        **scope,
    )


async def note_assets(
    tx: Side, version_id: TemplateVersionId, facts: Mapping[str, AssetFacts], now: datetime
) -> None:
    """Write down with a draft what it has."""
    assets = msgspec.json.encode(dict(sorted(facts.items()))).decode()
    if isinstance(tx, TenantTx):
        await tx.execute(
            QUERIES.note_assets, tenant_id=tx.tenant_id, version_id=version_id, assets=assets, now=now
        )
    else:
        await tx.execute(QUERIES.note_platform_assets, version_id=version_id, assets=assets, now=now)


def _side(tx: Side, own: Query, platforms: Query) -> tuple[Query, dict[str, Any]]:
    return (own, {"tenant_id": tx.tenant_id}) if isinstance(tx, TenantTx) else (platforms, {})
