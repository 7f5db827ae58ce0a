"""The whole pipeline over a test's database: the API, a worker's parts and the real sandbox, moved by hand.

Nothing runs by itself: `settle` drains every queue in turn until nothing is left, and the clock stands still until a
test moves it. So a quiet night, a retry and an expiry take no time at all.
"""

import fcntl
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx2

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tests.support.people import unused
from tests.support.postgres import TEMPLATE, TestDatabase, TestServer
from tests.support.senders import any_sender
from tests.support.system import announce, system_over
from tidings.bootstrap import System
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.tenants import NotificationPolicy, TenantUpdated
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.operations.partitions import make_missing
from tidings.sandbox import Sandbox
from tidings.sandbox.reading import SandboxMessageView, show

HOME = "/api/v1/notifications"
#: A Sunday, by day nearly everywhere.
NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
#: What waits for a worker, and how often somebody has tried: emptied between two worlds over one database, whose clocks
#: stand at the same time.
_PASSING = (
    "notification.dispatch_queue, notification.notification_scheduled, notification.digest_windows, notification.dispatch_requests, "
    "chan.executions_live, kernel.hot_limits"
)
#: What `order_confirmation` takes.
ORDERED: dict[str, Any] = {
    "order_number": "A-1001",
    "total": {"amount_micros": 42_500_000, "currency": "USD"},
    "items": [{"name": "Green tea", "quantity": 2}],
}


def order(to: str | None = None, **wish: Any) -> dict[str, Any]:
    """A body that is accepted; to somebody new unless `to` says where."""
    return {
        "recipient": person(to or f"laila-{unused()}@example.test"),
        "template": "order_confirmation",
        "channel": "email",
        "variables": ORDERED,
    } | wish


def person(*addresses: str, **facts: Any) -> dict[str, Any]:
    """Somebody new; an address with an @ is a mail address, the others are telephones."""
    return {
        "identity": {"type": "guest", "id": f"g-{unused()}"},
        "display_name": "Laila",
        "locale": "en",
        "timezone": "UTC",
        "addresses": [{"channel": "email" if "@" in a else "sms", "address": a} for a in addresses],
    } | facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """A tenant that sends, and its client."""

    world: "PipelineWorld"
    tenant_id: TenantId
    client: httpx2.AsyncClient

    async def send(self, to: str | None = None, **wish: Any) -> dict[str, Any]:
        """What accepting one answers."""
        answer = await self.client.post(HOME, json=order(to, **wish))
        assert answer.status_code == 202, answer.text
        accepted: dict[str, Any] = answer.json()
        return accepted

    async def explain(self, notification_id: str) -> dict[str, Any]:
        """`GET …/explain`."""
        answer = await self.client.get(f"{HOME}/{notification_id}/explain")
        assert answer.status_code == 200, answer.text
        explained: dict[str, Any] = answer.json()
        return explained

    async def status(self, notification_id: str) -> str:
        """How it stands."""
        answer = await self.client.get(f"{HOME}/{notification_id}")
        assert answer.status_code == 200, answer.text
        return str(answer.json()["status"])

    async def choose(self, recipient_id: str, **choices: Any) -> None:
        """What a recipient allows, from now on."""
        path = f"/api/v1/recipients/{recipient_id}/preferences"
        known = await self.client.get(path)
        answer = await self.client.patch(path, json=choices, headers={"If-Match": known.headers["etag"]})
        assert answer.status_code == 200, answer.text

    async def channel(self, channel: str = "email", **wish: Any) -> None:
        """Set a channel up, or change it."""
        path = f"/api/v1/channels/{channel}"
        known = await self.client.get(path)
        change = {"If-Match": known.headers["etag"]} if known.status_code == 200 else {}
        answer = await self.client.put(path, json=channel_wish(channel) | wish, headers=change)
        assert answer.status_code == 200, answer.text

    async def policy(self, policy: NotificationPolicy, *, grants: bool = True) -> None:
        """The tenant's policy, from now on; with all senders where it lists none, unless it `grants` nothing more."""
        policy = any_sender(policy) if grants else policy
        system = self.world.system
        async with system.db.platform() as tx:
            await system.access.tenants.change(
                tx,
                self.tenant_id,
                lambda known: TenantUpdated(
                    tenant_id=known.id, version=known.version + 1, notification_policy=policy
                ),
                actor="test",
            )

    async def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        """What the tenant itself finds."""
        async with self.world.db.tenant(self.tenant_id) as tx:
            return [dict(row) for row in await tx.connection.fetch(query, *values)]


