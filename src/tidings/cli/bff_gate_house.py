"""The house of the gate: a Postgres, a worker, one process that serves and then another, the simulator, and some operators."""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit

from tidings.operations.bff_gate.load import GateLoad
from tidings.operations.bff_gate.machine import foreign_share, processor_time
from tidings.operations.bff_gate.mix import GateSeat
from tidings.operations.bff_gate.verdict import MOST_CONNECTIONS, GateMeasured, GateVerdict, judge

if TYPE_CHECKING:
    import aiohttp

    from tidings.bootstrap import System
    from tidings.kernel.ids import TenantId

_PATIENCE: Final = 60.0
_ACTOR: Final = "tidings bff-gate"
_OPERATORS: Final = 8
#: Caches fill, and the interpreter has run everything once; a short run has less of it.
_WARM_UP: Final = 3.0
#: How long the load is looked at before and after another process joins, likewise.
_WINDOW: Final = 5.0
_SEED: Final = 20
_ADDRESS: Final = re.compile(r"http://[^\s,]+")


@dataclass(slots=True)
class _Seen:
    """What is looked at while the load runs."""

    hot_state: list[float] = field(default_factory=list)
    outbox_seconds: float = 0.0
    outbox_rows: int = 0
    connections: int = 0


class GateHouse:
    """A context manager; enter it in the main thread, because Postgres ends with the thread that started it."""

    def __init__(self, *, rate: int, cache_url: str | None, say: Callable[[str], None]) -> None:
        from tidings.operations.embedded import DataDir, EmbeddedPostgres

        self._rate = rate
        self._cache_url = cache_url
        self._say = say
        self._folder = tempfile.TemporaryDirectory(prefix="tidings-bff-gate-", ignore_cleanup_errors=True)
        Path(self._folder.name).chmod(0o711)
        self._data_dir = DataDir(Path(self._folder.name) / "data")
        self._postgres = EmbeddedPostgres(self._data_dir)
        self._children: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        self._data_dir.open()
        self._say("Making a house: a database, a worker, a process that serves, the simulator …")
        self._postgres.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in self._children:
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
        for child in self._children:
            try:
                child.wait(timeout=15)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self._postgres.stop()
        self._data_dir.close()
        self._folder.cleanup()

    def measure(self, seconds: int) -> GateVerdict:
        """Put the load on it for so long, and a while more with another process."""
        import uvloop

        return judge(uvloop.run(self._measure(seconds)))

    async def _measure(self, seconds: int) -> GateMeasured:
        import aiohttp

        from tidings import settings
        from tidings.bootstrap import System
        from tidings.cli.process import prepare_schema
        from tidings.kernel import logs
        from tidings.kernel.clock import SystemClock
        from tidings.sandbox.property.simulator import PropertySimulator

        logs.configure(level="error", style="console")
        runtime, owner = self._postgres.url("tidings_runtime"), self._postgres.url("tidings_owner")
        await prepare_schema(runtime, owner)
        async with AsyncExitStack() as stack:
            simulator = await stack.enter_async_context(PropertySimulator(SystemClock()))
            variables = self._variables(runtime, owner, simulator.url)
            system = System(settings.load(variables), runtime_url=runtime)
            await stack.enter_async_context(system)
            tenant_id, key, links = await _furnish(system)
            worker = self._start("work", variables)
            first = self._start("serve", variables, "--port", "0")
            metrics, base = await asyncio.gather(_ready(worker, "jobs ready"), _ready(first, "api ready"))
            session = await stack.enter_async_context(
                aiohttp.ClientSession(
                    connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar()
                )
            )
            seats = [await _sit_down(session, base, link) for link in links]
            load = GateLoad(session, seats, self._rate, [base], Random(_SEED))  # noqa: S311  # which board is next is no secret
            return await self._run(load, system, tenant_id, key, metrics, variables, seconds)

    async def _run(  # noqa: PLR0917  # what was made just before
        self,
        load: GateLoad,
        system: "System",
        tenant_id: "TenantId",
        key: str,
        metrics: str,
        variables: Mapping[str, str],
        seconds: int,
    ) -> GateMeasured:
        seen, stop = _Seen(), asyncio.Event()
        watching = [
            asyncio.create_task(_watch_hot_state(system, tenant_id, seen, stop)),
            asyncio.create_task(_watch_outbox(load.session, metrics, system, seen, stop)),
            asyncio.create_task(_tell_changes(load, key, stop)),
        ]
        running = asyncio.create_task(load.run(lambda: not stop.is_set()))
        self._say(f"{self._rate} requests a second for {seconds} seconds; then another process joins …")
        window = min(_WINDOW, seconds)
        await asyncio.sleep(min(_WARM_UP, seconds))
        before, views = processor_time(os.getpid()), await _views(load.session, load.processes[0])
        steady_from = load.now
        await asyncio.sleep(seconds)
        steady_to = load.now
        after, made = processor_time(os.getpid()), await _views(load.session, load.processes[0])
        second = self._start("serve", variables, "--port", "0")
        address = await _ready(second, "api ready")
        joined = load.now
        load.processes.append(address)
        await asyncio.sleep(window)
        stop.set()
        await running
        await asyncio.gather(*watching)
        samples = sorted(load.samples, key=lambda one: one.due)
        return GateMeasured(
            rate=self._rate,
            steady=[one for one in samples if steady_from <= one.due < steady_to],
            steady_seconds=steady_to - steady_from,
            before_joining=[one for one in samples if steady_to - window <= one.due < steady_to],
            after_joining=[one for one in samples if joined <= one.due],
            left_out=load.left_out,
            views={how: count - views.get(how, 0) for how, count in made.items()},
            hot_state_seconds=seen.hot_state,
            outbox_seconds=seen.outbox_seconds,
            outbox_rows=seen.outbox_rows,
            connections=seen.connections,
            # Two that serve, the worker, and this one, which looks.
            processes=4,
            foreign=foreign_share(before, after),
        )

    def _variables(self, runtime: str, owner: str, upstreams: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TIDINGS_")}
        cache = {"TIDINGS_CACHE_URL": self._cache_url} if self._cache_url else {}
        return {
            **kept,
            "TIDINGS_DATA_DIR": str(self._data_dir.path),
            "TIDINGS_DATABASE_URL": runtime,
            "TIDINGS_OWNER_DATABASE_URL": owner,
            "TIDINGS_DATABASE_POOL_MAX": str(MOST_CONNECTIONS),
            "TIDINGS_UPSTREAM_URL": upstreams,
            "TIDINGS_LOG_LEVEL": "error",
            "TIDINGS_METRICS_PORT": "0",
            "PYTHONUNBUFFERED": "1",
            **cache,
        }

    def _start(self, role: str, variables: Mapping[str, str], *options: str) -> "subprocess.Popen[str]":
        with (Path(self._folder.name) / f"{role}-{len(self._children)}.log").open("w") as log:
            child = subprocess.Popen(
                [sys.executable, "-m", "tidings", role, *options],
                stdout=subprocess.PIPE,
                stderr=log,
                env=dict(variables),
                text=True,
            )
        self._children.append(child)
        return child


async def _ready(child: "subprocess.Popen[str]", says: str) -> str:
    """Where it listens, once it says that it does."""
    from tidings.cli.failures import CommandError

    if child.stdout is None:
        raise TypeError("its output is read")
    while line := await asyncio.wait_for(asyncio.to_thread(child.stdout.readline), _PATIENCE):
        if says in line:
            return str(_ADDRESS.findall(line)[0])
    raise CommandError(f"a process of the house ended before it said {says!r}, with {child.wait()}")


async def _furnish(system: "System") -> tuple["TenantId", str, list[str]]:
    """A tenant with a key for events, and links by which its operators sign in once."""
    from tidings.backoffice.operators.change import By
    from tidings.backoffice.operators.model import Rights
    from tidings.backoffice.operators.people import OperatorPerson
    from tidings.backoffice.properties.access import ALL_PROPERTIES
    from tidings.notify.access.create import create_key
    from tidings.notify.access.model import KeySpec, credential
    from tidings.notify.tenants.wire import CreateTenant

    async with system.db.platform() as tx:
        wanted = CreateTenant(name="Gate", slug="gate")
        tenant = await system.access.tenants.create(tx, wanted.event, actor=_ACTOR)
    by, changer = By(actor=_ACTOR), system.backoffice.changer
    links = []
    async with system.db.tenant(tenant.id) as tx:
        made, secret = await create_key(
            tx,
            KeySpec(name="gate", role="tenant.admin", scopes=None),
            grantor=None,
            actor=_ACTOR,
            ledger=system.access.key_ledger,
            clock=system.clock,
        )
        for number in range(_OPERATORS):
            person = OperatorPerson(name=f"Operator {number}", email=f"operator{number}@gate.example")
            role: Any = ("tenant.admin", "tenant.support", "tenant.viewer")[number % 3]
            rights = Rights(role=role, properties=(ALL_PROPERTIES,))
            operator, _ = await changer.invite(tx, person, rights, by=by)
            _, link = await changer.open_link(tx, operator.id, by=by, activate=True)
            links.append(urlsplit(link.url("http://127.0.0.1")).path)
    return tenant.id, credential(made.id, secret), links


async def _sit_down(session: "aiohttp.ClientSession", base: str, link: str) -> GateSeat:
    """Open the console by a link; the browser's cookies and what its pages know."""
    from tidings.sandbox.property.houses import HOUSES

    headers = {"Sec-Fetch-Site": "same-origin", "User-Agent": "tidings bff-gate"}
    async with session.post(base + link, headers=headers, data={}, allow_redirects=False) as answer:
        answer.raise_for_status()
        cookie = "; ".join(one.split(";", 1)[0] for one in answer.headers.getall("Set-Cookie"))
    async with session.get(f"{base}/bff/v1/session", headers={**headers, "Cookie": cookie}) as answer:
        answer.raise_for_status()
        me = await answer.json()
    return GateSeat(
        cookie=cookie,
        csrf_token=me["csrf_token"],
        device_id=me["device_id"],
        properties=[house.id for house in HOUSES],
    )


async def _watch_hot_state(system: "System", tenant_id: "TenantId", seen: _Seen, stop: asyncio.Event) -> None:
    """Take a limit and a lease now and then, as requests do."""
    from tidings.kernel.hot_state import Take
    from tidings.kernel.limit_windows import FixedWindow

    limit = FixedWindow(limit=1_000_000, window=timedelta(hours=1))
    number = 0
    while not await _stopped(stop, 0.05):
        number += 1
        began = time.perf_counter()
        if number % 2:
            await system.kernel.hot_state.limits.take(tenant_id, [[Take(key="gate", limit=limit)]])
        else:
            await system.kernel.hot_state.leases.acquire(
                tenant_id, f"gate-{number % 20}", "gate", timedelta(seconds=5)
            )
        seen.hot_state.append(time.perf_counter() - began)


async def _watch_outbox(
    session: "aiohttp.ClientSession", metrics: str, system: "System", seen: _Seen, stop: asyncio.Event
) -> None:
    """How long events wait, how many, and how many connections are open."""
    from tidings.operations.bff_gate.store import look

    while not await _stopped(stop, 1.0):
        async with session.get(metrics if metrics.endswith("/metrics") else f"{metrics}/metrics") as answer:
            text = await answer.text()
        waiting = re.findall(r"^tidings_bus_outbox_waiting_seconds\{[^}]*\} (\S+)$", text, re.MULTILINE)
        seen.outbox_seconds = max([seen.outbox_seconds, *map(float, waiting)])
        async with system.db.worker() as tx:
            found = await look(tx)
        seen.outbox_rows = max(seen.outbox_rows, found.waiting)
        seen.connections = max(seen.connections, found.connections)


async def _tell_changes(load: GateLoad, key: str, stop: asyncio.Event) -> None:
    """Upstream services tell of changes, so that views are forgotten while they are asked for."""
    from tidings.sandbox.property.houses import HOUSES

    number = 0
    while not await _stopped(stop, 1.0):
        number += 1
        house, service = HOUSES[number % len(HOUSES)], ("reservations", "housekeeping")[number % 2]
        event = {
            "specversion": "1.0",
            "id": f"gate-{number}",
            "source": "/gate",
            "type": f"upstream.{service}.changed",
            "subject": house.id,
        }
        with contextlib.suppress(OSError, TimeoutError):
            async with load.session.post(
                f"{load.processes[0]}/api/v1/events",
                json=event,
                headers={"Authorization": f"Bearer {key}", "Content-Type": "application/cloudevents+json"},
            ) as answer:
                await answer.read()


async def _views(session: "aiohttp.ClientSession", base: str) -> dict[str, int]:
    """Where views came from so far."""
    async with session.get(f"{base}/metrics") as answer:
        text = await answer.text()
    found: dict[str, int] = {}
    for how, view, count in re.findall(
        r'^tidings_views_total\{result="(\w+)",view="([\w-]+)"\} (\S+)$', text, re.MULTILINE
    ):
        if view != "properties":
            found[how] = found.get(how, 0) + int(float(count))
    return found


async def _stopped(stop: asyncio.Event, seconds: float) -> bool:
    """Wait so long, or until it is over."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
    return stop.is_set()
