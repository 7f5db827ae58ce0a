"""A list of tenants in `app.tenant_ids` opens their rows and no other, on every table that is opened to sets."""

import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest

from tests.support.postgres import TestDatabase, TestServer
from tests.support.rows import Table, insert_row, make_row, read_tables, write_one_each
from tidings.kernel.ids import TENANT
from tidings.operations.migrations.discover import MIGRATIONS_FOLDER

Denied = asyncpg.InsufficientPrivilegeError
#: Read at collection, when there is no server yet; the first test compares it with the catalogue.
OPENED = re.findall(
    r"^CREATE POLICY tenant_sets ON (\S+)", (MIGRATIONS_FOLDER / "schema.sql").read_text(), re.MULTILINE
)
#: The relay reads them, for all tenants; who writes never does.
WRITE_ONLY = {"chan.outbox", "notification.outbox"}
#: Whatever a caller's role may do.
WRITTEN_BY_ALL = {
    "kernel.hot_limits",
    "notification.audit",
    "notification.audit_heads",
    "bff_backoffice.operator_activity",
    "bff_backoffice.announcement_heads",
    "bff_backoffice.announcements",
}
READABLE = [name for name in OPENED if name not in WRITE_ONLY]
#: Where a tenant falls back on the platform's rows.
PLATFORM_ROWS_READABLE = {"chan.channel_adapter_configs", "notification.notification_trigger_map"}
_BY_THE_LIST = """
SELECT polrelid::regclass::text AS name, polname, polroles::regrole[]::text[] AS roles, polcmd::text AS command
FROM pg_policy
WHERE concat(pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) LIKE '%app.tenant_ids%'
ORDER BY 1
"""
_UPDATABLE = """
SELECT quote_ident(attname) FROM pg_attribute
WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity = ''
  AND has_column_privilege($1::text, attnum, 'UPDATE')
ORDER BY attname = 'tenant_id', attnum LIMIT 1
"""
#: Lists in which A's and B's ids are words or parts of words; C is never named. Only a whole word names a tenant.
LISTS = {
    "nothing": "",
    "a blank": " ",
    "a comma": ",",
    "commas": ",,,,",
    "a wildcard": "%,*,_,tnt_%",
    "nothing in SQL": "NULL,null,{{}},[],''",
    "a quote": "' OR true --",
    "a quote that ends the setting": "x', true); SELECT set_config('app.tenant_id', '",
    "quoted": '"{a}","{b}"',
    "quoted as SQL": "'{a}','{b}'",
    "an array": "{{{a},{b}}}",
    "a JSON array": '["{a}","{b}"]',
    "a JSON object": '{{"{a}":"{a}"}}',
    "with blanks": " {a}, {b} ",
    "with line ends": "{a}\n,\n{b}",
    "other separators": "{a};{b}|{a} {b}",
    "a part of an id": "{a_cut},{b_cut}",
    "more than an id": "{a}0,x{b}",
    "not in the form of an id": "{a_lower}",
    "both": "{a},{b}",
    "both, twice, among commas": ",{a},,{b},{a},",
    "both, in the other order": "{b},{a}",
    "one quoted, one not": '"{a}",{b}',
    "one": "{a}",
    "ten thousand others": "{many}",
    "ten thousand others and one": "{many},{b}",
}


@dataclass(frozen=True, slots=True)
class Street:
    """One row of each of three tenants in every table that has tenants, and one of the platform where it may have any."""

    database: TestDatabase
    a: str
    b: str
    c: str
    tables: dict[str, Table]
    rows: dict[str, dict[str, dict[str, Any]]]
    #: Tables with a row of the platform.
    shared: frozenset[str]

    def list_of(self, words: str) -> str:
        """The list, with ids in their places."""
        now = datetime.now(UTC)
        many = ",".join(TENANT.new(now) for _ in range(10_000)) if "{many}" in words else ""
        return words.format(
            a=self.a, b=self.b, a_cut=self.a[:-1], b_cut=self.b[1:], a_lower=self.a.lower(), many=many
        )


@pytest.fixture(scope="module")
async def street(server: TestServer) -> AsyncIterator[Street]:
    a, b, c = (TENANT.new(datetime.now(UTC)) for _ in range(3))
    async with server.clone() as database:
        async with database.owner() as owner:
            known = await read_tables(owner)
        async with database.runtime() as connection:
            rows = await write_one_each(connection, known, [a, b, c])
        tables = {table.name: table for table in known if table.has_tenant}
        shared: set[str] = set()
        async with database.runtime() as connection:
            for name in OPENED:
                if not tables[name].tenant_required:
                    row = make_row(tables[name], a, TENANT.new(datetime.now(UTC))[4:], rows[a])
                    async with connection.transaction():
                        await connection.execute("SET LOCAL ROLE tidings_platform")
                        platforms = {"tenant_id": None} | ({"scope": "platform"} if "scope" in row else {})
                        await insert_row(connection, name, row | platforms)
                    shared.add(name)
        yield Street(database, a, b, c, tables, rows, frozenset(shared))


