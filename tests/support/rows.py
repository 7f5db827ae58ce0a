"""Makes a valid row for any table of the schema, from what the catalogue says about it.

So a test can write and read through *every* table, the ones of tomorrow included, without anybody having to
remember to add them to a list.
"""

import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from tidings.kernel.ids import TENANT, time_of

#: Every role that a request or a worker can have.
ROLES = ("tidings_runtime", "tidings_platform", "tidings_worker")
SCHEMAS = ("notification", "notification_platform", "chan", "bff_backoffice", "kernel")

_COLUMNS = """
SELECT n.nspname || '.' || c.relname AS tbl, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
       a.attnotnull AS required, a.atthasdef OR a.attidentity <> '' AS defaulted, a.attidentity <> '' AS identity
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
ORDER BY 1, a.attnum
"""
_CONSTRAINTS = """
SELECT n.nspname || '.' || c.relname AS tbl, k.contype::text AS kind, pg_get_constraintdef(k.oid) AS definition,
       ARRAY(SELECT attname::text FROM pg_attribute a JOIN unnest(k.conkey) WITH ORDINALITY AS u(num, ord)
             ON a.attnum = u.num WHERE a.attrelid = k.conrelid ORDER BY u.ord) AS columns,
       CASE WHEN k.contype = 'f' THEN fn.nspname || '.' || f.relname END AS target,
       ARRAY(SELECT attname::text FROM pg_attribute a JOIN unnest(k.confkey) WITH ORDINALITY AS u(num, ord)
             ON a.attnum = u.num WHERE a.attrelid = k.confrelid ORDER BY u.ord) AS target_columns
FROM pg_constraint k
JOIN pg_class c ON c.oid = k.conrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_class f ON f.oid = k.confrelid
LEFT JOIN pg_namespace fn ON fn.oid = f.relnamespace
WHERE n.nspname = ANY($1) AND k.contype IN ('c', 'f') AND NOT c.relispartition
"""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    required: bool
    defaulted: bool
    identity: bool


@dataclass(slots=True)
class Table:
    name: str
    columns: list[Column] = field(default_factory=list)
    checks: list[tuple[list[str], str]] = field(default_factory=list)
    references: list[tuple[list[str], str, list[str]]] = field(default_factory=list)

    @property
    def has_tenant(self) -> bool:
        return any(column.name == "tenant_id" for column in self.columns)

    @property
    def tenant_required(self) -> bool:
        return any(column.name == "tenant_id" and column.required for column in self.columns)


#: References that a trigger guards, because no foreign key can name two tables.
_BY_TRIGGER = (("notification.templates", "category", "notification_platform.categories"),)


async def read_tables(connection: asyncpg.Connection) -> list[Table]:
    """Every table, those first that others refer to."""
    tables: dict[str, Table] = {}
    for row in await connection.fetch(_COLUMNS, list(SCHEMAS)):
        table = tables.setdefault(row["tbl"], Table(row["tbl"]))
        table.columns.append(
            Column(row["name"], row["type"], row["required"], row["defaulted"], row["identity"])
        )
    for row in await connection.fetch(_CONSTRAINTS, list(SCHEMAS)):
        if row["kind"] == "c":
            tables[row["tbl"]].checks.append((row["columns"], row["definition"]))
        else:
            tables[row["tbl"]].references.append((row["columns"], row["target"], row["target_columns"]))
    for tbl, column, target in _BY_TRIGGER:
        if tbl in tables and not any(column in columns for columns, _, _ in tables[tbl].references):
            tables[tbl].references.append(([column], target, [column]))
    return _by_dependency(tables)


def _by_dependency(tables: dict[str, Table]) -> list[Table]:
    done: dict[str, Table] = {}

    def visit(table: Table) -> None:
        if table.name in done:
            return
        for _, target, _ in table.references:
            if target != table.name:
                visit(tables[target])
        done[table.name] = table

    for name in sorted(tables):
        visit(tables[name])
    return list(done.values())


#: Where one column's value depends on another's, or on who owns the row: said here, once.
_BY_HAND: dict[str, dict[str, Any]] = {
    "kernel.data_keys": {"wrapped_key": b"\x01sealed"},
    "kernel.platform_keys": {"purpose": "signing"},
    "notification.notifications": {"retention_class": "standard"},
    "notification.api_keys": {"role": "tenant.admin"},
    "bff_backoffice.operators": {"role": "tenant.admin"},
    "notification.notification_trigger_map": {"scope": "tenant"},
    "notification_platform.suppressions": {"mail_domain": "example.org"},
}


def make_row(
    table: Table, tenant_id: str, ulid: str, others: dict[str, dict[str, Any]], *, full: bool = False
) -> dict[str, Any]:
    """A row that the table's constraints accept; `others` holds the rows it may refer to.

    A `full` row has its optional columns too, and may be one that constraints over several columns refuse.
    """
    row: dict[str, Any] = {}
    for column in table.columns:
        if column.name == "tenant_id":
            row["tenant_id"] = tenant_id
        elif column.identity or (column.defaulted and column.name != "created_at"):
            continue
        elif column.required or full:
            row[column.name] = _value(table, column, ulid)
    row.update(_BY_HAND.get(table.name, {}))
    for columns, target, target_columns in table.references:
        if not any(column in row for column in columns if column != "tenant_id"):
            continue
        if target not in others:  # itself: no parent
            row.update({name: None for name in columns if name != "tenant_id"})
            continue
        for name, target_name in zip(columns, target_columns, strict=True):
            if name != "tenant_id":
                row[name] = others[target][target_name]
    return row


