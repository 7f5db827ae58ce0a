"""A `System` for one command: over a URL, the running `tidings up`, or the embedded database for a moment."""

import asyncio
import getpass
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tidings.bootstrap import System

T = TypeVar("T")


@asynccontextmanager
async def open_system(data_dir: Path | None, database_url: str | None) -> "AsyncIterator[System]":
    """The same parts that the API uses, opened; closed at the end."""
    from tidings import settings
    from tidings.bootstrap import System
    from tidings.cli.connection import runtime_url
    from tidings.cli.serving import check_schema
    from tidings.kernel import logs

    chosen = settings.load(TIDINGS_DATA_DIR=data_dir, TIDINGS_DATABASE_URL=database_url)
    logs.configure(level="warning", style=chosen.observability.log_format)
    async with runtime_url(data_dir, database_url) as url:
        await check_schema(url)
        async with System(chosen, runtime_url=url) as system:
            yield system


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
