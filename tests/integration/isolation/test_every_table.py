"""Writes and reads across tenants, through every table, as the roles that the product uses."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.postgres import TestDatabase, TestServer
from tests.support.rows import ROLES, Table, acting_as, insert_row, make_row, read_tables, write_one_each
from tidings.kernel.ids import TENANT

Denied = asyncpg.InsufficientPrivilegeError
#: What a read-only caller does is written down and counted too, so it has to be able to.
LEDGERS = {
    "kernel.hot_leases",
    "kernel.hot_limits",
    "kernel.hot_presence",
    "kernel.hot_seen",
    "notification.audit",
    "notification.audit_heads",
    "chan.audit",
    "chan.audit_heads",
    "bff_backoffice.audit",
    "bff_backoffice.audit_heads",
    "bff_backoffice.attestations",
    "bff_backoffice.alerts",
    "bff_backoffice.alert_subscriptions",
    "bff_backoffice.alert_notices",
    "bff_backoffice.devices",
    "bff_backoffice.sessions",
    "bff_backoffice.lock_action_proxy_audit",
    "bff_backoffice.lock_actions",
    "bff_backoffice.passkeys",
    "bff_backoffice.passkey_challenges",
    "bff_backoffice.operator_activity",
    "bff_backoffice.announcement_heads",
    "bff_backoffice.announcements",
}


@dataclass(frozen=True, slots=True)
class House:
    """A database with one row of tenant A and one of tenant B in every table that has tenants."""

    database: TestDatabase
    a: str
    b: str
    tables: list[Table]
    rows: dict[str, dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
async def house(server: TestServer) -> AsyncIterator[House]:
    now = datetime.now(UTC)
    a, b = TENANT.new(now), TENANT.new(now)
    async with server.clone() as database:
        async with database.owner() as owner:
            known = await read_tables(owner)
        async with database.runtime() as connection:
            rows = await write_one_each(connection, known, [a, b])
        yield House(database, a, b, [table for table in known if table.has_tenant], rows)


async def _count(
    connection: asyncpg.Connection, name: str, where: str = "tenant_id IS NOT NULL", *values: Any
) -> int:
    """How many rows it sees; a table that it may not read at all counts as none."""
    try:
        async with connection.transaction():
            return int(await connection.fetchval(f"SELECT count(*) FROM {name} WHERE {where}", *values))
    except Denied:
        return 0


#: Rows of a tenant that the insert into another table made, beside its own.
_BY_TRIGGERS = {"notification.suppression_counts": 1}


async def test_without_a_tenant_nothing_is_seen(house: House) -> None:
    """Code that forgets its tenant gets zero rows out of every tenant table."""
    async with house.database.runtime() as connection:
        seen = {table.name: await _count(connection, table.name) for table in house.tables}

    assert len(seen) > 35
    assert {name: count for name, count in seen.items() if count} == {}


async def test_a_tenant_sees_its_own_rows_only(house: House) -> None:
    """With A set: A's row where it may read at all, and never B's."""
    async with house.database.runtime() as connection, acting_as(connection, "tidings_runtime", house.a):
        for table in house.tables:
            assert await _count(connection, table.name, "tenant_id = $1", house.b) == 0, table.name
            readable = await connection.fetchval("SELECT has_table_privilege($1, 'SELECT')", table.name)
            if readable:
                own = await _count(connection, table.name, "tenant_id = $1", house.a)
                assert own == 1 + _BY_TRIGGERS.get(table.name, 0), table.name


async def test_a_tenant_can_not_write_anothers_rows(house: House) -> None:
    """With A set: no insert for B, no update or delete of B's rows, and no row of A's is given to B."""
    async with house.database.runtime() as connection:
        for table in house.tables:
            with pytest.raises(Denied):
                async with acting_as(connection, "tidings_runtime", house.a):
                    await insert_row(connection, table.name, house.rows[house.b][table.name])
            for statement in (
                f"UPDATE {table.name} SET tenant_id = tenant_id WHERE tenant_id = $1",
                f"DELETE FROM {table.name} WHERE tenant_id = $1",
            ):
                with contextlib.suppress(Denied):
                    async with acting_as(connection, "tidings_runtime", house.a):
                        assert await connection.execute(statement, house.b) in {"UPDATE 0", "DELETE 0"}, (
                            table.name
                        )
            with pytest.raises((Denied, asyncpg.RestrictViolationError)):
                async with acting_as(connection, "tidings_runtime", house.a):
                    touched = await connection.execute(f"UPDATE {table.name} SET tenant_id = $1", house.b)
                    if touched == "UPDATE 0":
                        raise Denied("it saw nothing to update")


async def test_a_partition_can_not_be_asked_directly(house: House) -> None:
    """Neither read nor written, by any role of the product, with or without a tenant."""
    async with house.database.owner() as owner:
        partitions = [
            r["name"]
            for r in await owner.fetch(
                "SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n "
                "ON n.oid = c.relnamespace WHERE c.relispartition AND c.relkind IN ('r', 'p') ORDER BY 1"
            )
        ]
    assert len(partitions) > 50
    async with house.database.runtime() as connection:
        for role in ROLES:
            for name in partitions:
                for statement in (
                    f"SELECT count(*) FROM {name}",
                    f"INSERT INTO {name} DEFAULT VALUES",
                    f"UPDATE {name} SET tenant_id = tenant_id",
                    f"DELETE FROM {name}",
                ):
                    with pytest.raises(Denied):
                        async with acting_as(connection, role, house.a):
                            await connection.execute(statement)


@pytest.mark.parametrize("caller_role", ["tenant.viewer", "platform.support"])
async def test_a_read_only_caller_role_can_not_write(house: House, caller_role: str) -> None:
    """The role narrows: even within its own tenant, on every table but the audit, nothing is written."""
    async with house.database.runtime() as connection:
        for table in house.tables:
            if table.name in LEDGERS:
                continue
            row = make_row(table, house.a, TENANT.new(datetime.now(UTC))[4:], house.rows[house.a])
            with pytest.raises(Denied):
                async with acting_as(connection, "tidings_runtime", house.a):
                    await connection.execute("SELECT set_config('app.caller_role', $1, true)", caller_role)
                    await insert_row(connection, table.name, row)


async def test_the_worker_reaches_only_queue_tables(house: House) -> None:
    """What people are told, and where, is out of the worker's reach altogether."""
    content = {
        "notification.recipients",
        "notification.recipient_addresses",
        "notification.notifications",
        "notification.notification_preferences",
        "notification.templates",
        "notification.template_versions",
        "chan.recipient_profiles",
        "kernel.data_keys",
        "kernel.tenant_keys",
    }
    async with house.database.runtime() as connection:
        for name in sorted(content):
            with pytest.raises(Denied):
                async with acting_as(connection, "tidings_worker", None):
                    await connection.execute(f"SELECT count(*) FROM {name}")


