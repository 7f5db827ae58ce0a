"""Tidings as it runs in a larger house: Postgres, the API and its workers, each a process of its own."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self

import asyncpg
import httpx2
import uvloop
from msgspec import structs
from tests.support.free_port import free_port

from tidings import settings
from tidings.bootstrap import System
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.tenants import Channel, NotificationPolicy
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TenantId
from tidings.notify.access.create import create_key
from tidings.notify.access.model import KeySpec, credential
from tidings.notify.channels.configure import ChannelConfigurer
from tidings.notify.channels.model import ChannelConfig, Sender
from tidings.notify.channels.wire import AccountInput, PutChannel
from tidings.notify.tenants.wire import CreateTenant
from tidings.operations.embedded import DataDir, EmbeddedPostgres
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.partitions import make_missing

#: Long enough for a slow and busy machine.
_PATIENCE = 120.0
_ACTOR = "house"
_LOOK = 0.01
#: What each vendor is for.
_CHANNELS: dict[str, tuple[Channel, PutChannel]] = {
    "smtp": (
        "email",
        PutChannel(vendor="smtp", sender=Sender(from_address="hello@house.example", from_name="House")),
    ),
    "http": ("sms", PutChannel(vendor="http", sender=Sender(sender_id="House"))),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resident:
    """A tenant and a key that may do everything for it."""

    tenant_id: TenantId
    api_key: str


class Process(Protocol):
    """What a `subprocess.Popen` can do, as far as it is needed."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, number: int, /) -> None: ...
    def kill(self) -> None: ...


class Start(Protocol):
    """Starts `tidings` with these words."""

    def __call__(self, words: Sequence[str], *, output: IO[bytes], env: Mapping[str, str]) -> Process: ...


def start_interpreter(words: Sequence[str], *, output: IO[bytes], env: Mapping[str, str]) -> Process:
    """As a process manager does it."""
    return subprocess.Popen(
        [sys.executable, "-m", "tidings", *words],
        stdout=output,
        stderr=subprocess.STDOUT,
        env=env,
        start_new_session=True,
    )


class Program:
    """One process of ours, started again as often as it is needed."""

    def __init__(self, *words: str, environment: dict[str, str], says: str, start: Start) -> None:
        """`says` is what it prints when it is ready."""
        self._words = words
        self._start = start
        self._environment = environment
        self._says = says.encode()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  # readable after its end, too
        weakref.finalize(self, self._output.close)
        self._from = 0
        self._process: Process | None = None

    @property
    def pid(self) -> int:
        """Of the process that runs now."""
        assert self._process is not None
        return self._process.pid

    @property
    def output(self) -> str:
        """Everything that it and its predecessors have printed."""
        size = os.fstat(self._output.fileno()).st_size
        return os.pread(self._output.fileno(), size, 0).decode(errors="replace")

    def launch(self) -> None:
        """Start it; returns before it is ready."""
        self._from = os.fstat(self._output.fileno()).st_size
        self._process = self._start(self._words, output=self._output, env=self._environment)

    def await_ready(self) -> None:
        """Wait until it says so."""
        wait_for(self._ready, f"tidings {self._words[0]} to be ready")

    def _ready(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise AssertionError(f"it ended with {self._process.returncode}:\n{self.output[-4000:]}")
        size = os.fstat(self._output.fileno()).st_size - self._from
        return self._says in os.pread(self._output.fileno(), size, self._from)

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """As `kill -9` does it."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(_PATIENCE)

    def tell(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Tell it to stop, and go on."""
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self) -> int:
        """Until it has ended; its exit code."""
        assert self._process is not None
        return self._process.wait(_PATIENCE)


