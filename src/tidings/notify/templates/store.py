"""The only Python here that runs SQL on templates; a tenant's transaction means its own, the platform's the platform's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal

import msgspec

from tidings.contracts.tenants import Channel
from tidings.kernel.db import PlatformTx, Row, TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper, columns, optional, tuple_columns
from tidings.kernel.sql import Queries, Query, json_text
from tidings.notify.ids import TemplateId, TemplateVersionId
from tidings.notify.templates.errors import UnknownTemplateError, UnknownTemplateVersionError
from tidings.notify.templates.model import (
    AssetFacts,
    LocaleText,
    Priority,
    Published,
    Template,
    TemplateName,
    TemplateVersion,
    VersionName,
    VersionSource,
    VersionStatus,
)
from tidings.notify.templates.semver import Semver

QUERIES = Queries.beside(__file__)
Side = TenantTx | PlatformTx

_read_locales = msgspec.json.Decoder(dict[str, LocaleText]).decode
_read_assets = msgspec.json.Decoder(dict[str, AssetFacts]).decode
_read_object = msgspec.json.Decoder(dict[str, Any]).decode


def side(tx: Side, own: Query, platforms: Query, *, of_platform: bool = False) -> Query:
    """The query for a tenant's own templates, or the one for the platform's."""
    return own if isinstance(tx, TenantTx) and not of_platform else platforms


async def find_template(tx: Side, name: TemplateName) -> Template | None:
    """The template of this side, whether anything of it is published or not."""
    return await _template(tx, side(tx, QUERIES.find_template, QUERIES.find_platform_template), name)


async def find_platform_template(tx: Side, name: TemplateName) -> Template | None:
    """The platform's template, also seen from a tenant's side."""
    return await _template(tx, QUERIES.find_platform_template, name)


async def lock_template(tx: Side, name: TemplateName) -> Template | None:
    """The template of this side, held until the end of the transaction."""
    return await _template(tx, side(tx, QUERIES.lock_template, QUERIES.lock_platform_template), name)


async def _template(tx: Side, query: Query, name: TemplateName) -> Template | None:
    row = await tx.fetch_one(query, name)
    return template_of(row) if row else None


async def own_template(tx: Side, name: TemplateName, *, lock: bool = False) -> Template:
    """The template of this side; an `UnknownTemplateError` where there is none."""
    template = await (lock_template if lock else find_template)(tx, name)
    if template is None:
        raise UnknownTemplateError(f"there is no template {name} of your own")
    return template


async def own_version(tx: Side, name: VersionName, *, lock: bool = False) -> tuple[Template, TemplateVersion]:
    """A template of this side and one of its versions; an error where either is missing."""
    template = await own_template(tx, name, lock=lock)
    version = await find_version(tx, template_id=template.id, semver=name.semver)
    if version is None:
        raise UnknownTemplateVersionError(f"{name} has no version {name.semver}")
    return template, version


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTemplate:
    """A template that has no version yet."""

    id: TemplateId
    key: str
    channel: Channel
    category: str
    default_locale: str
    fallback_chain: Sequence[str]
    default_priority: Priority


async def add_templates(tx: Side, fresh: Sequence[NewTemplate], *, created_by: str, now: datetime) -> None:
    """Templates without versions; nothing for those that another transaction has just added."""
    query = side(tx, QUERIES.add_templates, QUERIES.add_platform_templates)
    await tx.execute(
        query,
        **columns(
            fresh,
            "id key channel default_locale",
            categories="category",
            default_priorities="default_priority",
        ),
        fallback_chains=[json_text(list(one.fallback_chain)) for one in fresh],
        created_by=created_by,
        now=now,
    )


async def set_active_version(
    tx: Side,
    *,
    id: TemplateId,  # noqa: A002
    version_id: TemplateVersionId | None,
    now: datetime,
) -> None:
    """Point the template at the version that is in force from now on; None: at nothing."""
    query = side(tx, QUERIES.set_active_version, QUERIES.set_active_platform_version)
    await tx.execute(query, id=id, version_id=version_id, now=now)


async def set_template_status(
    tx: Side, name: TemplateName, *, status: Literal["active", "archived"], now: datetime
) -> Template | None:
    """The template, put away or taken back as a whole; None where there is none that stood otherwise."""
    query = side(tx, QUERIES.set_template_status, QUERIES.set_platform_template_status)
    row = await tx.fetch_one(query, name, status=status, now=now)
    return template_of(row) if row else None


async def note_platform_version(
    tx: TenantTx,
    *,
    id: TemplateId,  # noqa: A002
    platform_semver: str,
    now: datetime,
) -> None:
    """Write down which of the platform's versions a template was customised from."""
    await tx.execute(QUERIES.note_platform_version, id=id, platform_semver=platform_semver, now=now)


