"""The real migrations, killed at moments that nobody chose, come to the same schema in the end."""

import asyncio
import random

import pytest

from tests.support.migration_files import RunnerProcess
from tests.support.postgres import TEMPLATE, TestServer
from tidings.kernel.clock import SystemClock
from tidings.operations.migrations.discover import MIGRATIONS_FOLDER
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.migrations.schema_dump import difference, dump_schema
from tidings.operations.migrations.status import check_schema
from tidings.operations.partitions import make_missing

KILLS = 4


@pytest.mark.parametrize("round_", range(3))
async def test_killed_again_and_again(server: TestServer, round_: int) -> None:
    """SIGKILL after a random part of a second, four times, then a run that may finish."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"round {round_}: seed {seed}")  # noqa: T201  # shown when it fails
    chance = random.Random(seed)
    async with server.clone("template0") as database:
        for _ in range(KILLS):
            runner = await RunnerProcess.start(database.owner_url, MIGRATIONS_FOLDER)
            await runner.first_line()
            await asyncio.sleep(chance.uniform(0, 0.25))  # the moment of the accident; nothing is waited for
            await runner.kill()

        await migrate_up(database.owner_url)
        async with database.owner() as owner:
            await make_missing(owner, SystemClock().now())  # as `tidings migrate up` does

        assert await check_schema(database.owner_url) == []
        undisturbed = await dump_schema(server.database(TEMPLATE).owner_url)
        assert difference(undisturbed, await dump_schema(database.owner_url)) == ""
        async with database.owner() as owner:
            applied_twice = await owner.fetch(
                "SELECT number FROM kernel.schema_migrations_log WHERE action = 'applied' "
                "GROUP BY number HAVING count(*) > 1"
            )
    assert applied_twice == []
