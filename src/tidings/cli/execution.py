"""`tidings execution`: how messages go, or went, through their ladders."""

import sys
from typing import Annotated

import typer

from tidings.cli.api_command import Api, JsonObject, api_command
from tidings.cli.execution_words import line_of, lines_of
from tidings.cli.options import Lines, moment_of
from tidings.cli.resource import add_resource

app = typer.Typer(
    help="Executions: ladders under way and over, with attempts, receipts and costs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Execution = Annotated[str, typer.Argument(metavar="EXECUTION", help="exec_…")]


@api_command(app, "list", text=line_of)
def list_(
    api: Api,
    *,
    status: Annotated[str | None, typer.Option("--status", help="under_way or over.")] = None,
    outcome: Annotated[str | None, typer.Option("--outcome", help="DELIVERED, FAILED, …")] = None,
    use_case: Annotated[str | None, typer.Option("--use-case", help="otp, txn, …")] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="Begun then or later: 2026-11-15T12:00:00Z.")
    ] = None,
    lines: Lines = 20,
) -> list[JsonObject]:
    """Show executions, the newest first, one line each."""
    begun = moment_of(since, "--since")
    wanted = {"status": status, "outcome": outcome, "use_case": use_case, "since": begun}
    return api.list_all("list_executions", most=lines, **wanted)


@api_command(app, "show", text=lines_of)
def show(api: Api, execution_id: Execution) -> JsonObject:
    """Show one with its frozen ladder, attempts, receipts, costs and clocks."""
    return api.call("show_execution", execution_id)


@api_command(app, "answer")
def answer(
    api: Api,
    execution_id: Execution,
    attempt_id: Annotated[str, typer.Argument(metavar="ATTEMPT", help="attempt_…, as `show` lists them.")],
) -> None:
    """Print what the vendor answered to an attempt, word for word; it may hold an address, and is audited."""
    for piece in api.download("read_answer", execution_id, attempt_id):
        sys.stdout.buffer.write(piece)


add_resource(app, "executions")
