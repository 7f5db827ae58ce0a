"""`tidings break-glass`: read across all tenants, with a reason, and leave a trace."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tidings.cli.options import Actor, OwnerDatabaseUrl
from tidings.cli.printing import table
from tidings.cli.system import DatabaseWithKeys, open_database, operator, system_command


@system_command(None, "break-glass", opened=open_database)
async def break_glass(
    connected: DatabaseWithKeys,
    *,
    reason: Annotated[
        str, typer.Option(help="Why; at least 10 characters. It is audited before anything is read.")
    ],
    sql: Annotated[str, typer.Option(help="One statement that reads.")],
    actor: Actor = None,
    timeout: Annotated[int, typer.Option(help="Seconds after which the statement is cancelled.", min=1)] = 30,
    limit: Annotated[int, typer.Option(help="Rows shown at most.", min=1, max=100_000)] = 1000,
    owner_database_url: OwnerDatabaseUrl = None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Read across all tenants in an emergency. The audit row is written first."""
    from datetime import timedelta

    from tidings.cli import database_connection
    from tidings.kernel.audit.log import AuditLog
    from tidings.kernel.clock import SystemClock
    from tidings.operations.break_glass import break_glass as read

    clock = SystemClock()
    async with database_connection.owner_url(data_dir, owner_database_url) as owner:
        shown = await read(
            owner,
            connected.db,
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
        print("\n".join(table(shown.columns, shown.rows)))
    note = f"{len(shown.rows)} rows{', and there are more' if shown.cut_off else ''}; audited as {shown.id}"
    typer.echo(note, err=True)
