"""`tidings partitions`: make what is missing, or say what is."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from tidings.cli import options


def partitions(
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Make nothing; exit with 1 when one is missing.")
    ] = False,
    as_json: options.Json = False,
    data_dir: options.DataDir = None,
    owner_database_url: options.OwnerDatabaseUrl = None,
) -> None:
    """Make partitions ahead of time, three months of each table and some days of the bus."""
    raise SystemExit(asyncio.run(_run(data_dir, owner_database_url, check=check, as_json=as_json)))


async def _run(data_dir: Path | None, url: str | None, *, check: bool, as_json: bool) -> int:
    import json

    import asyncpg

    from tidings.cli.database_connection import owner_url
    from tidings.kernel.clock import SystemClock
    from tidings.kernel.db import translated
    from tidings.operations.partitions import drop_old, make_missing
    from tidings.operations.partitions.store import missing_partitions

    now = SystemClock().now()
    async with owner_url(data_dir, url) as found:
        with translated():
            connection = await asyncpg.connect(found, timeout=10)
        try:
            made = [] if check else await make_missing(connection, now)
            dropped = [] if check else await drop_old(connection, now)
            missing = await missing_partitions(connection, now)
        finally:
            await connection.close()
    if as_json:
        print(
            json.dumps(
                {"made": [p.name for p in made], "dropped": dropped, "missing": [p.name for p in missing]},
                indent=2,
            )
        )
    else:
        for partition in made:
            print(f"made     {partition.name}")
        for name in dropped:
            print(f"dropped  {name}")
        for partition in missing:
            print(f"missing  {partition.name}")
        if not missing:
            print(f"nothing is missing; {len(made)} made" if made else "nothing is missing")
        elif check:
            print("run `tidings partitions` to make them")
    return 1 if missing else 0
