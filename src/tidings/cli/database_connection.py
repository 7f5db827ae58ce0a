"""Where a command finds its database: a URL, the running `tidings up`, or the embedded server for a moment."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tidings.cli.failures import CommandError


@asynccontextmanager
async def owner_url(
    data_dir: Path | None = None, owner_database_url: str | None = None
) -> AsyncIterator[str]:
    """The URL of the owner role; an embedded server is started for the command where none runs."""
    from tidings import settings

    chosen = settings.load(TIDINGS_DATA_DIR=data_dir)
    url = owner_database_url or (chosen.database.owner_url.reveal() if chosen.database.owner_url else None)
    if url is None and chosen.database.url is not None:
        raise CommandError(
            "this command changes the schema and needs the owner role: set TIDINGS_OWNER_DATABASE_URL"
        )
    async with _embedded_or(url, chosen.data_dir, role="tidings_owner") as found:
        yield found


@asynccontextmanager
async def runtime_url(data_dir: Path | None = None, database_url: str | None = None) -> AsyncIterator[str]:
    """The URL of the runtime role; an embedded server is started for the command where none runs."""
    from tidings import settings

    chosen = settings.load(TIDINGS_DATA_DIR=data_dir)
    url = database_url or (chosen.database.url.reveal() if chosen.database.url else None)
    async with _embedded_or(url, chosen.data_dir, role="tidings_runtime") as found:
        yield found


async def check_schema(runtime_url: str) -> None:
    """Refuse a schema that this code can't serve."""
    import asyncpg

    from tidings.kernel.db import translated
    from tidings.operations.migrations.compatibility import check_servable

    with translated():
        runtime = await asyncpg.connect(runtime_url, timeout=10)
    try:
        await check_servable(runtime)
    finally:
        await runtime.close()


@asynccontextmanager
async def _embedded_or(url: str | None, data_dir: Path, *, role: str) -> AsyncIterator[str]:
    if url is not None:
        yield url
        return
    from tidings.operations.embedded import DataDir, EmbeddedPostgres

    folder = DataDir(data_dir)
    if not (folder.path / "tidings.json").exists():
        raise CommandError(
            f"there is no Tidings in {folder.path}: run `tidings up` first, "
            "name its folder with --data-dir, or name a database with TIDINGS_DATABASE_URL"
        )
    server = EmbeddedPostgres(folder)
    if folder.holder() is not None:
        server.attach()
        yield server.url(role)
        return
    folder.open()
    try:
        server.start()
        try:
            yield server.url(role)
        finally:
            server.stop()
    finally:
        folder.close()
