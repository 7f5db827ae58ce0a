"""`tidings migrate`: the commands over the schema. Each says what it did, and exits with 1 when it could not."""

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import typer

from tidings.cli.command import command_group
from tidings.cli.options import DataDir, Json, OwnerDatabaseUrl

app = command_group()
Result = TypeVar("Result")

#: Comments, because it holds what only the administrator knows.
_AFTER_ROLES = """
-- Then, with passwords of your own, in the same session:
--   ALTER ROLE tidings_owner PASSWORD '...';
--   ALTER ROLE tidings_runtime PASSWORD '...';
--   CREATE DATABASE tidings OWNER tidings_owner;
--   REVOKE ALL ON DATABASE tidings FROM PUBLIC;
--   GRANT CONNECT ON DATABASE tidings TO tidings_runtime;
-- And then `tidings migrate up` with TIDINGS_OWNER_DATABASE_URL, `tidings bootstrap` with TIDINGS_DATABASE_URL.
"""

FolderOption = Annotated[
    Path | None, typer.Option("--folder", help="Other migrations than those of this release.", hidden=True)
]


@app.command("up")
def up(
    *,
    phase: Annotated[
        Literal["pre", "post", "all"],
        typer.Option(help="pre: before the new code starts. post: once only new code runs. all: in order."),
    ] = "all",
    lock_timeout: Annotated[
        float, typer.Option(min=0.05, help="Seconds to ask for one lock; others wait behind us as long.")
    ] = 2.0,
    lock_attempts: Annotated[int, typer.Option(min=1, help="How often to ask for it.")] = 30,
    data_dir: DataDir = None,
    owner_database_url: OwnerDatabaseUrl = None,
    folder: FolderOption = None,
) -> None:
    """Apply what is pending and make partitions ahead; after a crash, finish it."""
    from datetime import timedelta

    from tidings.kernel.clock import SystemClock
    from tidings.operations.migrations.discover import MIGRATIONS_FOLDER
    from tidings.operations.migrations.retry_policy import LockRetryPolicy
    from tidings.operations.migrations.runner import Outcome, migrate_up
    from tidings.operations.partitions import make_with

    lock_retry = LockRetryPolicy(lock_timeout=timedelta(seconds=lock_timeout), attempts=lock_attempts)

    async def work(url: str) -> tuple[Outcome, int]:
        outcome = await migrate_up(
            url,
            folder=folder or MIGRATIONS_FOLDER,
            phase=None if phase == "all" else phase,
            lock_retry=lock_retry,
            report=_say,
        )
        # Without them the first write fails; and we are the owner, who alone may make them.
        return outcome, len(await make_with(url, SystemClock().now()))

    outcome, made = _with_owner(work, data_dir, owner_database_url)
    if made:
        print("1 partition made" if made == 1 else f"{made} partitions made")
    if outcome.applied:
        print(f"{len(outcome.applied)} applied; the schema is at {outcome.applied[-1].number:04}")
    elif outcome.stopped_before is None and not made:
        print("nothing to do")
    elif phase == "post":
        raise typer.Exit(1)


@app.command("status")
def status(
    as_json: Json = False,
    data_dir: DataDir = None,
    owner_database_url: OwnerDatabaseUrl = None,
    folder: FolderOption = None,
) -> None:
    """Show every migration and how it stands."""
    from tidings.cli import migrate_format
    from tidings.operations.migrations.discover import MIGRATIONS_FOLDER
    from tidings.operations.migrations.history import MigrationStanding
    from tidings.operations.migrations.status import read_status

    async def work(url: str) -> list[MigrationStanding]:
        return await read_status(url, folder=folder or MIGRATIONS_FOLDER)

    standings = _with_owner(work, data_dir, owner_database_url)
    if as_json:
        print(migrate_format.as_json(standings))
        return
    print(migrate_format.as_table(standings))
    if line := migrate_format.rollback_line(standings):
        print(line)


