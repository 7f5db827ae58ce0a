"""A `System` for one command: over a URL, the running `tidings up`, or the embedded database for a moment."""

import asyncio
import getpass
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.kernel.db import Database
    from tidings.kernel.ids import TenantId
    from tidings.kernel.keys.kms import Kms
    from tidings.notify.tenants.model import Tenant

T = TypeVar("T")


@asynccontextmanager
async def open_system(data_dir: Path | None, database_url: str | None) -> "AsyncIterator[System]":
    """The same parts that the API uses, opened; closed at the end."""
    from tidings import settings
    from tidings.bootstrap import System
    from tidings.cli.connection import check_schema, runtime_url
    from tidings.kernel import logs

    chosen = settings.load(TIDINGS_DATA_DIR=data_dir, TIDINGS_DATABASE_URL=database_url)
    logs.configure(level="warning", style=chosen.observability.log_format)
    async with runtime_url(data_dir, database_url) as url:
        await check_schema(url)
        system = System(chosen, runtime_url=url)
        # Not as the service opens it: an operator's machine may have neither the master keys nor the blobs.
        async with system.kernel:
            yield system


@asynccontextmanager
async def open_database(
    data_dir: Path | None, database_url: str | None = None
) -> "AsyncIterator[tuple[Database, Kms]]":
    """The database and the master keys alone, for commands that must work where little else does."""
    from tidings import settings
    from tidings.cli.connection import runtime_url
    from tidings.kernel import logs
    from tidings.kernel.db import Database, PoolSettings
    from tidings.kernel.keys.kms import open_kms

    chosen = settings.load(TIDINGS_DATA_DIR=data_dir, TIDINGS_DATABASE_URL=database_url)
    logs.configure(level="warning", style=chosen.observability.log_format)
    async with runtime_url(data_dir, database_url) as url:
        db = Database(url, PoolSettings(min_size=1, max_size=4))
        await db.open()
        try:
            yield db, open_kms(chosen.kms_url())
        finally:
            await db.close()


def run_with_system(
    work: "Callable[[System], Awaitable[T]]", data_dir: Path | None, database_url: str | None
) -> T:
    """Open it, do the work, close it; what the work gave."""

    async def run() -> T:
        async with open_system(data_dir, database_url) as system:
            return await work(system)

    return asyncio.run(run())


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
