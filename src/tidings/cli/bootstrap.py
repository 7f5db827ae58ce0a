"""`tidings bootstrap`: what a migrated database needs before its first tenant."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli import options

if TYPE_CHECKING:
    from tidings.operations.platform_start import StartReport


def bootstrap(
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
    as_json: options.Json = False,
    data_dir: options.DataDir = None,
    database_url: options.DatabaseUrl = None,
) -> None:
    """Publish the platform's templates and make its first key, printed this once; again, it changes nothing."""
    if new_key and no_key:
        raise typer.BadParameter("--new-key and --no-key contradict each other")
    master_key, started = asyncio.run(_run(data_dir, database_url, new_key=new_key, no_key=no_key))
    key = started.key
    if as_json:
        shown = {
            "templates_published": started.published,
            "categories": started.categories,
            "master_key": master_key,
            "key_id": key.key.id if key else None,
            "key": key.credential if key else None,
        }
        print(json.dumps(shown, indent=2))
        return
    published = f"{started.published} published" if started.published else "all published before"
    print(f"templates   {published}")
    print(f"categories  {started.categories}")
    print(f"master key  {master_key}  (every process needs it; keep a copy apart from the database's)")
    if key is None:
        print("key         none was made; without --no-key the first one is")
        return
    if key.credential is None:
        print(f"key         {key.key.id} is there, and none was made; --new-key makes one more")
        return
    print(f"key         {key.key.id}  {key.key.role}  (shown this once)")
    print(key.credential)


async def _run(
    data_dir: Path | None, database_url: str | None, *, new_key: bool, no_key: bool
) -> "tuple[str, StartReport]":
    from tidings import settings
    from tidings.bootstrap import System
    from tidings.cli.connection import check_schema, runtime_url
    from tidings.cli.system import operator
    from tidings.kernel import logs

    chosen = settings.load(TIDINGS_DATA_DIR=data_dir, TIDINGS_DATABASE_URL=database_url)
    logs.configure(level="warning", style=chosen.observability.log_format)
    async with runtime_url(data_dir, database_url) as url:
        await check_schema(url)
        # Whole, as the service opens it: the master key is made here, and the database remembers which it is.
        async with System(chosen, runtime_url=url) as system:
            started = await system.platform_start.start(
                key_name=None if no_key else "first", actor=operator(), one_more_key=new_key
            )
    return chosen.kms_url(), started
