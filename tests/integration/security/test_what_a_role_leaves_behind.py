"""Whoever has the runtime role's URL sets defaults for all sessions of the role, and goes; Tidings works on."""

import asyncpg
import pytest

from tests.support.postgres import TestDatabase


@pytest.mark.parametrize("setting", ["default_transaction_read_only = on", "row_security = off"])
async def test_a_default_of_the_role_does_not_stick(fresh_database: TestDatabase, setting: str) -> None:
    async with fresh_database.runtime() as attacker:
        # In this database only: other tests share the server.
        await attacker.execute(f"ALTER ROLE tidings_runtime IN DATABASE {fresh_database.name} SET {setting}")
    async with fresh_database.runtime() as anybody:
        name, _, wanted = setting.partition(" = ")
        stays = await anybody.fetchval("SELECT current_setting($1)", name)
    async with fresh_database.opened() as db, db.platform() as tx:
        written = await tx.connection.execute(
            "INSERT INTO notification.tenants_local (tenant_id, region) VALUES ('tnt_01JCQ8ZK6T9Y4M2V7N5B3D1F0G', 'test')"
        )

    assert stays == wanted
    assert written == "INSERT 0 1"


async def test_the_role_has_no_other_database_to_go_to(fresh_database: TestDatabase) -> None:
    """The embedded server, made as `tidings up` makes it."""
    for other in ("postgres", "template1"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await asyncpg.connect(fresh_database.runtime_url.rpartition("/")[0] + f"/{other}", timeout=10)