def channel_wish(channel: str) -> dict[str, Any]:
    """A channel over the platform's account."""
    if channel == "email":
        return {"vendor": "smtp", "sender": {"from_address": "hello@acme.test", "from_name": "Acme"}}
    return {"vendor": "http", "sender": {"sender_id": "ACME"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A database that worlds can be made over, and the folder with the keys to it."""

    database: TestDatabase
    folder: Path


class PipelineWorld:
    """Everything that one process of `tidings up` has, and a sandbox as the vendor."""

    def __init__(
        self, database: TestDatabase, system: System, sandbox: Sandbox, clock: ManualClock, folder: Path
    ) -> None:
        self.database = database
        self.system = system
        self.sandbox = sandbox
        self.clock = clock
        self.folder = folder
        self.http = HttpWorld(make_app=lambda: system.app, system=system, answered=[])
        self.relays = [system.kernel.bus.relay("notification"), system.kernel.bus.relay("chan")]

    @property
    def db(self) -> Database:
        return self.system.db

    @contextmanager
    def router_alone(self) -> Iterator[None]:
        """The router as in a process without notify: outcomes reach it by their events alone."""
        recorder = self.system.executions.recorder
        settler = recorder.settler
        object.__setattr__(recorder, "settler", None)
        try:
            yield
        finally:
            object.__setattr__(recorder, "settler", settler)

    async def settle(self) -> None:
        """Do all that can be done now: due, decided, sent, recorded, told."""
        system = self.system
        drains = [
            system.batches.job.drain,
            system.dispatch.schedule.drain,
            system.digests.flushing.drain,
            system.dispatch.job.drain,
            system.executions.due.drain,
            *(relay.drain for relay in self.relays),
            system.triggers.consumer.drain,
            system.consumers.outcomes.drain,
        ]
        idle = 0
        for drain in cycle(drains):
            idle = 0 if await drain() else idle + 1
            # Each was asked since the last one that had something to do.
            if idle == len(drains):
                return

    async def advance(self, **by: float) -> None:
        """Move the clock, and do what is due then."""
        await self.clock.advance(timedelta(**by))
        await self.settle()

    async def until(self, moment: datetime) -> None:
        """Move the clock to that moment, and do what is due then."""
        await self.clock.advance(moment - self.clock.now())
        await self.settle()

    def received(self, to: str) -> list[SandboxMessageView]:
        """What the vendor got for this address, the oldest first."""
        return [show(message) for message in self.sandbox.store.find(to=to)]

    async def tenant(
        self, policy: NotificationPolicy | None = None, *, grants: bool = True, **facts: Any
    ) -> TenantId:
        """A new tenant with its keys; `grants`: the senders that the policy does not list are granted too."""
        tenant = await self.http.tenant(
            f"t-{unused()}",
            notification_policy=any_sender(policy) if grants else policy or NotificationPolicy(),
            **facts,
        )
        async with self.db.tenant(tenant.id) as tx:
            await self.system.kernel.keyring.provision(tx)
        return tenant.id

    @asynccontextmanager
    async def sender(
        self,
        policy: NotificationPolicy | None = None,
        *,
        channels: Sequence[str] = ("email", "sms"),
        grants: bool = True,
        **key: Any,
    ) -> AsyncIterator[Sender]:
        """A tenant with these channels and a key."""
        tenant_id = await self.tenant(policy, grants=grants)
        async with self.http.as_tenant(tenant_id) as admin:
            for channel in channels:
                await Sender(world=self, tenant_id=tenant_id, client=admin).channel(channel)
        async with self.http.as_tenant(tenant_id, **key) as client:
            yield Sender(world=self, tenant_id=tenant_id, client=client)

    @asynccontextmanager
    async def unguarded(self, *tables: str) -> AsyncIterator[Any]:
        """The owner, for whom no row of these tables is hidden: for what the product may not do."""
        async with self.database.owner() as owner, owner.transaction():
            for table in tables:
                await owner.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
            yield owner
            for table in tables:
                await owner.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")

    @asynccontextmanager
    async def another_worker(self) -> AsyncIterator[System]:
        """A second process over the same database, known to the first, with the same clock."""
        system = system_over(self.database, self.folder, self.clock)
        async with system:
            await announce(system)
            yield system


@asynccontextmanager
async def pipeline_world(
    prepared: Prepared,
    now: datetime = NOON,
    *,
    public_url: str | None = None,
    tenant_networks: str | None = None,
) -> AsyncIterator[PipelineWorld]:
    """A world over a prepared database, whose clock stands at `now`; one at a time. `tenant_networks`: opened to tenants."""
    database, folder, clock = prepared.database, prepared.folder, ManualClock(now)
    named = {} if public_url is None else {"TIDINGS_PUBLIC_URL": public_url}
    if tenant_networks is not None:
        named["TIDINGS_TENANT_NETWORKS"] = tenant_networks
    made = system_over(database, folder, clock, **named)
    async with Sandbox(clock, seed=1) as sandbox, made as system:
        _write_accounts(folder, sandbox)
        await announce(system)
        yield PipelineWorld(database, system, sandbox, clock, folder)
    async with database.owner() as owner:
        await owner.execute(f"TRUNCATE {_PASSING}")


@asynccontextmanager
async def prepared_database(server: TestServer, folder: Path, *months: datetime) -> AsyncIterator[Prepared]:
    """A database of one's own with partitions for these months, the platform's templates and its accounts."""
    template, made_with = await _prepared_template(server)
    shutil.copytree(made_with, folder, dirs_exist_ok=True)
    async with server.clone(template) as database:
        async with database.owner() as owner:
            for month in months:
                await make_missing(owner, month)
        yield Prepared(database=database, folder=folder)


async def _prepared_template(server: TestServer) -> tuple[str, Path]:
    """The name of the database to clone, and the folder with its keys: made once a run, by the worker that asks first."""
    place = Path(tempfile.gettempdir()) / "prepared"
    name = "tidings_prepared"
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            draft = Path(tempfile.mkdtemp())
            await server.administer(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
            await _prepare(server.database(name), draft)
            draft.rename(place)
    return name, place


async def _prepare(database: TestDatabase, folder: Path) -> None:
    async with system_over(database, folder) as system:
        await system.platform_start.publish()
        await system.platform_start.publish_triggers()
        async with system.db.platform() as tx:
            await system.router.adapter_configs.configure_platform(
                tx,
                [ConfigureAccount(vendor=v, secret_ref=f"file://{v}.json") for v in ("smtp", "http")],
                actor="test",
            )
    async with database.owner() as owner:
        # A copy that is made late in the run would have waited for its relay all the time.
        await owner.execute("TRUNCATE notification.outbox, chan.outbox")


def _write_accounts(folder: Path, sandbox: Sandbox) -> None:
    secrets = folder / "secrets"
    secrets.mkdir(mode=0o700, exist_ok=True)
    smtp = {"host": sandbox.host, "port": sandbox.smtp_port, "security": "none"}
    http = {
        "url": f"{sandbox.url}/http/messages",
        "message_id_path": "id",
        "error_code_path": "error.code",
        "error_reason_path": "error.message",
        "idempotent": True,
    }
    for name, account in (("smtp", smtp), ("http", http)):
        path = secrets / f"{name}.json"
        path.touch(mode=0o600)
        path.write_text(json.dumps(account))
