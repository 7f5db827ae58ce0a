"""`tidings break-glass`: read across all tenants, with a reason, and leave a trace."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from tidings.cli.options import Actor, DatabaseUrl, DataDir, Json, OwnerDatabaseUrl
from tidings.cli.system import open_database, operator


def break_glass(
    *,
    reason: Annotated[
        str, typer.Option(help="Why; at least 10 characters. It is audited before anything is read.")
    ],
    sql: Annotated[str, typer.Option(help="One statement that reads.")],
    as_json: Json = False,
    actor: Actor = None,
    timeout: Annotated[int, typer.Option(help="Seconds after which the statement is cancelled.", min=1)] = 30,
    limit: Annotated[int, typer.Option(help="Rows shown at most.", min=1, max=100_000)] = 1000,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    owner_database_url: OwnerDatabaseUrl = None,
) -> None:
    """Read across all tenants in an emergency. The audit row is written first."""
    asyncio.run(
        _run(
            reason=reason,
            sql=sql,
            as_json=as_json,
            actor=actor,
            timeout=timeout,
            limit=limit,
            data_dir=data_dir,
            url=database_url,
            owner_url=owner_database_url,
        )
    )


async def _run(
    *,
    reason: str,
    sql: str,
    as_json: bool,
    actor: str | None,
    timeout: int,
    limit: int,
    data_dir: Path | None,
    url: str | None,
    owner_url: str | None,
) -> None:
    import json
    from datetime import timedelta

    from tidings.cli import connection
    from tidings.kernel.audit.log import AuditLog
    from tidings.kernel.clock import SystemClock
    from tidings.operations.break_glass import break_glass as read

    clock = SystemClock()
    async with (
        connection.owner_url(data_dir, owner_url) as owner,
        open_database(data_dir, url) as (db, _),
    ):
        shown = await read(
            owner,
            db,
            AuditLog("notification", clock),
            clock,
            actor=actor or operator(),
            reason=reason,
            sql=sql,
            timeout=timedelta(seconds=timeout),
            most_rows=limit,
        )
    if as_json:
        for row in shown.rows:
            print(json.dumps(dict(zip(shown.columns, row, strict=True)), default=str, ensure_ascii=False))
    else:
        _print_table(shown.columns, shown.rows)
    note = f"{len(shown.rows)} rows{', and there are more' if shown.cut_off else ''}; audited as {shown.id}"
    typer.echo(note, err=True)


def _print_table(columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, header_style="bold")
    for row in rows:
        table.add_row(*(Text("" if value is None else str(value)) for value in row))
    Console().print(table)
