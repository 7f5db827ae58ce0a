"""`tidings execution`: how messages go, or went, through their ladders."""

import sys
from typing import Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.options import DataDir, Json, moment_of
from tidings.cli.printing import print_json

app = typer.Typer(
    help="Executions: ladders under way and over, with attempts, receipts and costs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def list_(
    *,
    status: Annotated[str | None, typer.Option("--status", help="under_way or over.")] = None,
    outcome: Annotated[str | None, typer.Option("--outcome", help="DELIVERED, FAILED, …")] = None,
    use_case: Annotated[str | None, typer.Option("--use-case", help="otp, txn, …")] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="Begun then or later: 2026-11-15T12:00:00Z.")
    ] = None,
    lines: Annotated[int, typer.Option("-n", "--lines", help="How many at most.", min=1, max=1000)] = 20,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show executions, the newest first, one line each."""
    from tidings.cli.execution_words import line_of
    from tidings_client import executions

    begun = moment_of(since, "--since")
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    with client(url, key, tenant, data_dir) as tidings:
        while True:
            page = tidings.call(
                executions.page(
                    status=status,
                    outcome=outcome,
                    use_case=use_case,
                    since=begun,
                    limit=min(lines - len(found), 200),
                    cursor=cursor,
                )
            )
            found += page["items"]
            cursor = page.get("next_cursor")
            # A page with a filter may be empty and not be the last.
            if cursor is None or len(found) >= lines:
                break
    if as_json:
        print_json(found)
        return
    for execution in found:
        print(line_of(execution))
    if not found:
        print("there is none")


@app.command("show")
def show(
    execution_id: Annotated[str, typer.Argument(metavar="EXECUTION", help="exec_…")],
    *,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show one with its frozen ladder, attempts, receipts, costs and clocks."""
    from tidings.cli.execution_words import lines_of
    from tidings_client import executions

    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(executions.show(execution_id))
    print_json(found) if as_json else print("\n".join(lines_of(found)))


@app.command("answer")
def answer(
    execution_id: Annotated[str, typer.Argument(metavar="EXECUTION", help="exec_…")],
    attempt_id: Annotated[str, typer.Argument(metavar="ATTEMPT", help="attempt_…, as `show` lists them.")],
    *,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Print what the vendor answered to an attempt, word for word; it may hold an address, and is audited."""
    from tidings_client import executions

    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(executions.answer(execution_id, attempt_id))
    sys.stdout.buffer.write(found)
