"""The product's own wiring over a test's database: a clock that stands until a test moves it, and vendors on loopback."""

import tempfile
from collections.abc import Collection
from pathlib import Path

from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase
from tidings import settings
from tidings.bootstrap import System
from tidings.bootstrap.services import Service
from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.db import Database
from tidings.kernel.requests import Requests

#: Keys, where a test has no folder of its own: those of all systems over one database have to be the same.
SHARED = tempfile.TemporaryDirectory(prefix="tidings-http-", ignore_cleanup_errors=True)
#: Where the stand-ins for vendors listen: for TIDINGS_TENANT_NETWORKS, where tenants' own accounts lead there.
LOOPBACK = "127.0.0.0/8"


def now_clock() -> ManualClock:
    """A clock that begins now, so that its rows find their partitions."""
    return ManualClock(SystemClock().now())


def system_over(
    database: Database | TestDatabase,
    folder: Path | None = None,
    clock: Clock | None = None,
    **environment: str,
) -> System:
    """One process. Keys, secrets and blobs lie in `folder`; a `Database` that is open stays open when the system closes."""
    chosen = settings.load({"TIDINGS_DATA_DIR": str(folder or SHARED.name)} | environment)
    if isinstance(database, Database):
        return System(chosen, runtime_url="", clock=clock, db=database)
    return System(chosen, runtime_url=database.runtime_url, owner_url=database.owner_url, clock=clock)


def services_over(
    database: TestDatabase,
    services: Collection[Service],
    requests: Requests,
    folder: Path | None = None,
    clock: Clock | None = None,
) -> System:
    """A worker of these services, which reaches the others by `requests`."""
    return System(
        settings.load({"TIDINGS_DATA_DIR": str(folder or SHARED.name)}),
        runtime_url=database.runtime_url,
        owner_url=database.owner_url,
        clock=clock,
        services=services,
        requests=requests,
    )


async def announce(system: System) -> None:
    """The other workers know this process from now on."""
    async with system.db.worker() as tx:
        await tx.connection.execute(
            "INSERT INTO kernel.workers (id, lock_key) VALUES ($1, 1)", system.kernel.presence.id
        )
    system.kernel.presence.known.set()