class House:
    """A context manager; enter it in the main thread, because Postgres ends with the thread that started it."""

    def __init__(
        self,
        *,
        workers: int = 1,
        apart: Sequence[str] = (),
        vendors: dict[str, dict[str, object]],
        extra: dict[str, str] | None = None,
        place: Path | None = None,
        start: Start = start_interpreter,
        postgres_options: dict[str, str] | None = None,
    ) -> None:
        """`vendors` are the settings of the platform's accounts; `extra` are more variables for all processes.

        `apart`: workers of one service each, beside the `workers` of both. `place` is a data dir that stays; what another house has made in it is kept.
        """
        self._extra = extra or {}
        self._start = start
        self._folder = tempfile.TemporaryDirectory(prefix="tidings-house-", ignore_cleanup_errors=True)
        Path(self._folder.name).chmod(0o711)
        self.data_dir = DataDir(place or Path(self._folder.name) / "data")
        self.postgres = EmbeddedPostgres(self.data_dir, options=postgres_options)
        self._vendors = vendors
        self._count = workers
        self._apart = apart
        self._environment: dict[str, str] = {}
        self.base_url = ""
        self.api: Program
        self.workers: list[Program] = []

    def __enter__(self) -> Self:
        self.data_dir.open()
        self.postgres.start()
        try:
            self._furnish()
        except BaseException:
            self._leave()
            raise
        return self

    def _furnish(self) -> None:
        secrets = self.data_dir.path / "secrets"
        secrets.mkdir(mode=0o700, exist_ok=True)
        for vendor, account in self._vendors.items():
            self.data_dir.write_private(secrets / f"{vendor}.json", account)
        uvloop.run(self._prepare())
        port = free_port()
        self.base_url = f"http://127.0.0.1:{port}"
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("TIDINGS_")
        } | {
            "TIDINGS_DATA_DIR": str(self.data_dir.path),
            "TIDINGS_DATABASE_URL": self.postgres.url("tidings_runtime"),
            "TIDINGS_OWNER_DATABASE_URL": self.postgres.url("tidings_owner"),
            "TIDINGS_PORT": str(port),
            "PYTHONUNBUFFERED": "1",
            **self._extra,
        }
        self.api = Program("serve", environment=self._environment, says="api ready", start=self._start)
        self.workers = [self._worker() for _ in range(self._count)]
        self.workers += [self._worker("--only", service) for service in self._apart]
        for program in self.programs:
            program.launch()
        for program in self.programs:
            program.await_ready()

    def hire(self, *, database_url: str) -> Program:
        """One more worker, which reaches the database by another way."""
        worker = self._worker(TIDINGS_DATABASE_URL=database_url)
        worker.launch()
        worker.await_ready()
        self.workers.append(worker)
        return worker

    def _worker(self, *options: str, **other: str) -> Program:
        says = " ".join(("jobs", *(f"of {one}" for one in options[1:]), "ready"))
        return Program("work", *options, environment=self._environment | other, says=says, start=self._start)

    @property
    def programs(self) -> list[Program]:
        """All but Postgres."""
        return [self.api, *self.workers]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for program in self.programs:
            if program.runs:
                program.tell()
        for program in self.programs:
            program.wait()
        self._leave()

    def _leave(self) -> None:
        self.postgres.stop()
        self.data_dir.close()
        self._folder.cleanup()

    def revive(self) -> None:
        """Start again whoever has ended, as a process manager does: one that finds no database gives up."""
        for program in self.programs:
            if not program.runs:
                program.launch()

    def resident(self, slug: str) -> Resident:
        """A new tenant, with its channels set up over the platform's accounts."""
        return self.residents([slug])[0]

    def residents(self, slugs: Sequence[str], *, own_accounts: bool = False) -> list[Resident]:
        """The same for many. `own_accounts`: each has its own with every vendor, of the same settings as the platform's."""
        return uvloop.run(self._residents(slugs, own_accounts=own_accounts))

    def publish(self, resident: Resident, key: str, channel: str, version: dict[str, Any]) -> None:
        """A template version of this tenant, through the same routes as everybody's."""
        self.publish_for_all([resident], key, channel, version)

    def publish_for_all(
        self, residents: Sequence[Resident], key: str, channel: str, version: dict[str, Any]
    ) -> None:
        """The same version, for each of them its own."""
        uvloop.run(self._publish(residents, f"/api/v1/templates/{key}/{channel}/versions", version))

    async def _publish(self, residents: Sequence[Resident], where: str, version: dict[str, Any]) -> None:
        async with self.system() as system:
            # Here and not over the wire: the API's process need not load what only publishing needs.
            transport = httpx2.ASGITransport(app=system.app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://house") as client:
                for resident in residents:
                    headers = {"Authorization": f"Bearer {resident.api_key}"}
                    (await client.post(where, json=version, headers=headers)).raise_for_status()
                    done = await client.post(f"{where}/{version['semver']}/publish", headers=headers)
                    done.raise_for_status()

    def is_ready(self) -> bool:
        """Whether the API says that it is."""
        try:
            with urllib.request.urlopen(f"{self.base_url}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    def get(self, resident: Resident, path: str) -> object:
        """Ask the API as somebody."""
        request = urllib.request.Request(
            f"{self.base_url}{path}", headers={"Authorization": f"Bearer {resident.api_key}"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    async def _prepare(self) -> None:
        owner_url = self.postgres.url("tidings_owner")
        await migrate_up(owner_url)
        owner = await asyncpg.connect(owner_url)
        await make_missing(owner, SystemClock().now())
        await owner.close()
        async with self.system() as system:
            await system.platform_start.publish()
            async with system.db.platform() as tx:
                await system.router.adapter_configs.configure_platform(
                    tx,
                    [ConfigureAccount(vendor=v, secret_ref=f"file://{v}.json") for v in self._vendors],
                    actor=_ACTOR,
                )

    async def _residents(self, slugs: Sequence[str], *, own_accounts: bool) -> list[Resident]:
        async with self.system() as system:
            return [await self._resident(system, slug, own_accounts=own_accounts) for slug in slugs]

    async def _resident(self, system: System, slug: str, *, own_accounts: bool) -> Resident:
        async with system.db.platform() as tx:
            policy = NotificationPolicy(allowed_sender_domains=("*",), allowed_sender_ids=("*",))
            wanted = CreateTenant(name=slug.title(), slug=slug, notification_policy=policy)
            tenant = await system.access.tenants.create(tx, wanted.event, actor=_ACTOR)
        configurer = ChannelConfigurer(
            router=system.router.adapter_configs, audit=system.kernel.audit, clock=system.clock
        )
        async with system.db.tenant(tenant.id) as tx:
            wish = KeySpec(name=slug, role="tenant.admin", scopes=None)
            key, secret = await create_key(
                tx, wish, grantor=None, actor=_ACTOR, ledger=system.access.key_ledger, clock=system.clock
            )
            for vendor in self._vendors:
                channel, put = _CHANNELS[vendor]
                if own_accounts:
                    put = self._with_own_account(put, tenant.id)
                await configurer.configure(tx, put.spec(channel), expect=_anything, actor=_ACTOR)
        return Resident(tenant_id=tenant.id, api_key=credential(key.id, secret))

    def _with_own_account(self, put: PutChannel, tenant_id: TenantId) -> PutChannel:
        folder = self.data_dir.path / "secrets" / tenant_id
        folder.mkdir(mode=0o700, exist_ok=True)
        name = f"{put.vendor}.json"
        self.data_dir.write_private(folder / name, self._vendors[put.vendor])
        return structs.replace(put, accounts={put.vendor: AccountInput(secret_ref=f"file://{name}")})

    def system(self, **chosen_parts: Any) -> System:
        """The same system, in this process."""
        chosen = settings.load(None, TIDINGS_DATA_DIR=self.data_dir.path, **self._extra)
        return System(
            chosen,
            runtime_url=self.postgres.url("tidings_runtime"),
            owner_url=self.postgres.url("tidings_owner"),
            **chosen_parts,
        )


def wait_for(condition: Callable[[], bool], what: str, patience: float = _PATIENCE) -> None:
    """Look again and again until it is so."""
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(_LOOK)


def _anything(_: ChannelConfig | None) -> None:
    """There is no version that it would have to be made from."""