@contextlib.asynccontextmanager
async def _naming(
    street: Street, listed: str, *, tenant: str | None = None, role: str | None = None
) -> AsyncIterator[asyncpg.Connection]:
    """A transaction with the list, undone at its end."""
    async with street.database.runtime() as connection:
        transaction = connection.transaction()
        await transaction.start()
        if role is not None:
            await connection.execute(f"SET LOCAL ROLE {role}")
        await connection.execute("SELECT set_config('app.tenant_ids', $1, true)", listed)
        if tenant is not None:
            await connection.execute("SELECT set_config('app.tenant_id', $1, true)", tenant)
        try:
            yield connection
        finally:
            await transaction.rollback()


async def _touched(connection: asyncpg.Connection, statement: str, *values: Any) -> int:
    """How many rows it touches, undone; none where its role may not."""
    part = connection.transaction()
    await part.start()
    try:
        return int((await connection.execute(statement, *values)).rpartition(" ")[2])
    except Denied as denied:
        if "row-level security" in str(denied):
            raise
        return 0
    finally:
        await part.rollback()


async def _seen(connection: asyncpg.Connection, name: str) -> set[str | None]:
    """Whose rows it sees."""
    return {row["tenant_id"] for row in await connection.fetch(f"SELECT tenant_id FROM {name}")}


async def _change(connection: asyncpg.Connection, name: str) -> str | None:
    """An update that changes nothing, of a column that the role may change."""
    column = await connection.fetchval(_UPDATABLE, name)
    return None if column is None else f"UPDATE {name} SET {column} = {column}"


def _shown(street: Street, name: str) -> set[str | None]:
    """The platform's rows, where they are meant to be read."""
    return {None} if name in street.shared and name in PLATFORM_ROWS_READABLE else set()


async def test_the_tables_here_are_those_of_the_catalogue(street: Street) -> None:
    """A table that is opened later is tested too; the list is a matter of one policy, for the runtime role alone."""
    async with street.database.owner() as owner:
        found = await owner.fetch(_BY_THE_LIST)

    assert [row["name"] for row in found] == sorted(OPENED)
    assert len(OPENED) > 30
    for row in found:
        assert (row["polname"], row["roles"], row["command"]) == ("tenant_sets", ["tidings_runtime"], "*")


@pytest.mark.parametrize("name", READABLE)
async def test_rows_of_the_listed_tenants_are_seen_and_no_other(street: Street, name: str) -> None:
    async with _naming(street, f"{street.a},{street.b}") as connection:
        assert await _seen(connection, name) == {street.a, street.b} | _shown(street, name)
    async with _naming(street, street.b) as connection:
        assert await _seen(connection, name) == {street.b} | _shown(street, name)


@pytest.mark.parametrize("name", sorted(WRITE_ONLY))
async def test_what_is_only_written_is_not_read_by_a_list_either(street: Street, name: str) -> None:
    async with _naming(street, f"{street.a},{street.b}") as connection:
        for statement in (f"SELECT tenant_id FROM {name}", f"DELETE FROM {name}"):
            with pytest.raises(Denied, match="permission denied"):
                async with connection.transaction():
                    await connection.execute(statement)
        assert await _change(connection, name) is None


@pytest.mark.parametrize("name", READABLE)
async def test_rows_of_others_are_not_changed_deleted_or_locked(street: Street, name: str) -> None:
    """Not by a statement that names them, and not by one that names nobody, which touches the listed tenants' rows alone."""
    async with _naming(street, f"{street.a},{street.b}") as connection:
        own = await connection.fetchval(f"SELECT count(*) FROM {name} WHERE tenant_id IS NOT NULL")
        if change := await _change(connection, name):
            with contextlib.suppress(asyncpg.RestrictViolationError):
                assert await _touched(connection, change) == own
            assert await _touched(connection, f"{change} WHERE tenant_id = $1", street.c) == 0
            assert await _touched(connection, f"{change} WHERE tenant_id IS NULL") == 0
            assert (
                await _touched(connection, f"SELECT FROM {name} WHERE tenant_id = $1 FOR UPDATE", street.c)
                == 0
            )
        with contextlib.suppress(asyncpg.ForeignKeyViolationError, asyncpg.RestrictViolationError):
            assert await _touched(connection, f"DELETE FROM {name}") in {0, own}
        assert await _touched(connection, f"DELETE FROM {name} WHERE tenant_id = $1", street.c) == 0
        assert await _touched(connection, f"DELETE FROM {name} WHERE tenant_id IS NULL") == 0