async def list_semvers(tx: TenantTx, *, template_id: TemplateId) -> list[str]:
    """The numbers that a tenant's template has used."""
    rows = await tx.fetch(QUERIES.list_semvers, template_id=template_id)
    return [row["semver"] for row in rows]


async def add_versions(
    tx: Side, drafts: Sequence[TemplateVersion], *, created_by: str, now: datetime
) -> None:
    """Drafts; an `AlreadyExistsError` where a template has a version of that number."""
    query = side(tx, QUERIES.add_versions, QUERIES.add_platform_versions)
    await tx.execute(
        query,
        **columns(drafts, "template_id"),
        semvers=[str(version.semver) for version in drafts],
        created_by=created_by,
        now=now,
        **_contents(drafts),
    )


async def change_drafts(tx: Side, drafts: Sequence[TemplateVersion], *, now: datetime) -> None:
    """Set drafts to what these say; nothing for those that are none any more."""
    query = side(tx, QUERIES.change_drafts, QUERIES.change_platform_drafts)
    await tx.execute(query, now=now, **_contents(drafts))


def _contents(drafts: Sequence[TemplateVersion]) -> dict[str, list[Any]]:
    return {
        **columns(drafts, "id layout", sources="source.value"),
        "variables_schemas": [json_text(version.variables_schema) for version in drafts],
        "fallback_chains": [json_text(version.fallback_chain) for version in drafts],
        "samples": [json_text(version.samples) for version in drafts],
        "locales": [json_text(version.locales) for version in drafts],
        "partials": [json_text(version.partials) for version in drafts],
        "strings": [json_text(version.strings) for version in drafts],
        "ai_provenances": [
            None if version.provenance is None else json_text(version.provenance) for version in drafts
        ],
        "assets": [json_text(dict(sorted(version.assets.items()))) for version in drafts],
    }


async def delete_draft(tx: Side, *, id: TemplateVersionId) -> None:  # noqa: A002
    """Take a draft away."""
    query = side(tx, QUERIES.delete_draft, QUERIES.delete_platform_draft)
    await tx.execute(query, id=id)


async def approve_draft(
    tx: Side,
    *,
    id: TemplateVersionId,  # noqa: A002
    approver: str,
    now: datetime,
) -> None:
    """Write down who approved a draft."""
    query = side(tx, QUERIES.approve_draft, QUERIES.approve_platform_draft)
    await tx.execute(query, id=id, approver=approver, now=now)


