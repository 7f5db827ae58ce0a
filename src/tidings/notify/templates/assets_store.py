"""The only Python here that runs SQL on the pictures of versions."""

from collections.abc import Collection, Mapping
from datetime import datetime

import msgspec

from tidings.kernel.db import TenantTx
from tidings.kernel.ids import TemplateVersionId
from tidings.kernel.sql import Queries
from tidings.notify.templates.assets import Asset
from tidings.notify.templates.model import AssetFacts, Version
from tidings.notify.templates.store import Side

QUERIES = Queries.beside(__file__)


async def find_assets(tx: Side, version: Version, *, name: str | None = None) -> list[Asset]:
    """The version's pictures, or one of them; no statement for a version that has none."""
    if not version.assets:
        return []
    if isinstance(tx, TenantTx) and version.tenant_id is not None:
        rows = await tx.fetch(QUERIES.find_assets, tenant_id=tx.tenant_id, version_id=version.id, name=name)
    else:
        rows = await tx.fetch(QUERIES.find_platform_assets, version_id=version.id, name=name)
    return [Asset(row["name"], bytes(row["content"])) for row in rows]


async def put_assets(
    tx: Side, version_id: TemplateVersionId, assets: Collection[Asset], now: datetime
) -> None:
    """Add or change pictures of a draft; one statement for all of them."""
    if not assets:
        return
    fresh = {"names": [asset.name for asset in assets], "contents": [asset.content for asset in assets]}
    if isinstance(tx, TenantTx):
        await tx.execute(QUERIES.put_assets, tenant_id=tx.tenant_id, version_id=version_id, now=now, **fresh)
    else:
        await tx.execute(QUERIES.put_platform_assets, version_id=version_id, now=now, **fresh)


async def delete_assets(tx: Side, version_id: TemplateVersionId, *, kept: Collection[str] = ()) -> None:
    """Take a draft's pictures away, but for those that are named."""
    if isinstance(tx, TenantTx):
        await tx.execute(
            QUERIES.delete_assets, tenant_id=tx.tenant_id, version_id=version_id, kept=list(kept)
        )
    else:
        await tx.execute(QUERIES.delete_platform_assets, version_id=version_id, kept=list(kept))


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