@pytest.mark.parametrize("name", OPENED)
async def test_a_row_for_others_is_refused(street: Street, name: str) -> None:
    """Neither written, nor found to be there already, nor handed over; and not for the platform."""
    now = datetime.now(UTC)
    new = make_row(street.tables[name], street.c, TENANT.new(now)[4:], street.rows[street.c])
    old = street.rows[street.c][name]
    columns = ", ".join(f'"{column}"' for column in old)
    places = ", ".join(f"${n}" for n in range(1, len(old) + 1))
    refused = f"INSERT INTO {name} ({columns}) VALUES ({places}) ON CONFLICT DO NOTHING"
    async with _naming(street, f"{street.a},{street.b}") as connection:
        for row in (new, new | {"tenant_id": None}):
            with pytest.raises((Denied, asyncpg.NotNullViolationError)):
                async with connection.transaction():
                    await insert_row(connection, name, row)
        with pytest.raises(Denied):
            async with connection.transaction():
                await connection.execute(refused, *old.values())
        for receiver in (street.c, None):
            with pytest.raises((Denied, asyncpg.RestrictViolationError, asyncpg.NotNullViolationError)):
                async with connection.transaction():
                    await connection.execute(
                        f"UPDATE {name} SET tenant_id = $1 WHERE tenant_id = $2", receiver, street.a
                    )


@pytest.mark.parametrize("words", LISTS.values(), ids=LISTS.keys())
async def test_only_a_whole_word_of_the_list_names_a_tenant(street: Street, words: str) -> None:
    """Whatever else the list holds is a tenant that does not exist; on all tables at once, opened or not."""
    listed = street.list_of(words)
    named = {street.a, street.b} & set(listed.split(","))
    async with _naming(street, listed) as connection:
        for name in street.tables:
            if not await connection.fetchval("SELECT has_table_privilege($1, 'SELECT')", name):
                continue
            seen = {owner for owner in await _seen(connection, name) if owner is not None}
            assert seen == (named if name in OPENED else set()), name
        for name in OPENED:
            if change := await _change(connection, name):
                assert await _touched(connection, f"{change} WHERE tenant_id = $1", street.c) == 0
            with pytest.raises(Denied):
                async with connection.transaction():
                    await insert_row(connection, name, street.rows[street.c][name])


@pytest.mark.parametrize("name", READABLE)
async def test_a_tenant_and_a_list_show_what_each_shows_and_no_more(street: Street, name: str) -> None:
    async with _naming(street, street.b, tenant=street.a) as connection:
        assert await _seen(connection, name) == {street.a, street.b} | _shown(street, name)
        with pytest.raises(Denied):
            async with connection.transaction():
                await insert_row(connection, name, street.rows[street.c][name])
    for listed in ("", ",", "*", f"{street.c[:-1]}"):
        async with _naming(street, listed, tenant=street.a) as connection:
            assert await _seen(connection, name) == {street.a} | _shown(street, name)
    # A list in the place of one tenant names nobody.
    async with _naming(street, street.b, tenant=f"{street.a},{street.c}") as connection:
        assert await _seen(connection, name) == {street.b} | _shown(street, name)


@pytest.mark.parametrize("role", ["tidings_worker", "tidings_platform"])
async def test_a_list_says_nothing_to_other_roles(street: Street, role: str) -> None:
    """What they see and may write is the same with a list and without."""
    found: list[dict[str, object]] = []
    for listed in ("", f"{street.a},{street.b}"):
        async with _naming(street, listed, role=role) as connection:
            seen: dict[str, object] = {}
            for name in street.tables:
                try:
                    async with connection.transaction():
                        seen[name] = await connection.fetchval(f"SELECT count(*) FROM {name}")
                except Denied:
                    seen[name] = "denied"
                try:
                    part = connection.transaction()
                    await part.start()
                    await insert_row(connection, name, street.rows[street.a][name])
                except asyncpg.PostgresError as refused:
                    seen[f"written to {name}"] = refused.sqlstate
                finally:
                    await part.rollback()
            found.append(seen)

    assert found[0] == found[1]


@pytest.mark.parametrize("caller_role", ["tenant.viewer", "platform.support"])
async def test_a_read_only_caller_with_a_list_writes_nothing(street: Street, caller_role: str) -> None:
    """Limits and the audit trail are the exceptions: what such a caller does is counted and written down, too."""
    for name in OPENED:
        if name in WRITTEN_BY_ALL:
            continue
        async with _naming(street, f"{street.a},{street.b}") as connection:
            await connection.execute("SELECT set_config('app.caller_role', $1, true)", caller_role)
            row = make_row(
                street.tables[name], street.a, TENANT.new(datetime.now(UTC))[4:], street.rows[street.a]
            )
            with pytest.raises(Denied):
                async with connection.transaction():
                    await insert_row(connection, name, row)
