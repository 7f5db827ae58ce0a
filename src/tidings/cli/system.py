"""A `System` for one command: over a URL, the running `tidings up`, or the embedded database for a moment."""

import asyncio
import getpass
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from tidings.cli.command import Formatter, Output, add_command, print_answer
from tidings.cli.options import DatabaseUrl, DataDir, Json

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.kernel.db import Database
    from tidings.kernel.ids import TenantId
    from tidings.kernel.keys.kms import Kms
    from tidings.notify.tenants.model import Tenant


@asynccontextmanager
async def open_system(
    data_dir: Path | None, database_url: str | None, *, whole: bool = False
) -> "AsyncIterator[System]":
    """The same parts that the API uses, opened; closed at the end.

    Unless it is opened as a `whole`, as the service opens it, only its kernel is: an operator's machine may have neither
    the master keys nor the blobs.
    """
    from tidings import settings
    from tidings.bootstrap import System
    from tidings.cli.database_connection import check_schema, runtime_url
    from tidings.kernel import logs

    chosen = settings.load(TIDINGS_DATA_DIR=data_dir, TIDINGS_DATABASE_URL=database_url)
    logs.configure(level="warning", style=chosen.observability.log_format)
    async with runtime_url(data_dir, database_url) as url:
        await check_schema(url)
        system = System(chosen, runtime_url=url)
        async with system if whole else system.kernel:
            yield system


class DatabaseWithKeys(NamedTuple):
    """The database and the master keys."""

    db: "Database"
    kms: "Kms"


@asynccontextmanager
async def open_database(
    data_dir: Path | None, database_url: str | None = None
) -> AsyncIterator[DatabaseWithKeys]:
    """The database and the master keys alone, for commands that must work where little else does."""
    from tidings import settings
    from tidings.cli.database_connection import runtime_url
    from tidings.kernel import logs
    from tidings.kernel.db import Database, PoolSettings
    from tidings.kernel.keys.kms import open_kms

    chosen = settings.load(TIDINGS_DATA_DIR=data_dir, TIDINGS_DATABASE_URL=database_url)
    logs.configure(level="warning", style=chosen.observability.log_format)
    async with runtime_url(data_dir, database_url) as url:
        db = Database(url, PoolSettings(min_size=1, max_size=4))
        await db.open()
        try:
            yield DatabaseWithKeys(db, open_kms(chosen.kms_url()))
        finally:
            await db.close()


def system_command(
    app: typer.Typer | None,
    name: str,
    *,
    text: Formatter | None = None,
    empty: str = "there is none",
    opened: "Callable[[Path | None, str | None], AbstractAsyncContextManager[Any]]" = open_system,
    check: Callable[..., None] | None = None,
) -> Callable[[Callable[..., Awaitable[Any]]], Callable[..., None]]:
    """Make a command of a function that takes a `System`, or what else is `opened`, and its own options.

    It owns the options that name the database, and prints the answer as `api_command` does; a function that prints as
    it goes takes `as_json` itself, and it may take `data_dir`. `check` is called with its own options before anything
    is opened: what was typed wrong needs no database to be refused.
    """

    def decorate(function: Callable[..., Awaitable[Any]]) -> Callable[..., None]:
        takes = inspect.signature(function).parameters

        def run(*, data_dir: Path | None, database_url: str | None, as_json: bool, **given: Any) -> None:
            if check is not None:
                check(**given)
            given |= {
                name: one for name, one in (("data_dir", data_dir), ("as_json", as_json)) if name in takes
            }

            async def work() -> Any:
                async with opened(data_dir, database_url) as system:
                    return await function(system, **given)

            answer = asyncio.run(work())
            print_answer(answer, text, empty, as_json=as_json)
            if isinstance(answer, Output) and answer.exit_code:
                raise SystemExit(answer.exit_code)

        common = {"as_json": Json, "data_dir": DataDir, "database_url": DatabaseUrl}
        return add_command(app, name, function, run, common)

    return decorate


def operator() -> str:
    """Who is at the keyboard, for the audit."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # a container may run under a number that has no name
        return "cli:unknown"


async def find_tenant(system: "System", tenant: str) -> "Tenant":
    """The tenant by its id or slug."""
    from tidings.cli.failures import CommandError
    from tidings.kernel.ids import TenantId
    from tidings.notify.tenants import store

    async with system.db.platform() as tx:
        if tenant.startswith("tnt_"):
            found = await store.find_tenant(tx, tenant_id=TenantId(tenant))
        else:
            found = await store.find_tenant_by_slug(tx, slug=tenant)
    if found is None:
        raise CommandError(f"no tenant has the id or slug {tenant!r}; `tidings tenant list` shows them")
    return found


async def tenant_or_platform(system: "System", tenant: str | None) -> "TenantId | None":
    """The id of the tenant that was named; None where none was."""
    return None if tenant is None else (await find_tenant(system, tenant)).id
