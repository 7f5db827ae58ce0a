"""`tidings dead-letters`: events that a consumer group has given up on; look at them, replay or discard them.

What an operator orders is in the platform's audit before it is done.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.command import JsonObject, Output, command_group
from tidings.cli.failures import CommandError
from tidings.cli.printing import json_text, picked
from tidings.cli.system import operator, system_command

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.kernel.bus import DeadLetter

app = command_group()

#: How many are read, audited and handed on at a time.
_PAGE = 500
_EVENT = ("event_id=id", "type=subject", "tenant_id")
Group = Annotated[str | None, typer.Option(help="Only this consumer group's.")]


@system_command(app, "list")
async def list_(
    system: "System",
    *,
    group: Group = None,
    after: Annotated[str | None, typer.Option(help="Go on after this id.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 100,
) -> Output:
    """Show dead letters, the oldest first."""
    after_id = _parse(after) if after else None
    found = await system.kernel.bus.dead_letters.list(group=group, after=after_id, limit=limit)
    lines = [
        f"{letter.id}  {letter.died_at:%Y-%m-%d %H:%M:%S}Z  {letter.group}  {letter.event.subject}  "
        f"{letter.event.tenant_id or '-'}  {letter.error} after {letter.attempts}"
        for letter in found
    ]
    if len(found) == limit:
        lines.append(f"there may be more: --after {found[-1].id}")
    return Output([_summary(letter) for letter in found], lines or "there are no dead letters")


@system_command(app, "show", text=json_text)
async def show(
    system: "System", letter: Annotated[str, typer.Argument(help="The id of a dead letter, dlt_…")]
) -> JsonObject:
    """Show one dead letter with its event, as JSON."""
    from tidings.kernel.events import to_cloudevent

    found = await system.kernel.bus.dead_letters.show(_parse(letter))
    return {**_summary(found), "event": json.loads(to_cloudevent(found.event))}


def _check_order(*, letters: list[str] | None, group: str | None, everything: bool) -> None:
    if everything == bool(letters) or everything != (group is not None):
        raise CommandError("name the dead letters by their ids, or all of one group with --group GROUP --all")


def _order_command(verb: str, done: str, about: str) -> None:
    """A command that does something with each of the letters that were named."""

    async def command(
        system: "System",
        letters: Annotated[
            list[str] | None, typer.Argument(help="Ids of dead letters, dlt_…", show_default=False)
        ] = None,
        *,
        group: Group = None,
        everything: Annotated[
            bool, typer.Option("--all", help="All of the group named with --group.")
        ] = False,
    ) -> Output:
        store = system.kernel.bus.dead_letters
        act: Callable[[Any], Awaitable[None]] = getattr(store, verb)
        found = [await store.show(_parse(letter)) for letter in letters or ()]
        page = await store.list(group=group, limit=_PAGE) if everything else ()
        while page:
            found += page
            page = await store.list(group=group, after=page[-1].id, limit=_PAGE)
        for start in range(0, len(found), _PAGE):
            some = found[start : start + _PAGE]
            await _audit(system, some, f"{verb}.ordered")
            for letter in some:
                await act(letter.id)
        return Output({done: len(found)}, f"{done}: {len(found)}")

    command.__doc__ = about
    system_command(app, verb, check=_check_order)(command)


_order_command("replay", "replayed", "Hand dead letters to their group again, with all attempts before them.")
_order_command("discard", "discarded", "Forget dead letters; their events will never have their effect.")


async def _audit(system: "System", letters: "Sequence[DeadLetter]", order: str) -> None:
    from tidings.kernel.audit.log import Entry

    entries = [
        Entry(
            entity_type="dead_letter",
            entity_id=letter.id,
            action=order,
            actor=operator(),
            before={"group": letter.group, **picked(letter.event, *_EVENT)},
        )
        for letter in letters
    ]
    async with system.db.platform() as tx:
        await system.kernel.audit.append(tx, entries)


def _parse(letter: str) -> Any:
    from tidings.kernel.ids import DEAD_LETTER

    return DEAD_LETTER.parse(letter, field="LETTER")


def _summary(letter: "DeadLetter") -> JsonObject:
    event = picked(letter.event, *_EVENT)
    return {
        **picked(letter, "id", "group"),
        **event,
        **picked(letter, "attempts", "error", "died_at", "expires_at"),
    }
