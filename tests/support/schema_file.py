"""Writes `schema.sql` from the migrations, or says that it differs: `make schema`, `make check`."""

import asyncio
import sys

from tests.support.postgres import RunningServer
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.migrations.schema_dump import SCHEMA_PATH, difference, dump_schema


async def _fresh(server: RunningServer) -> str:
    async with server.server.clone("template0") as database:
        await migrate_up(database.owner_url)
        return await dump_schema(database.owner_url)


def main() -> int:
    """Write it, or compare with `--check`."""
    server = RunningServer.start(template=False)
    try:
        fresh = asyncio.run(_fresh(server))
    finally:
        server.stop()
    committed = SCHEMA_PATH.read_text() if SCHEMA_PATH.exists() else ""
    if "--check" in sys.argv:
        if changes := difference(committed, fresh):
            print(changes)
            print("schema.sql differs from what the migrations make: run `make schema` and commit it")
            return 1
        return 0
    SCHEMA_PATH.write_text(fresh)
    print(f"wrote {SCHEMA_PATH}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
