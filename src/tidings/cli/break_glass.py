"""`tidings break-glass`: read across all tenants, with a reason, and leave a trace."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer


def break_glass(
    *,
    reason: Annotated[
        str, typer.Option(help="Why; at least 10 characters. It is audited before anything is read.")
    ],
    sql: Annotated[str, typer.Option(help="One statement that reads.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one row a line.")] = False,
    actor: Annotated[str | None, typer.Option(help="Who is asking; default: your login name.")] = None,
    timeout: Annotated[int, typer.Option(help="Seconds after which the statement is cancelled.", min=1)] = 30,
    limit: Annotated[int, typer.Option(help="Rows shown at most.", min=1, max=100_000)] = 1000,
    data_dir: Annotated[
        Path | None,
        typer.Option("--data-dir", envvar="TIDINGS_DATA_DIR", help="Folder of the embedded database."),
    ] = None,
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
) -> None:
    import getpass
    import json
    from datetime import timedelta

    from tidings.cli.connection import owner_url, runtime_url
    from tidings.kernel.audit.log import AuditLog
    from tidings.kernel.clock import SystemClock
    from tidings.kernel.db import Database
    from tidings.operations.break_glass import break_glass as read

    clock = SystemClock()
    async with owner_url(data_dir) as owner, runtime_url(data_dir) as runtime:
        db = Database(runtime)
        await db.open()
        try:
            shown = await read(
                owner,
                db,
                AuditLog("notification", clock),
                clock,
                actor=actor or f"cli:{getpass.getuser()}",
                reason=reason,
                sql=sql,
                timeout=timedelta(seconds=timeout),
                most_rows=limit,
            )
        finally:
            await db.close()
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