hostile = st.one_of(
    st.sampled_from(["", " ", "%", "_", "*", "null", "NULL", "tnt_%", "' OR true --", "{}", "\\", "\t", "𝕥"]),
    st.text(alphabet=st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=200),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    value=hostile,
    shape=st.sampled_from(["{v}", "{a}{v}", "{v}{a}", "{a},{b}", "{{{a},{b}}}", "{a}' OR '{v}", "lower"]),
)
async def test_a_hostile_tenant_setting_opens_nothing(house: House, value: str, shape: str) -> None:
    """Whatever the setting holds, it is compared and nothing else: only an exact id shows anything."""
    setting = house.a.lower() if shape == "lower" else shape.format(v=value, a=house.a, b=house.b)
    if setting in {house.a, house.b}:
        return
    async with house.database.runtime() as connection, acting_as(connection, "tidings_runtime", setting):
        readable = [table.name for table in house.tables if await _readable(connection, table.name)]
        union = " UNION ALL ".join(
            f"SELECT count(*) AS n FROM {name} WHERE tenant_id IS NOT NULL" for name in readable
        )
        assert await connection.fetchval(f"SELECT sum(n) FROM ({union}) AS counts") == 0


async def _readable(connection: asyncpg.Connection, name: str) -> bool:
    return bool(await connection.fetchval("SELECT has_table_privilege($1, 'SELECT')", name))
