"""`tidings dead-letters`: events that a consumer group has given up on; look at them, replay or discard them.

What an operator orders is in the platform's audit before it is done.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.options import DatabaseUrl, DataDir, Json
from tidings.cli.system import operator, run_with_system

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.kernel.bus import DeadLetter
    from tidings.kernel.postgres_bus import PostgresDeadLetters

app = typer.Typer(
    help="Events that a consumer group has given up on: look, replay, discard.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

#: How many are read, audited and handed on at a time.
_PAGE = 500
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

    async def work(system: "System") -> None:
        found = await system.kernel.bus.dead_letters.list(
            group=group, after=_parse(after) if after else None, limit=limit
        )
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

    run_with_system(work, data_dir, database_url)


@app.command("show")
def show(
    letter: Annotated[str, typer.Argument(help="The id of a dead letter, dlt_…")],
    *,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Show one dead letter with its event, as JSON."""

    async def work(system: "System") -> None:
        from tidings.kernel.events import to_cloudevent

        found = await system.kernel.bus.dead_letters.show(_parse(letter))
        print(json.dumps({**_summary(found), "event": json.loads(to_cloudevent(found.event))}, indent=2))

    run_with_system(work, data_dir, database_url)


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
        order="replay.ordered",
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
        order="discard.ordered",
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
    order: str,
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

    async def work(system: "System") -> None:
        letters = system.kernel.bus.dead_letters
        found = [await letters.show(_parse(letter)) for letter in named or ()]
        page = await letters.list(group=group, limit=_PAGE) if everything else ()
        while page:
            found += page
            page = await letters.list(group=group, after=page[-1].id, limit=_PAGE)
        for start in range(0, len(found), _PAGE):
            some = found[start : start + _PAGE]
            await _audit(system, some, order)
            for letter in some:
                await act(letters, letter.id)
        print(f"{done}: {len(found)}")

    run_with_system(work, data_dir, database_url)


async def _audit(system: "System", letters: "Sequence[DeadLetter]", order: str) -> None:
    from tidings.kernel.audit.log import Entry

    entries = [
        Entry(
            entity_type="dead_letter",
            entity_id=letter.id,
            action=order,
            actor=operator(),
            before={
                "group": letter.group,
                "event_id": letter.event.id,
                "type": letter.event.subject,
                "tenant_id": letter.event.tenant_id,
            },
        )
        for letter in letters
    ]
    async with system.db.platform() as tx:
        await system.kernel.audit.append(tx, entries)


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