async def archive_version(
    tx: Side,
    *,
    id: TemplateVersionId,  # noqa: A002
    now: datetime,
) -> None:
    """Put one version away."""
    query = side(tx, QUERIES.archive_version, QUERIES.archive_platform_version)
    await tx.execute(query, id=id, now=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateLine:
    """A template in a list, with what is worth knowing about its versions."""

    template: Template
    active_semver: str | None
    #: Of the version in force.
    locales: tuple[str, ...]
    latest_semver: str | None
    latest_status: VersionStatus | None
    #: Who asked for the newest version, where it is an AI draft that nobody has approved yet.
    approval_asked_by: str | None
    #: Put away as a whole.
    archived: bool
    #: The platform's version in force, where it is newer than the one that this was customised from.
    platform_newer: str | None


async def list_templates(
    tx: Side,
    *,
    key: str | None,
    channel: Channel | None,
    status: VersionStatus | None,
    after_id: str | None,
    limit: int,
) -> list[TemplateLine]:
    """The newest first, from a cursor on; a tenant sees the platform's too."""
    query = side(tx, QUERIES.list_templates, QUERIES.list_platform_templates)
    rows = await tx.fetch(query, key=key, channel=channel, status=status, after_id=after_id, limit=limit)
    return [
        TemplateLine(
            template=template_of(row),
            active_semver=row["active_semver"],
            locales=tuple(row["locale_tags"]),
            latest_semver=row["latest_semver"],
            latest_status=None if row["latest_status"] is None else VersionStatus(row["latest_status"]),
            approval_asked_by=row["approval_asked_by"],
            archived=row["status"] == "archived",
            platform_newer=template_of(row).newer_than(row["platform_active_semver"]),
        )
        for row in rows
    ]


async def usage(tx: Side, *, day: date) -> dict[tuple[str, str], int]:
    """By key and channel, `auto` being one: how many notifications were accepted in 30 days up to this one."""
    if not isinstance(tx, TenantTx):
        return {}
    first = day - timedelta(days=29)
    rows = await tx.fetch(QUERIES.usage, first=first, last=day)
    return {(row["key"], row["channel"]): row["n"] for row in rows}


async def locales_in_force(tx: Side, *, keys: Sequence[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """By key and channel: the languages of what is in force."""
    query = side(tx, QUERIES.locales_in_force, QUERIES.locales_in_force_of_platform)
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in await tx.fetch(query, keys=list(keys)):
        found.setdefault(row["key"], {})[row["channel"]] = tuple(row["locale_tags"])
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionLine:
    """A version in a list, without its texts."""

    id: TemplateVersionId
    semver: str
    status: VersionStatus
    source: VersionSource
    created_by: str
    locales: tuple[str, ...]
    published_at: datetime | None
    archived_at: datetime | None


async def list_versions(
    tx: Side, *, template_id: TemplateId, after_id: str | None, limit: int, of_platform: bool = False
) -> list[VersionLine]:
    """The newest first, from a cursor on; a tenant that asks for the platform's sees no drafts."""
    query = side(tx, QUERIES.list_versions, QUERIES.list_platform_versions, of_platform=of_platform)
    drafts = {"drafts": not isinstance(tx, TenantTx)} if query is QUERIES.list_platform_versions else {}
    rows = await tx.fetch(query, template_id=template_id, after_id=after_id, limit=limit, **drafts)
    return [_version_line(row) for row in rows]


async def find_version(
    tx: Side, *, template_id: TemplateId, semver: str, of_platform: bool = False
) -> TemplateVersion | None:
    """One version with all its texts; a tenant that asks for the platform's finds no drafts."""
    query = side(tx, QUERIES.find_version, QUERIES.find_platform_version, of_platform=of_platform)
    row = await tx.fetch_one(query, template_id=template_id, semver=semver)
    if row is None or (of_platform and isinstance(tx, TenantTx) and row["status"] == VersionStatus.DRAFT):
        return None
    return _version(row)


async def find_versions(
    tx: Side, wanted: Sequence[tuple[TemplateId, str]]
) -> dict[tuple[TemplateId, str], TemplateVersion]:
    """Those that there are of these, by template and number, with all their texts."""
    query = side(tx, QUERIES.find_versions, QUERIES.find_platform_versions)
    rows = await tx.fetch(query, **tuple_columns(wanted, "template_ids semvers"))
    return {(version.template_id, str(version.semver)): version for version in map(_version, rows)}


async def find_semver(
    tx: Side,
    *,
    id: TemplateVersionId,  # noqa: A002
    of_platform: bool = False,
) -> str | None:
    """The number of a version that is known by its id; a tenant may ask for one of the platform's."""
    query = side(tx, QUERIES.find_semver, QUERIES.find_platform_semver, of_platform=of_platform)
    found: str | None = await tx.fetch_value(query, id=id)
    return found


async def find_versions_of_all(
    tx: TenantTx | TenantsTx, wanted: Sequence[tuple[TenantId, TemplateVersionId]]
) -> dict[tuple[TenantId, TemplateVersionId], Published]:
    """Versions that notifications were frozen to: each tenant's own and the platform's."""
    rows = await tx.fetch(QUERIES.find_versions_of_all, **tuple_columns(wanted, "tenant_ids ids"))
    read = [_published(row) for row in rows]
    own = {(one.version.tenant_id, one.version.id): one for one in read}
    found = {owned: own.get(owned) or own.get((None, owned[1])) for owned in wanted}
    return {owned: published for owned, published in found.items() if published is not None}


async def keys_in_force(
    tx: TenantTx | TenantsTx, tenant_ids: Sequence[TenantId], *, of_a_tenant: int
) -> list[tuple[TenantId, str]]:
    """Of each of these tenants the keys of some templates of its own that are in force, the latest first."""
    rows = await tx.fetch(QUERIES.keys_in_force, tenant_ids=list(tenant_ids), of_a_tenant=of_a_tenant)
    return [(TenantId(row["tenant_id"]), row["key"]) for row in rows]


async def resolve_keys(
    tx: TenantTx | TenantsTx, wanted: Sequence[tuple[TenantId, str]]
) -> dict[tuple[TenantId, str], dict[Channel, TemplateVersionId]]:
    """For each tenant and key, the version in force on each channel; the tenant's own wins."""
    found: dict[tuple[TenantId, str], dict[Channel, TemplateVersionId]] = {owned: {} for owned in wanted}
    for row in await tx.fetch(QUERIES.resolve_keys, **tuple_columns(wanted, "tenant_ids keys")):
        channels = found[row["tenant_id"], row["key"]]
        channels[row["channel"]] = TemplateVersionId(row["active_version_id"])
    return found


async def retire_version(tx: Side, *, template_id: TemplateId, now: datetime) -> None:
    """Archive what was in force."""
    query = side(tx, QUERIES.retire_version, QUERIES.retire_platform_version)
    await tx.execute(query, template_id=template_id, now=now)


async def activate_version(
    tx: Side,
    *,
    id: TemplateVersionId,  # noqa: A002
    locales: Mapping[str, LocaleText],
    supersedes_id: TemplateVersionId | None,
    now: datetime,
) -> None:
    """Put a version in force with these compiled texts."""
    query = side(tx, QUERIES.activate_version, QUERIES.activate_platform_version)
    await tx.execute(query, id=id, locales=json_text(locales), supersedes_id=supersedes_id, now=now)


#: A template as the database gives it.
template_of = RowMapper(
    Template,
    [
        QUERIES.find_template,
        QUERIES.find_platform_template,
        QUERIES.lock_template,
        QUERIES.lock_platform_template,
        QUERIES.set_template_status,
        QUERIES.set_platform_template_status,
        QUERIES.list_templates,
        QUERIES.list_platform_templates,
    ],
)


def _read_samples(row: Row) -> dict[str, Any]:
    """In the order in which they were written; the database keeps that apart."""
    samples = _read_object(row["preview_samples"] or "{}")
    order = {name: place for place, name in enumerate(row["sample_names"])}
    return dict(sorted(samples.items(), key=lambda sample: order.get(sample[0], len(order))))


_version_line = RowMapper(
    VersionLine,
    [QUERIES.list_versions, QUERIES.list_platform_versions],
    columns={"locales": "locale_tags"},
)
_version = RowMapper(
    TemplateVersion,
    [
        QUERIES.find_version,
        QUERIES.find_platform_version,
        QUERIES.find_versions,
        QUERIES.find_platform_versions,
        QUERIES.find_versions_of_all,
    ],
    columns={"provenance": "ai_provenance"},
    read={
        "semver": Semver.parse,
        "variables_schema": _read_object,
        "locales": _read_locales,
        "partials": _read_object,
        "strings": _read_object,
        "provenance": optional(_read_object),
        "assets": _read_assets,
    },
    of_row={"samples": _read_samples},
)
_published = RowMapper(
    Published,
    [QUERIES.find_versions_of_all],
    of_row={
        "template": RowMapper(
            Template,
            [],
            columns={
                "id": "template_id",
                "tenant_id": "template_tenant_id",
                "fallback_chain": "template_fallback_chain",
                "version": "template_version",
                "updated_at": "template_updated_at",
            },
            omit="platform_semver",
        ),
        "version": _version,
    },
)
