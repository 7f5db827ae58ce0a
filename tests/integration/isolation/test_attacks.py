"""What somebody can do who sends any SQL as the runtime role, and what they can't.

Two things are out of reach of any test here. Whoever has the runtime role's password may name any tenant, one
at a time: the policies guard against our own mistakes, and the ciphertext against theirs. And Postgres shows
how many rows a table has to everybody.
"""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

import asyncpg
import pytest

from tests.support.migration_files import until
from tests.support.postgres import TestDatabase, TestServer, migrate
from tests.support.rows import SCHEMAS
from tidings.kernel.ids import TENANT

Denied = asyncpg.InsufficientPrivilegeError
ROLES = ("tidings_runtime", "tidings_platform", "tidings_worker")


@dataclass(frozen=True, slots=True)
class Street:
    """Two tenants, A and B; B has a recipient, a number and a callback."""

    database: TestDatabase
    a: str
    b: str
    recipient: str


@pytest.fixture(scope="module")
async def street(server: TestServer) -> AsyncIterator[Street]:
    """Migrated here and not cloned: a copy does not take the rights on the database along."""
    a, b = (TENANT.new(datetime.now(UTC)) for _ in range(2))
    recipient = f"rcp_{a[4:]}"
    async with server.clone("template0") as database:
        await migrate(database.owner_url)
        async with database.runtime() as connection:
            async with _as(connection, "tidings_platform"):
                for tenant in (a, b):
                    await connection.execute(
                        "INSERT INTO notification.tenants_local (tenant_id, region) VALUES ($1, 'test')",
                        tenant,
                    )
                await connection.execute(
                    "INSERT INTO chan.webhook_inbound_events (id, received_at, webhook_inbound_id, vendor, adapter, "
                    "vendor_message_id, type) VALUES ('whe_' || $1, now(), 'whi_1', 'v', 'a', 'm', 't')",
                    a[4:],
                )
            async with _as(connection, "tidings_runtime", b):
                await connection.execute(
                    "INSERT INTO notification.recipients (tenant_id, id, identity_type, identity_id) "
                    "VALUES ($1, $2, 'user', 'b-only-secret')",
                    b,
                    recipient,
                )
                await connection.execute(
                    "INSERT INTO chan.tenant_inbound_routes (tenant_id, id, inbound, webhook_url, secret_ref, platform) "
                    "VALUES ($1, 'route_' || $2, '+93700000000', 'https://b.example', 'env://X', true)",
                    b,
                    b[4:],
                )
        async with database.owner() as owner:
            await owner.execute("ANALYZE")
        yield Street(database, a, b, recipient)


@contextlib.asynccontextmanager
async def _as(connection: asyncpg.Connection, role: str, tenant: str | None = None) -> AsyncIterator[None]:
    async with connection.transaction():
        if role != "tidings_runtime":
            await connection.execute(f"SET LOCAL ROLE {role}")
        if tenant is not None:
            await connection.execute("SELECT set_config('app.tenant_id', $1, true)", tenant)
        yield


@pytest.mark.parametrize(
    "statement",
    [
        "SET ROLE tidings_breakglass",
        "SET ROLE tidings_owner",
        "SET SESSION AUTHORIZATION tidings_owner",
        "GRANT tidings_breakglass TO tidings_runtime",
        "ALTER ROLE tidings_runtime BYPASSRLS",
        "ALTER TABLE notification.recipients DISABLE ROW LEVEL SECURITY",
        "CREATE POLICY mine ON notification.recipients USING (true)",
        "CALL kernel.open_to_worker('notification.recipients', 'SELECT')",
        "CREATE TABLE public.shadow (id int)",
        "CREATE FUNCTION public.shadow() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE TEMPORARY TABLE recipients (id int)",
        "CREATE SCHEMA mine",
        "TRUNCATE notification.recipients",
        "SELECT setval('kernel.lease_fences', 1)",
        "SELECT setval('kernel.bus_positions', 1)",
        "SELECT last_value FROM notification.outbox_seq_seq",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT lo_import('/etc/passwd')",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "COPY (SELECT 1) TO '/tmp/out'",
        "SELECT * FROM pg_catalog.pg_authid",
        "SELECT * FROM pg_catalog.pg_statistic",
        "DELETE FROM kernel.schema_migrations",
        "INSERT INTO kernel.partitioned_tables VALUES ('x', 'notify', 'month', 1, 'x', 100, 1)",
    ],
)
async def test_no_role_of_the_product_can(street: Street, statement: str) -> None:
    """Neither as the runtime role nor as one that it may become."""
    async with street.database.runtime() as connection:
        for role in ROLES:
            with pytest.raises(Denied):
                async with _as(connection, role, street.a):
                    await connection.execute(statement)


