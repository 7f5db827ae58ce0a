"""The only Python here that runs SQL on categories: the platform's registry, and what tenants say beside it."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import msgspec

from tidings.kernel.db import PlatformTx, Row, TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import attributes, by_name
from tidings.kernel.sql import Queries
from tidings.notify.categories.model import (
    DEFAULT_POSITION,
    CategoryPolicy,
    TenantCategory,
    merged,
)

QUERIES = Queries.beside(__file__)
Side = TenantTx | PlatformTx

_POLICY = (
    "default_use_case",
    "retention_class",
    "default_priority",
    "default_expiry_seconds",
    "needs_consent",
    "can_unsubscribe",
    "breaks_quiet_hours",
    "may_digest",
    "tracking_allowed",
)
_read_names = msgspec.json.Decoder(dict[str, str]).decode


class _Stored(msgspec.Struct, frozen=True):
    """A tenant's row, also as another statement reads it along as JSON."""

    category: str
    own: bool
    names: dict[str, str]
    position: int | None
    hidden: bool
    retired: bool
    version: int
    default_use_case: Any = None
    retention_class: str | None = None
    default_priority: Any = None
    default_expiry_seconds: int | None = None
    needs_consent: bool | None = None
    can_unsubscribe: bool | None = None
    breaks_quiet_hours: bool | None = None
    may_digest: bool | None = None
    tracking_allowed: bool | None = None


_read_rows = msgspec.json.Decoder(list[_Stored]).decode


async def load_platforms(tx: Side) -> dict[str, CategoryPolicy]:
    """The platform's, by name."""
    rows = await tx.fetch(QUERIES.load_categories)
    return {row["category"]: _platforms(row) for row in rows}


async def load_tenants(tx: TenantTx) -> tuple[TenantCategory, ...]:
    """What the tenant has said."""
    return (await load_tenants_of_all(tx, [tx.tenant_id]))[tx.tenant_id]


async def load_tenants_of_all(
    tx: TenantTx | TenantsTx, tenant_ids: Sequence[TenantId]
) -> dict[TenantId, tuple[TenantCategory, ...]]:
    """What each of these tenants has said."""
    found: dict[TenantId, list[TenantCategory]] = {tenant_id: [] for tenant_id in tenant_ids}
    for row in map(dict, await tx.fetch(QUERIES.load_tenants, tenant_ids=list(tenant_ids))):
        whose = found[row.pop("tenant_id")]
        whose.append(_tenants(_Stored(**{**row, "names": _read_names(row["names"])})))
    return {tenant_id: tuple(said) for tenant_id, said in found.items()}


def read_tenants(rows: str | None) -> tuple[TenantCategory, ...]:
    """The same, from JSON that another statement has read along."""
    return tuple(map(_tenants, _read_rows(rows))) if rows else ()


async def load_categories(tx: Side) -> Mapping[str, CategoryPolicy]:
    """All that this side can use, by name: the platform's, with what the tenant says and has beside them."""
    platforms = await load_platforms(tx)
    return merged(platforms, await load_tenants(tx)) if isinstance(tx, TenantTx) else platforms


async def held_version(tx: Side, category: str) -> int | None:
    """The version of this side's row, held until the end of the transaction; None where there is none."""
    query = QUERIES.lock_tenants if isinstance(tx, TenantTx) else QUERIES.lock_registry
    found = await tx.fetch_value(query, category=category)
    return None if found is None else int(found)


async def put_category(tx: Side, wanted: CategoryPolicy, *, now: datetime) -> int:
    """Write this side's row for a category; its version."""
    if isinstance(tx, PlatformTx):
        return int(
            await tx.fetch_value(QUERIES.put_platform_category, wanted, names=_json(wanted.names), now=now)
        )
    own = wanted.owner == "tenant"
    return int(
        await tx.fetch_value(
            QUERIES.put_tenant_category,
            wanted,
            own=own,
            names=_json(wanted.own_names),
            retired=own and wanted.retired,
            now=now,
            **{name: getattr(wanted, name) if own else None for name in _POLICY},
        )
    )


async def used_categories(tx: TenantTx, *, since: date) -> frozenset[str]:
    """What the tenant sends, or has sent since that day."""
    rows = await tx.fetch(QUERIES.used_categories, since=since)
    return frozenset(row["category"] for row in rows)


async def templates_showing_links(tx: Side, category: str) -> list[str]:
    """Templates of this side in force, of a category, that show a link which it may lose."""
    own, platforms = QUERIES.templates_showing_links, QUERIES.platform_templates_showing_links
    rows = await tx.fetch(own if isinstance(tx, TenantTx) else platforms, category=category)
    return [row["name"] for row in rows]


def _platforms(row: Row) -> CategoryPolicy:
    facts = dict(row)
    names, retired_at = _read_names(facts.pop("names")), facts.pop("retired_at")
    return CategoryPolicy(**facts, names=names, retired=retired_at is not None)


def _tenants(row: _Stored) -> TenantCategory:
    policy = None
    if row.own:
        policy = CategoryPolicy(
            **attributes(row, "category hidden retired version"),
            own_names=row.names,
            position=DEFAULT_POSITION if row.position is None else row.position,
            owner="tenant",
            **{name: getattr(row, name) for name in _POLICY},
        )
    return by_name(TenantCategory, row, policy=policy)


def _json(names: Mapping[str, str]) -> str:
    return msgspec.json.encode(dict(names)).decode()
