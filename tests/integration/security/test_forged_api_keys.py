"""Whoever has the runtime role's URL writes themselves an API key, or changes one; it opens no door.

The role may write rows of `api_keys`: the application does it as that role. What it lacks is the key that seals them.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import structlog

from tests.support.http import HttpWorld, http_world
from tests.support.postgres import TestDatabase
from tidings import settings
from tidings.bootstrap import System
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.keys.rotation import rotate_master
from tidings.notify.access.model import credential, hash_secret, new_secret
from tidings.notify.ids import API_KEY, ApiKeyId

WHOAMI = "/api/v1/tenant"
MINE = "/api/v1/api-keys"
_INSERT = (
    "INSERT INTO notification.api_keys (id, tenant_id, name, secret_hash, scopes, role, environment, created_by) "
    "VALUES ($1, $2, 'forged', $3, $4, $5, 'live', 'nobody')"
)


@asynccontextmanager
async def _as(connection: Any, role: str, tenant_id: str | None = None) -> AsyncIterator[None]:
    """As the runtime role may: any tenant's name, and the role of the platform."""
    async with connection.transaction():
        if role != "tidings_runtime":
            await connection.execute(f"SET LOCAL ROLE {role}")
        if tenant_id is not None:
            await connection.execute("SELECT set_config('app.tenant_id', $1, true)", tenant_id)
        yield


async def _get(world: HttpWorld, carried: str, path: str = MINE, **headers: str) -> httpx2.Response:
    async with world.client(carried, **headers) as client:
        return await client.get(path)


async def test_a_platform_key_written_by_sql_opens_no_door(
    world: HttpWorld, worker_database: TestDatabase
) -> None:
    tenant = await world.tenant()
    await world.key(tenant.id)
    secret, key_id = new_secret(), API_KEY.new(SystemClock().now())
    async with worker_database.runtime() as attacker, _as(attacker, "tidings_platform"):
        await attacker.execute(
            _INSERT, key_id, None, hash_secret(secret), ["notifications:read"], "platform.channel.admin"
        )
    with structlog.testing.capture_logs() as logs:
        answer = await _get(
            world, credential(key_id, secret), "/api/v1/notifications", **{"X-Tenant-Id": tenant.id}
        )

    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert [(line["event"], line["key_id"]) for line in logs if line["log_level"] == "error"] == [
        ("api_key_seal_broken", key_id)
    ]
    assert "tidings_api_key_seals_broken_total 1.0" in world.system.kernel.metrics.render().decode()


async def test_a_tenants_key_written_by_sql_opens_no_door(
    world: HttpWorld, worker_database: TestDatabase
) -> None:
    """Without changing the role: as the tenant itself."""
    tenant = await world.tenant()
    key, carried = await world.key(tenant.id)
    secret, key_id = new_secret(), API_KEY.new(SystemClock().now())
    async with worker_database.runtime() as attacker, _as(attacker, "tidings_runtime", tenant.id):
        await attacker.execute(
            _INSERT, key_id, tenant.id, hash_secret(secret), ["api_keys:read"], "tenant.admin"
        )
        # The seal of another row proves nothing about this one.
        await attacker.execute(
            "UPDATE notification.api_keys SET seal = (SELECT seal FROM notification.api_keys WHERE id = $2) WHERE id = $1",
            key_id,
            key.id,
        )

    assert (await _get(world, credential(key_id, secret))).status_code == 401
    assert (await _get(world, carried)).status_code == 200


async def test_a_key_that_was_changed_by_sql_opens_no_door(
    world: HttpWorld, worker_database: TestDatabase
) -> None:
    """Every column that gives something: more than the key had, to more people, for longer."""
    tenant, other = await world.tenant(), await world.tenant()
    changes = {
        "secret_hash": hash_secret("x" * 43),
        "scopes": ["api_keys:read", "api_keys:write", "notifications:read"],
        "role": "tenant.support",
        "environment": "live",
        "expires_at": None,
        "tenant_id": other.id,
    }
    found = {}
    for column, value in changes.items():
        expires: dict[str, Any] = (
            {"expires_at": SystemClock().now().replace(year=2035)} if column == "expires_at" else {}
        )
        key, carried = await world.key(
            tenant.id, role="tenant.admin", scopes=["api_keys:read"], environment="test", **expires
        )
        if column == "secret_hash":
            carried = credential(ApiKeyId(key.id), "x" * 43)
        async with worker_database.runtime() as attacker, _as(attacker, "tidings_platform"):
            await attacker.execute(
                f"UPDATE notification.api_keys SET {column} = $2 WHERE id = $1", key.id, value
            )
        found[column] = (await _get(world, carried, WHOAMI)).status_code

    assert found == dict.fromkeys(changes, 401)