async def test_switching_the_policies_off_gives_an_error_and_no_rows(street: Street) -> None:
    """`row_security` asks for a refusal; it is no key."""
    async with street.database.runtime() as connection:
        with pytest.raises(Denied, match="row-level security"):
            async with _as(connection, "tidings_runtime", street.a):
                await connection.execute("SET LOCAL row_security = off")
                await connection.fetch("SELECT * FROM notification.recipients")


async def test_copying_goes_through_the_policies(street: Street) -> None:
    """Out come the tenant's own rows, and in comes nothing."""
    async with street.database.runtime() as connection, _as(connection, "tidings_runtime", street.a):
        seen: list[bytes] = []

        async def keep(data: bytes) -> None:
            seen.append(data)

        await connection.copy_from_table("recipients", schema_name="notification", output=keep)
        assert seen == []
        with pytest.raises(asyncpg.FeatureNotSupportedError):
            await connection.copy_records_to_table(
                "recipients", schema_name="notification", records=[("rcp_1",)], columns=["id"]
            )


@pytest.mark.parametrize("role", ROLES)
async def test_statistics_do_not_quote_rows(street: Street, role: str) -> None:
    """The planner keeps the most common values of every column; tenants' tables show none of them."""
    async with street.database.runtime() as connection, _as(connection, role, street.a):
        for view in ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs"):
            found = await connection.fetch(
                f"SELECT schemaname, tablename FROM {view} WHERE schemaname = ANY ($1)", list(SCHEMAS)
            )
            open_tables = {"schema_migrations", "partitioned_tables"}
            assert {row["tablename"] for row in found} <= open_tables


async def test_a_condition_can_not_look_at_rows_before_the_policy(street: Street) -> None:
    """A cast that fails would quote another tenant's value in its error; it never gets to see it."""
    async with street.database.runtime() as connection, _as(connection, "tidings_runtime", street.a):
        rows = await connection.fetch("SELECT * FROM notification.recipients WHERE identity_id::int > 0")

    assert rows == []


async def test_a_statement_prepared_by_one_role_is_planned_anew_for_another(street: Street) -> None:
    """A kept plan does not keep the rights it was made with."""
    async with street.database.runtime() as connection:
        async with _as(connection, "tidings_platform"):
            statement = await connection.prepare("SELECT tenant_id FROM notification.tenants_local")
            assert len(await statement.fetch()) == 2
        async with _as(connection, "tidings_runtime", street.a):
            assert [row["tenant_id"] for row in await statement.fetch()] == [street.a]
        assert await statement.fetch() == []


async def test_anothers_number_can_not_be_taken_over(street: Street) -> None:
    """The one key that reaches across tenants refuses, and says nothing of its holder."""
    insert = (
        "INSERT INTO chan.tenant_inbound_routes (tenant_id, id, inbound, webhook_url, secret_ref, platform) "
        "VALUES ($1, 'route_' || $2, '+93700000000', 'https://a.example', 'env://X', true)"
    )
    async with street.database.runtime() as connection:
        with pytest.raises(asyncpg.UniqueViolationError) as refused:
            async with _as(connection, "tidings_runtime", street.a):
                await connection.execute(insert, street.a, street.a[4:])
        assert street.b not in str(refused.value) + str(refused.value.detail)
        with pytest.raises(Denied):
            async with _as(connection, "tidings_runtime", street.a):
                await connection.execute(
                    f"{insert} ON CONFLICT (ltrim(inbound, '+')) WHERE active AND platform "
                    "DO UPDATE SET tenant_id = excluded.tenant_id",
                    street.a,
                    street.a[4:],
                )


