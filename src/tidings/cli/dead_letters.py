"""`tidings dead-letters`: events that a consumer group has given up on; look at them, replay or discard them."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.options import DatabaseUrl, DataDir, Json

if TYPE_CHECKING:
    from tidings.kernel.bus import DeadLetter
    from tidings.kernel.postgres_bus import PostgresDeadLetters

app = typer.Typer(
    help="Events that a consumer group has given up on: look, replay, discard.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

GroupOption = Annotated[str | None, typer.Option("--group", help="Only this consumer group's.")]
Letters = Annotated[list[str] | None, typer.Argument(help="Ids of dead letters, dlt_…", show_default=False)]
AllOption = Annotated[bool, typer.Option("--all", help="All of the group named with --group.")]


@app.command("list")
def list_(
    *,
    group: GroupOption = None,
    after: Annotated[str | None, typer.Option("--after", help="Go on after this id.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")] = 100,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Show dead letters, the oldest first."""

    async def work(letters: "PostgresDeadLetters") -> None:
        found = await letters.list(group=group, after=_parse(after) if after else None, limit=limit)
        if as_json:
            print(json.dumps([_summary(letter) for letter in found], indent=2))
            return
        for letter in found:
            print(
                f"{letter.id}  {letter.died_at:%Y-%m-%d %H:%M:%S}Z  {letter.group}  {letter.event.subject}  "
                f"{letter.event.tenant_id or '-'}  {letter.error} after {letter.attempts}"
            )
        if not found:
            print("there are no dead letters")
        elif len(found) == limit:
            print(f"there may be more: --after {found[-1].id}")

    _run(work, data_dir, database_url)


@app.command("show")
def show(
    letter: Annotated[str, typer.Argument(help="The id of a dead letter, dlt_…")],
    *,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Show one dead letter with its event, as JSON."""

    async def work(letters: "PostgresDeadLetters") -> None:
        from tidings.kernel.events import to_cloudevent

        found = await letters.show(_parse(letter))
        print(json.dumps({**_summary(found), "event": json.loads(to_cloudevent(found.event))}, indent=2))

    _run(work, data_dir, database_url)


@app.command("replay")
def replay(
    letters: Letters = None,
    *,
    group: GroupOption = None,
    everything: AllOption = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Hand dead letters to their group again, with all attempts before them."""
    _each(
        lambda store, letter: store.replay(letter),
        done="replayed",
        named=letters,
        group=group,
        everything=everything,
        data_dir=data_dir,
        database_url=database_url,
    )


@app.command("discard")
def discard(
    letters: Letters = None,
    *,
    group: GroupOption = None,
    everything: AllOption = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Forget dead letters; their events will never have their effect."""
    _each(
        lambda store, letter: store.discard(letter),
        done="discarded",
        named=letters,
        group=group,
        everything=everything,
        data_dir=data_dir,
        database_url=database_url,
    )


def _each(
    act: "Callable[[PostgresDeadLetters, Any], Awaitable[None]]",
    *,
    done: str,
    named: list[str] | None,
    group: str | None,
    everything: bool,
    data_dir: Path | None,
    database_url: str | None,
) -> None:
    from tidings.cli.failures import CommandError

    if everything == bool(named) or everything != (group is not None):
        raise CommandError("name the dead letters by their ids, or all of one group with --group GROUP --all")

    async def work(letters: "PostgresDeadLetters") -> None:
        ids = [_parse(letter) for letter in named or ()]
        page = await letters.list(group=group, limit=1000) if everything else ()
        while page:
            ids += [letter.id for letter in page]
            page = await letters.list(group=group, after=page[-1].id, limit=1000)
        for letter in ids:
            await act(letters, letter)
        print(f"{done}: {len(ids)}")

    _run(work, data_dir, database_url)


def _parse(letter: str) -> Any:
    from tidings.kernel.ids import DEAD_LETTER

    return DEAD_LETTER.parse(letter, field="LETTER")


def _summary(letter: "DeadLetter") -> dict[str, object]:
    return {
        "id": letter.id,
        "group": letter.group,
        "event_id": letter.event.id,
        "type": letter.event.subject,
        "tenant_id": letter.event.tenant_id,
        "attempts": letter.attempts,
        "error": letter.error,
        "died_at": letter.died_at.isoformat(),
        "expires_at": letter.expires_at.isoformat(),
    }


def _run(
    work: "Callable[[PostgresDeadLetters], Awaitable[None]]", data_dir: Path | None, database_url: str | None
) -> None:
    async def connected() -> None:
        from tidings.cli.connection import runtime_url
        from tidings.kernel.clock import SystemClock
        from tidings.kernel.db import Database, PoolSettings
        from tidings.kernel.postgres_bus import PostgresDeadLetters

        async with runtime_url(data_dir, database_url) as url:
            db = Database(url, PoolSettings(min_size=1, max_size=2))
            await db.open()
            try:
                await work(PostgresDeadLetters(db, SystemClock()))
            finally:
                await db.close()

    asyncio.run(connected())