async def write_row(connection: asyncpg.Connection, table: Table, row: dict[str, Any], tenant: str) -> None:
    """Write the row as whichever of the product's roles may; `connection` is the runtime role's."""
    refusals = []
    for role in ROLES:
        try:
            async with acting_as(connection, role, tenant):
                await insert_row(connection, table.name, row)
        except asyncpg.InsufficientPrivilegeError as denied:
            refusals.append(str(denied))
        else:
            return
    raise NobodyMayWriteError(f"nobody may write {table.name}: {refusals}")


async def write_one_each(
    connection: asyncpg.Connection, known: list[Table], tenants: list[str]
) -> dict[str, dict[str, dict[str, Any]]]:
    """One row of each tenant in every table that has tenants, by tenant and table; `connection` is the runtime role's.

    What such tables refer to and what has no tenant gets one row, which is in everyone's.
    """
    now = datetime.now(UTC)
    referred_to = {target for table in known for _, target, _ in table.references}
    rows: dict[str, dict[str, dict[str, Any]]] = {tenant: {} for tenant in tenants}
    for table in known:
        if table.has_tenant:
            for tenant in tenants:
                row = make_row(table, tenant, TENANT.new(now)[4:], rows[tenant])
                await write_row(connection, table, row, tenant)
                rows[tenant][table.name] = row
        elif table.name in referred_to:
            row = make_row(table, tenants[0], TENANT.new(now)[4:], rows[tenants[0]])
            await write_row(connection, table, row, tenants[0])
            for tenant in tenants:
                rows[tenant][table.name] = row
    return rows


class NobodyMayWriteError(AssertionError):
    """A table that only the owner's migrations fill."""


async def insert_row(connection: asyncpg.Connection, name: str, row: dict[str, Any]) -> None:
    """Write the row as the role that the connection has."""
    columns = ", ".join(f'"{column}"' for column in row)
    places = ", ".join(f"${n}" for n in range(1, len(row) + 1))
    await connection.execute(f"INSERT INTO {name} ({columns}) VALUES ({places})", *row.values())


@contextlib.asynccontextmanager
async def acting_as(connection: asyncpg.Connection, role: str, tenant: str | None) -> AsyncIterator[None]:
    """One transaction in a role of the product, for a tenant."""
    async with connection.transaction():
        if role != "tidings_runtime":
            await connection.execute(f"SET LOCAL ROLE {role}")
        if tenant is not None:
            await connection.execute("SELECT set_config('app.tenant_id', $1, true)", tenant)
        yield


def _value(table: Table, column: Column, ulid: str) -> Any:
    hint = " ".join(definition for columns, definition in table.checks if column.name in columns)
    if column.type.startswith("timestamp"):
        at = time_of(ulid)
        return at + timedelta(days=1) if re.search(r"expires|ends|until|_end$", column.name) else at
    if column.name == "position":
        return int.from_bytes(ulid[-6:].encode())
    if column.type in {"integer", "bigint", "smallint"}:
        return 1
    if column.type.startswith("numeric") or column.type == "double precision":
        return 1
    if column.type == "boolean":
        return False
    if column.type == "bytea":
        return b"\x01sealed"
    if column.type in {"jsonb", "json"}:
        return "[]" if f"jsonb_typeof({column.name}) = 'array'" in hint else "{}"
    if column.type.endswith("[]"):
        return []
    if column.type == "date":
        return datetime.now(UTC).date()
    return _text(column, hint, ulid)


def _text(column: Column, hint: str, ulid: str) -> str:
    if "^[0-9a-f]{64}$" in hint:
        return (ulid.encode().hex() * 2)[:64]
    if "sha256:" in hint or column.name.endswith("_hash"):
        return "sha256:" + (ulid.encode().hex() * 2)[:64]
    prefix = re.search(r"\^([a-z_]+_)\[0-9A-HJ", hint) or re.search(r"'([a-z_]+?)\\_%'", hint)
    if prefix:
        return f"{prefix[1].rstrip('_')}_{ulid}"
    choice = re.search(rf"\(?{column.name}\)?(?:::text)? = ANY \((?:\()?ARRAY\['([^']+)'", hint)
    if choice:
        return choice[1]
    equal = re.search(rf"\({column.name} = '([^']+)'::text\)", hint)
    if equal:
        return equal[1]
    if "[0-9]+\\.[0-9]+" in hint:
        return "1.0.0"
    if "://" in hint:
        return "env://TIDINGS_SECRET_TEST"
    if "^[A-Z]{3}$" in hint or column.name.endswith("currency"):
        return "USD"
    return f"x{ulid.lower()}"
