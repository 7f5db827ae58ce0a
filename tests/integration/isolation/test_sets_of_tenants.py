"""A transaction over a set of rows of several tenants is confined to the tenants that it names."""

from dataclasses import dataclass
from datetime import UTC, datetime

import asyncpg
import pytest

from tests.support.postgres import TestDatabase
from tidings.kernel.db import Database
from tidings.kernel.errors import BadValueError, DatabaseError
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.sql import Query, number_parameters


def _query(statement: str) -> Query:
    text, parameters = number_parameters(statement)
    return Query(name="test", why="A test.", text=text, parameters=parameters)


SEEN = _query("SELECT tenant_id FROM notification.recipients WHERE identity_id = 'set' ORDER BY tenant_id")
ADD = _query(
    "INSERT INTO notification.recipients (tenant_id, id, identity_type, identity_id) "
    "SELECT t, 'rcp_' || substr(t, 5), 'user', 'set' FROM unnest(:owners::text[]) AS t"
)
FOUND = _query(
    "INSERT INTO notification.tenants_local (tenant_id, region) SELECT t, 'test' FROM unnest(:owners::text[]) AS t"
)
CHANGE = _query("UPDATE notification.recipients SET tags = '{seen}' WHERE identity_id = 'set'")
HAND_OVER = _query("UPDATE notification.recipients SET tenant_id = :to_tenant WHERE tenant_id = :from_tenant")
#: A table that no set works on.
CLOSED = _query("SELECT count(*) FROM notification.api_keys")


@dataclass(frozen=True, slots=True)
class Three:
    """Three tenants, each with one recipient."""

    db: Database
    database: TestDatabase
    a: TenantId
    b: TenantId
    c: TenantId


@pytest.fixture
async def three(db: Database, worker_database: TestDatabase) -> Three:
    """All of them written in one set."""
    a, b, c = sorted(TENANT.new(datetime.now(UTC)) for _ in range(3))
    async with db.platform() as tx:
        await tx.execute(FOUND, owners=[a, b, c])
    async with db.tenants([a, b, c]) as tx:
        assert await tx.execute(ADD, owners=[a, b, c]) == 3
    return Three(db, worker_database, a, b, c)


async def test_it_sees_the_tenants_that_it_names_and_no_other(three: Three) -> None:
    async with three.db.tenants([three.a, three.c]) as tx:
        assert [row["tenant_id"] for row in await tx.fetch(SEEN)] == [three.a, three.c]
        assert await tx.execute(CHANGE) == 2
    async with three.db.tenants([three.b]) as tx:
        assert [row["tenant_id"] for row in await tx.fetch(SEEN)] == [three.b]
    async with three.db.tenants([]) as tx:
        assert await tx.fetch(SEEN) == []
        assert await tx.execute(CHANGE) == 0


async def test_a_row_of_a_tenant_that_it_does_not_name_is_refused(three: Three) -> None:
    """Neither written nor handed over, and the rows beside it are not written either."""
    stranger = TENANT.new(datetime.now(UTC))
    with pytest.raises(DatabaseError):
        async with three.db.tenants([three.a, three.b]) as tx:
            await tx.execute(ADD, owners=[stranger])
    with pytest.raises(DatabaseError):
        async with three.db.tenants([three.a, three.b]) as tx:
            await tx.execute(HAND_OVER, from_tenant=three.a, to_tenant=three.c)
    async with three.db.tenants([three.a, three.b, three.c, stranger]) as tx:
        assert [row["tenant_id"] for row in await tx.fetch(SEEN)] == [three.a, three.b, three.c]


async def test_part_of_it_goes_on_for_one_of_its_tenants_only(three: Three) -> None:
    async with three.db.tenants([three.a, three.b]) as tx:
        assert tx.of(three.a).tenant_id == three.a
        with pytest.raises(ValueError, match="does not name"):
            tx.of(three.c)


async def test_tables_that_are_not_opened_to_sets_show_nothing(three: Three) -> None:
    async with three.db.tenants([three.a, three.b]) as tx:
        assert await tx.fetch_value(CLOSED) == 0


@pytest.mark.parametrize("hostile", ["*", "%", "','", "tnt_", "a') OR true --", "{}", "null"])
async def test_a_hostile_list_is_a_list_of_tenants_that_do_not_exist(three: Three, hostile: str) -> None:
    async with three.database.runtime() as connection, connection.transaction():
        await connection.execute("SELECT set_config('app.tenant_ids', $1, true)", f"{hostile},{three.b}")
        seen = await connection.fetch(SEEN.text)
        assert [row["tenant_id"] for row in seen] == [three.b]
        await connection.execute("SELECT set_config('app.tenant_ids', $1, true)", hostile)
        assert await connection.fetch(SEEN.text) == []
    with pytest.raises(BadValueError):
        three.db.tenants([three.a, TenantId(hostile)])


async def test_the_list_ends_with_the_transaction(three: Three) -> None:
    """The same connection shows nothing afterwards, and a read-only role stays one."""
    async with three.database.runtime() as connection:
        async with connection.transaction():
            await connection.execute("SELECT set_config('app.tenant_ids', $1, true)", three.a)
            assert len(await connection.fetch(SEEN.text)) == 1
        assert await connection.fetch(SEEN.text) == []
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with connection.transaction():
                await connection.execute("SELECT set_config('app.tenant_ids', $1, true)", three.a)
                await connection.execute("SELECT set_config('app.caller_role', 'tenant.viewer', true)")
                await connection.execute(CHANGE.text)
