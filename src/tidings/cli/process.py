"""What `up`, `serve` and `work` share: a process that runs until it is told to stop."""

import asyncio
import gc
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from tidings.kernel.durable.jobs import Job, run_jobs
from tidings.kernel.logs import get_logger

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.kernel.http.serve import HttpServer
    from tidings.settings import Settings

#: Seconds that requests and jobs have to finish in once we are told to stop. A database that hangs may let
#: none of them finish, and the supervisor kills a process that takes too long.
GRACE = 8.0
#: Seconds for those that were cut off to put down what they hold.
_LAST = 2.0

_log = get_logger("serving")


def run_role(
    role: Literal["api", "jobs"], *, only: Literal["notify", "router"] | None = None, **overrides: Any
) -> None:
    """Run one role over a database that is there and migrated, until told to stop; the jobs of both services, or of one `only`."""
    # Of what is imported and built now hardly anything is garbage; `_calm_collector` turns the collector on.
    gc.disable()
    import uvloop

    from tidings import settings
    from tidings.kernel import logs

    chosen = settings.load(**overrides)
    logs.configure(level=chosen.observability.log_level, style=chosen.observability.log_format)
    for warning in settings.warnings(chosen):
        print(f"tidings: warning: {warning}", file=sys.stderr)
    from tidings.bootstrap.health import listen_for_watchers
    from tidings.kernel.http.serve import listen

    listener = listen(chosen.http.host, chosen.http.port) if role == "api" else None
    watched = listen_for_watchers(chosen, serves_api=role == "api")
    uvloop.run(_run_role(role, only, chosen, listener, watched))


async def _run_role(
    role: str,
    only: Literal["notify", "router"] | None,
    chosen: "Settings",
    listener: socket.socket | None,
    watched: socket.socket | None,
) -> None:
    from tidings.bootstrap import System
    from tidings.bootstrap.services import BOTH
    from tidings.cli.database_connection import check_schema, runtime_url
    from tidings.kernel.http.serve import address_of
    from tidings.operations.platform_start import what_is_missing

    owner = chosen.database.owner_url.reveal() if chosen.database.owner_url else None
    given = chosen.database.url.reveal() if chosen.database.url else None
    async with runtime_url(chosen.data_dir, given) as url:
        await check_schema(url)
        system = System(chosen, runtime_url=url, owner_url=owner, services=BOTH if only is None else [only])
        # Built before it opens, so that the statements of this role are checked against the schema.
        _ = system.app if role == "api" else system.jobs()
        async with system:
            for missing in await what_is_missing(
                system.db, system.clock, makes_partitions=role == "jobs" and owner is not None
            ):
                print(f"tidings: missing: {missing}", file=sys.stderr, flush=True)
            named = role if only is None else f"{role} of {only}"
            where = f" on {address_of(listener)}" if listener else ""
            metrics = f", metrics on {address_of(watched)}/metrics" if watched else ""
            await serve_until_stopped(
                system,
                listener,
                roles={role},
                watched=watched,
                ready=lambda: print(f"tidings: {named} ready{where}{metrics}", flush=True),
            )


#: Less than what is made ahead of the tables that have a partition for each day.
_AHEAD_AT_ONCE = timedelta(days=3)


