"""Which versions an export holds, and which templates an import holds on to."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidings.contracts.tenants import Channel
from tidings.kernel.mapping import RowMapper, tuple_columns
from tidings.kernel.sql import Queries
from tidings.notify.ids import TemplateVersionId
from tidings.notify.templates.model import Template
from tidings.notify.templates.store import Side, side, template_of

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedVersion:
    """A version, not read yet."""

    key: str
    channel: Channel
    id: TemplateVersionId
    semver: str


async def pick_versions(
    tx: Side, *, key: str | None, channel: Channel | None, drafts: bool, of_platform: bool = False
) -> list[SelectedVersion]:
    """One version of each template; with drafts the newest of draft and in force, else the one in force."""
    query = side(tx, QUERIES.pick_versions, QUERIES.pick_platform_versions, of_platform=of_platform)
    return [_selected(row) for row in await tx.fetch(query, key=key, channel=channel, drafts=drafts)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedTemplate:
    """A template that is there, and ours until the end of the transaction."""

    template: Template
    #: Put away as a whole: its key is not to be used again.
    archived: bool


async def lock_templates(
    tx: Side, templates: Sequence[tuple[str, Channel]]
) -> dict[tuple[str, Channel], LockedTemplate]:
    """Hold those that are there until the end of the transaction, in one order for all transactions."""
    rows = await tx.fetch(
        side(tx, QUERIES.lock_templates, QUERIES.lock_platform_templates),
        **tuple_columns(templates, "keys channels"),
    )
    return {
        (row["key"], row["channel"]): LockedTemplate(
            template=template_of(row), archived=row["status"] != "active"
        )
        for row in rows
    }


_selected = RowMapper(SelectedVersion, [QUERIES.pick_versions, QUERIES.pick_platform_versions])
