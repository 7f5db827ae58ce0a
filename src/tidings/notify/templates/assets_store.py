"""The only Python here that runs SQL on the pictures of versions."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from tidings.kernel.mapping import tuple_columns
from tidings.kernel.sql import Queries, json_text
from tidings.notify.ids import TemplateVersionId
from tidings.notify.templates.assets import Asset
from tidings.notify.templates.model import AssetFacts, TemplateVersion
from tidings.notify.templates.store import Side, side

QUERIES = Queries.beside(__file__)


async def find_assets(tx: Side, version: TemplateVersion, *, name: str | None = None) -> list[Asset]:
    """The version's pictures, or one of them; no statement for a version that has none."""
    if not version.assets:
        return []
    of_platform = version.tenant_id is None
    query = side(tx, QUERIES.find_assets, QUERIES.find_platform_assets, of_platform=of_platform)
    rows = await tx.fetch(query, version_id=version.id, name=name)
    return [Asset(row["name"], bytes(row["content"])) for row in rows]


async def put_assets(tx: Side, fresh: Sequence[tuple[TemplateVersionId, Asset]], *, now: datetime) -> None:
    """Add or change pictures of drafts; one statement for all of them."""
    if not fresh:
        return
    await tx.execute(
        side(tx, QUERIES.put_assets, QUERIES.put_platform_assets),
        version_ids=[version_id for version_id, _ in fresh],
        names=[asset.name for _, asset in fresh],
        contents=[asset.content for _, asset in fresh],
        now=now,
    )


async def delete_assets(tx: Side, gone: Sequence[tuple[TemplateVersionId, str]]) -> None:
    """Take pictures of drafts away, each by its version and its name."""
    if not gone:
        return
    await tx.execute(
        side(tx, QUERIES.delete_assets, QUERIES.delete_platform_assets),
        **tuple_columns(gone, "version_ids names"),
    )


async def note_assets(
    tx: Side, version_id: TemplateVersionId, facts: Mapping[str, AssetFacts], now: datetime
) -> None:
    """Write down with a draft what it has."""
    query = side(tx, QUERIES.note_assets, QUERIES.note_platform_assets)
    await tx.execute(query, version_id=version_id, assets=json_text(dict(sorted(facts.items()))), now=now)