async def prepare_schema(
    runtime_url: str,
    owner_url: str | None,
    *,
    ahead: timedelta = timedelta(0),
    behind: timedelta = timedelta(0),
) -> None:
    """Migrate and make partitions where we have the owner's URL; refuse a schema that we can't serve.

    A clock that can be moved is so far `ahead` at most, or so far `behind` now, and finds partitions there too.
    """
    from tidings.cli.database_connection import check_schema
    from tidings.kernel.clock import SystemClock
    from tidings.operations.migrations.runner import migrate_up
    from tidings.operations.partitions import make_with

    if owner_url is not None:
        await migrate_up(owner_url)
        first = SystemClock().now() - behind
        for step in range((behind + ahead) // _AHEAD_AT_ONCE + 1):
            await make_with(owner_url, first + step * _AHEAD_AT_ONCE)
    await check_schema(runtime_url)


async def serve_until_stopped(
    system: "System",
    listener: socket.socket | None,
    *,
    roles: set[str],
    watched: socket.socket | None = None,
    ready: Callable[[], None] | None = None,
    stopping: Callable[[], None] | None = None,
    more_jobs: Mapping[str, Job] | None = None,
) -> None:
    """Run the chosen roles until SIGINT or SIGTERM, then let requests and jobs finish; a second signal hurries.

    On `watched` the process is watched, from before they begin until they have ended.
    """
    stop, hurry = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def hear() -> None:
        if stop.is_set():
            hurry.set()
        elif stopping is not None:
            stopping()
        stop.set()

    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, hear)
    _calm_collector()
    jobs = {
        **(system.jobs() if "jobs" in roles else system.api_jobs()),
        "warm_up": system.warm_up(roles),
        "process_register": system.register(roles),
        **(more_jobs or {}),
    }
    running = run_jobs(
        jobs, stop, system.kernel.metrics, last=system.LAST_JOBS, watch=system.kernel.job_watch
    )
    watching = await _watch(system, watched)
    tasks = [asyncio.create_task(running, name="jobs")]
    if "api" in roles and listener is not None:
        tasks.append(asyncio.create_task(_serve_http(system, listener, stop, ready), name="api"))
    elif ready is not None:
        ready()
    told = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({*tasks, told}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.set()
        await _finish(tasks, hurry)
        if watching is not None:
            await watching.stop()
    for task in tasks:
        if task.done() and not task.cancelled():
            task.result()


async def _watch(system: "System", watched: socket.socket | None) -> "HttpServer | None":
    if watched is None:
        return None
    from tidings.bootstrap.health import watch_app
    from tidings.kernel.http.serve import HttpServer

    server = HttpServer(watch_app(system), listener=watched, drain_seconds=1)
    await server.start()
    return server


def _calm_collector() -> None:
    """What was loaded at the start stays for good; and a set of a hundred messages makes many objects that are soon gone.

    With the usual thresholds a tenth of the time goes into looking for rings among them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


async def _finish(tasks: Sequence[asyncio.Task[None]], hurry: asyncio.Event) -> None:
    """Let the tasks end; those that are not through in time, or at a second signal, are cancelled."""
    hurried = asyncio.create_task(hurry.wait())
    ends: set[asyncio.Future[Any]] = {hurried, asyncio.gather(*tasks, return_exceptions=True)}
    await asyncio.wait(ends, timeout=GRACE, return_when=asyncio.FIRST_COMPLETED)
    hurried.cancel()
    late = [task for task in tasks if not task.done()]
    for task in late:
        _log.warning("cut_off", what=task.get_name(), grace_seconds=GRACE)
        task.cancel()
    if late:
        await asyncio.wait(late, timeout=_LAST)


async def _serve_http(
    system: "System", listener: socket.socket, stop: asyncio.Event, ready: Callable[[], None] | None
) -> None:
    from tidings.kernel.http.serve import HttpServer
    from tidings.settings import words

    server = HttpServer(
        system.app,
        listener=listener,
        drain_seconds=int(GRACE) - 1,
        trusted_proxies=words(system.settings.http.trusted_proxies),
        max_connections=system.settings.http.max_connections,
        max_connections_per_address=system.settings.http.max_connections_per_address,
    )
    await server.start()
    if ready is not None:
        ready()
    stopped, ended = asyncio.create_task(stop.wait()), asyncio.create_task(server.wait())
    await asyncio.wait({stopped, ended}, return_when=asyncio.FIRST_COMPLETED)
    stop.set()
    await server.stop()
    await asyncio.gather(stopped, ended)
