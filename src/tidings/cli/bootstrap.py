"""`tidings bootstrap`: what a migrated database needs before its first tenant."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.command import Output
from tidings.cli.system import open_system, operator, system_command

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.operations.platform_start import StartReport


def _check(*, new_key: bool, no_key: bool) -> None:
    if new_key and no_key:
        raise typer.BadParameter("--new-key and --no-key contradict each other")


# The whole system: the master key is made here, and the database remembers which it is.
@system_command(None, "bootstrap", opened=partial(open_system, whole=True), check=_check)
async def bootstrap(
    system: "System",
    *,
    new_key: Annotated[
        bool, typer.Option("--new-key", help="Make one more key of the platform, though there is one.")
    ] = False,
    no_key: Annotated[
        bool,
        typer.Option(
            "--no-key", help="Make no key and print none, for a unit or a job whose output is kept."
        ),
    ] = False,
) -> Output:
    """Publish the platform's templates and triggers and make its first key, printed this once; again, it changes nothing."""
    started = await system.platform_start.start(
        key_name=None if no_key else "first", actor=operator(), one_more_key=new_key
    )
    master_key, key = system.settings.kms_url(), started.key
    answer = {
        "templates_published": started.published,
        "triggers_published": started.triggers,
        "categories": started.categories,
        "master_key": master_key,
        "key_id": key.key.id if key else None,
        "key": key.credential if key else None,
    }
    return Output(answer, _lines(started, master_key))


def _lines(started: "StartReport", master_key: str) -> Iterator[str]:
    key = started.key
    yield f"templates   {f'{started.published} published' if started.published else 'all published before'}"
    triggers = f"{started.triggers} published" if started.triggers else "all published before"
    yield f"triggers    {triggers}; none fires before a tenant runs `tidings trigger adopt`"
    yield f"categories  {started.categories}"
    yield f"master key  {master_key}  (every process needs it; keep a copy apart from the database's)"
    if key is None:
        yield "key         none was made; without --no-key the first one is"
    elif key.credential is None:
        yield f"key         {key.key.id} is there, and none was made; --new-key makes one more"
    else:
        yield f"key         {key.key.id}  {key.key.role}  (shown this once)"
        yield key.credential