async def test_a_revoked_key_does_not_come_back_by_sql(
    world: HttpWorld, worker_database: TestDatabase
) -> None:
    tenant = await world.tenant()
    _, admin = await world.key(tenant.id)
    key, carried = await world.key(tenant.id)
    async with world.client(admin) as client:
        assert (await client.delete(f"{MINE}/{key.id}")).status_code == 200
    async with worker_database.runtime() as attacker, _as(attacker, "tidings_runtime", tenant.id):
        await attacker.execute("UPDATE notification.api_keys SET revoked_at = NULL WHERE id = $1", key.id)
    world.system.access.keys.forget(key.id)

    assert (await _get(world, carried)).status_code == 401


async def test_a_changed_key_is_not_rotated_into_a_good_one(
    world: HttpWorld, worker_database: TestDatabase
) -> None:
    tenant = await world.tenant()
    _, admin = await world.key(tenant.id)
    key, _ = await world.key(tenant.id, role="tenant.viewer")
    async with worker_database.runtime() as attacker, _as(attacker, "tidings_runtime", tenant.id):
        await attacker.execute("UPDATE notification.api_keys SET role = 'tenant.admin' WHERE id = $1", key.id)
    async with world.client(admin) as client:
        answer = await client.post(f"{MINE}/{key.id}/rotate", json={})

    assert (answer.status_code, answer.json()["code"]) == (409, "key_ended")
    assert "changed outside Tidings" in answer.json()["detail"]


async def test_keys_older_than_seals_are_sealed_once(
    fresh_db: Database, fresh_database: TestDatabase
) -> None:
    """The upgrade: what is there when the sealing key is made goes on working; what comes later by SQL does not."""
    world = http_world(fresh_db)
    tenant = await world.tenant()
    _, old = await world.key(tenant.id)
    async with fresh_database.owner() as owner, owner.transaction():
        await owner.execute("ALTER TABLE notification.api_keys NO FORCE ROW LEVEL SECURITY")
        await owner.execute("ALTER TABLE kernel.platform_keys NO FORCE ROW LEVEL SECURITY")
        await owner.execute("UPDATE notification.api_keys SET seal = NULL")
        await owner.execute("DELETE FROM kernel.platform_keys WHERE purpose = 'api_keys'")
        await owner.execute("ALTER TABLE kernel.platform_keys FORCE ROW LEVEL SECURITY")
        await owner.execute("ALTER TABLE notification.api_keys FORCE ROW LEVEL SECURITY")
    upgraded = http_world(fresh_db)
    first = await _get(upgraded, old)
    secret, key_id = new_secret(), API_KEY.new(SystemClock().now())
    async with fresh_database.runtime() as attacker, _as(attacker, "tidings_runtime", tenant.id):
        await attacker.execute(
            _INSERT, key_id, tenant.id, hash_secret(secret), ["api_keys:read"], "tenant.admin"
        )
    restarted = http_world(fresh_db)

    assert first.status_code == 200
    assert (await _get(restarted, credential(key_id, secret))).status_code == 401
    assert (await _get(restarted, old)).status_code == 200


async def test_keys_are_sealed_at_the_start(fresh_database: TestDatabase, tmp_path: Path) -> None:
    """Not at the first call: a row that is written until then would be sealed along with the others."""
    chosen = settings.load({"TIDINGS_DATA_DIR": str(tmp_path)})
    async with (
        System(chosen, runtime_url=fresh_database.runtime_url),
        fresh_database.runtime() as reader,
        _as(reader, "tidings_platform"),
    ):
        purposes = await reader.fetch("SELECT purpose FROM kernel.platform_keys")

    assert "api_keys" in [row["purpose"] for row in purposes]


async def test_the_sealing_key_can_t_be_taken_away(worker_database: TestDatabase) -> None:
    """Without it the next start would seal every row that is there."""
    async with worker_database.runtime() as attacker:
        for statement in (
            "DELETE FROM kernel.platform_keys WHERE purpose = 'api_keys'",
            "UPDATE kernel.platform_keys SET purpose = 'gone' WHERE purpose = 'api_keys'",
            "UPDATE kernel.platform_keys SET version = 9 WHERE purpose = 'api_keys'",
            "TRUNCATE kernel.platform_keys",
        ):
            try:
                async with _as(attacker, "tidings_platform"):
                    await attacker.execute(statement)
            except asyncpg.InsufficientPrivilegeError:
                continue
            raise AssertionError(statement)


async def test_rotating_the_master_key_leaves_every_key_working(fresh_db: Database) -> None:
    """In a database of its own: others have keys of other masters in the shared one."""
    world = http_world(fresh_db)
    tenant = await world.tenant()
    _, carried = await world.key(tenant.id)
    await rotate_master(world.db, world.system.kernel.kms)
    afterwards = http_world(world.db)
    _, fresh = await world.key(tenant.id)

    assert [(await _get(afterwards, one)).status_code for one in (carried, fresh)] == [200, 200]