@app.command("check")
def check(
    files: Annotated[bool, typer.Option("--files", help="Only the files; no database is needed.")] = False,
    as_json: Json = False,
    data_dir: DataDir = None,
    owner_database_url: OwnerDatabaseUrl = None,
    folder: FolderOption = None,
) -> None:
    """Exit with 1, and say why, unless everything is applied, unchanged and valid, with its partitions."""
    from dataclasses import asdict

    from tidings.cli import migrate_format
    from tidings.operations.migrations.discover import MIGRATIONS_FOLDER
    from tidings.operations.migrations.history import MigrationStanding
    from tidings.operations.migrations.status import SchemaFinding, check_files, check_schema, read_status

    where = folder or MIGRATIONS_FOLDER

    async def work(url: str) -> tuple[list[SchemaFinding], list[MigrationStanding]]:
        return await check_schema(url, folder=where), await read_status(url, folder=where)

    findings, standings = (
        (check_files(where), []) if files else _with_owner(work, data_dir, owner_database_url)
    )
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        print("\n".join([*map(str, findings)] or ["all is well"]))
        if line := migrate_format.rollback_line(standings):
            print(line)
    if findings:
        raise typer.Exit(1)


@app.command("roles")
def roles() -> None:
    """Print the SQL that makes the database roles, for an administrator to run; and what comes after it."""
    from tidings.operations.migrations.roles import roles_sql

    print(roles_sql(), end="")
    print(_AFTER_ROLES, end="")


@app.command("dump")
def dump(
    check_only: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; exit with 1 and a diff if the file is out of date."),
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="Where to write, instead of the committed schema.sql.")
    ] = None,
    pg_dump: Annotated[Path | None, typer.Option(help="Another pg_dump than the bundled one.")] = None,
    data_dir: DataDir = None,
    owner_database_url: OwnerDatabaseUrl = None,
) -> None:
    """Write the schema of this database to schema.sql, so that reviewers see the result."""
    from tidings.operations.migrations.schema_dump import SCHEMA_PATH, difference, dump_schema

    async def work(url: str) -> str:
        return await dump_schema(url, pg_dump=pg_dump)

    fresh = _with_owner(work, data_dir, owner_database_url)
    target = output or SCHEMA_PATH
    if not check_only:
        target.write_text(fresh, encoding="utf-8")
        print(f"wrote {target}")
        return
    committed = target.read_text(encoding="utf-8") if target.is_file() else ""
    if changes := difference(committed, fresh):
        print(changes, end="")
        print(f"{target} is out of date: run `tidings migrate dump` and commit it", file=sys.stderr)
        raise typer.Exit(1)
    print(f"{target} is up to date")


@app.command("down")
def down(
    number: Annotated[int, typer.Argument(min=1, help="The latest migration, and no other.")],
    *,
    emergency: Annotated[bool, typer.Option("--emergency", help="Say that you mean it.")] = False,
    reason: Annotated[str, typer.Option(help="Why; it goes into the log.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for the database's name.")] = False,
    data_dir: DataDir = None,
    owner_database_url: OwnerDatabaseUrl = None,
    folder: FolderOption = None,
) -> None:
    """Undo the latest migration. Data is lost: going forward is nearly always better."""
    from tidings.cli.failures import CommandError, clear_failures
    from tidings.operations.migrations.discover import MIGRATIONS_FOLDER, Migration
    from tidings.operations.migrations.emergency_down import migrate_down

    with clear_failures():
        if not emergency:
            raise CommandError(
                "undoing a migration loses data. Write a new one; or add --emergency --reason '…'"
            )
        if not reason.strip():
            raise CommandError("give the reason with --reason; it goes into the log")

    async def work(url: str) -> Migration:
        if not yes:
            _confirm(url, number)
        return await migrate_down(url, number, reason=reason, folder=folder or MIGRATIONS_FOLDER, report=_say)

    undone = _with_owner(work, data_dir, owner_database_url)
    print(f"{undone.name} is undone and logged; the schema is at {undone.number - 1:04}")


def _confirm(url: str, number: int) -> None:
    from urllib.parse import unquote, urlsplit

    from tidings.cli.failures import CommandError

    database = unquote(urlsplit(url).path.lstrip("/"))
    typed = typer.prompt(f"This undoes {number:04} in the database {database}. Type its name to go on")
    if typed != database:
        raise CommandError(f"that is not {database}; nothing was done")


def _with_owner(
    work: Callable[[str], Awaitable[Result]], data_dir: Path | None, owner_database_url: str | None
) -> Result:
    """Run the work with the owner's URL; what an operator can mend becomes one line."""
    import asyncio

    from tidings.cli.database_connection import owner_url
    from tidings.cli.failures import clear_failures

    async def run() -> Result:
        async with owner_url(data_dir=data_dir, owner_database_url=owner_database_url) as url:
            return await work(url)

    with clear_failures():
        return asyncio.run(run())


def _say(event: object) -> None:
    print(event, flush=True)