async def test_a_row_can_not_hang_on_anothers_row(street: Street) -> None:
    """Foreign keys carry the tenant, so B's recipient is nobody for A."""
    async with street.database.runtime() as connection:
        with pytest.raises(asyncpg.ForeignKeyViolationError):
            async with _as(connection, "tidings_runtime", street.a):
                await connection.execute(
                    "INSERT INTO notification.opt_out_tokens (tenant_id, id, recipient_id, channel, token_hash, "
                    "expires_at) VALUES ($1, 'oot_' || $2, $3, 'email', 'sha256:' || repeat('0', 64), now())",
                    street.a,
                    street.a[4:],
                    street.recipient,
                )


async def test_callbacks_are_the_platforms_until_they_are_somebodys(street: Street) -> None:
    """The platform reads what nobody owns, hands it over to the tenant it acts for, and sees it no more."""
    select = "SELECT payload_ciphertext FROM chan.webhook_inbound_events"
    async with street.database.runtime() as connection:
        async with _as(connection, "tidings_platform"):
            assert len(await connection.fetch(select)) == 1
        with pytest.raises(Denied):
            async with _as(connection, "tidings_worker"):
                await connection.fetch(select)
        with pytest.raises(Denied):
            async with _as(connection, "tidings_platform", street.a):
                await connection.execute("UPDATE chan.webhook_inbound_events SET tenant_id = $1", street.b)
        async with _as(connection, "tidings_platform", street.b):
            moved = await connection.execute(
                "UPDATE chan.webhook_inbound_events SET tenant_id = $1", street.b
            )
            assert moved == "UPDATE 1"
        async with _as(connection, "tidings_platform"):
            assert await connection.fetch(select) == []
        async with _as(connection, "tidings_runtime", street.a):
            assert await connection.fetch(select) == []
        async with _as(connection, "tidings_runtime", street.b):
            assert len(await connection.fetch(select)) == 1


async def test_the_worker_sweeps_only_what_is_over(street: Street) -> None:
    """A wrong sweep can't take work that is still to be done."""
    async with street.database.runtime() as connection:
        async with _as(connection, "tidings_runtime", street.b):
            for number, done in enumerate((False, True)):
                await connection.execute(
                    "INSERT INTO notification.notification_scheduled (tenant_id, id, kind, run_after, obsolete) "
                    "VALUES ($1, 'sch_' || $2, 'scheduled_send', now(), $3)",
                    street.b,
                    f"{street.b[4:-1]}{number}",
                    done,
                )
        async with _as(connection, "tidings_worker"):
            assert await connection.execute("DELETE FROM notification.notification_scheduled") == "DELETE 1"


async def test_other_sessions_statements_show_no_values(street: Street) -> None:
    """Parameters are not in pg_stat_activity, and the owner's statements are not shown at all."""
    async with (
        street.database.runtime() as victim,
        street.database.owner() as owner,
        street.database.runtime() as spy,
    ):
        await victim.fetch("SELECT id FROM notification.recipients WHERE identity_id = $1", "b-only-secret")
        await owner.fetch("SELECT 'owners secret'")
        seen = await spy.fetch(
            "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )

    assert seen
    assert not any("secret" in row["query"] for row in seen)


async def test_a_wake_up_names_no_tenant(street: Street) -> None:
    """Every session may listen; what it hears is the name of a schema."""
    heard: list[object] = []
    async with street.database.runtime() as spy, street.database.runtime() as connection:
        await spy.add_listener("tidings_outbox", lambda *news: heard.append(news[-1]))
        # A relay that rests holds this lock, which is when writers send a wake-up.
        await spy.execute("SELECT pg_advisory_lock(7411001, hashtext('notification') & 2147483647)")
        async with _as(connection, "tidings_runtime", street.b):
            await connection.execute(
                "INSERT INTO notification.outbox (id, tenant_id, subject, ordering_key, payload, envelope) "
                "VALUES ('evt_' || $1, $2, 's', 'k', 'p', 'e')",
                street.b[4:],
                street.b,
            )

        async def has_heard() -> bool:
            await spy.fetchval("SELECT 1")
            return bool(heard)

        await until(has_heard)

    assert heard == ["notification"]


async def test_the_runtime_role_can_not_connect_around_the_database(street: Street) -> None:
    """Nobody may make a superuser's connection: there is no way in for one."""
    parts = urlsplit(street.database.runtime_url)
    with pytest.raises((asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidPasswordError)):
        await asyncpg.connect(f"postgresql://postgres@{parts.hostname}:{parts.port}/postgres")
