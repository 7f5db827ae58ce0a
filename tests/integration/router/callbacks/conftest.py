"""What these tests share: accounts with hooks, attempts to be told about, and the application in front of them."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from tests.support.clock import ManualClock
from tests.support.kms import MemoryKms
from tests.support.postgres import TestDatabase, TestServer
from tidings.contracts.callbacks import signed_headers
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.blobs.store import BlobStore, open_blobs
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import CallerRole, Database, Row
from tidings.kernel.durable.locked_sets import LockedSetSettings
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.http.app import HttpApp, build_app
from tidings.kernel.http.callers import AccessGuard, Caller
from tidings.kernel.http.tenant_gate import TenantGate, TenantState
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.kms import Kms
from tidings.kernel.parts import Parts
from tidings.kernel.refusals import UnauthenticatedError
from tidings.kernel.secrets import FileSecrets, SecretsByScheme
from tidings.router.adapters.http.callbacks import GenericForm
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.callbacks.apply import Applier
from tidings.router.callbacks.dead_letters import DeadCallbacks
from tidings.router.callbacks.evidence import Evidence
from tidings.router.callbacks.hooks import CallbackHooks
from tidings.router.callbacks.intake import CallbackGroupCommit
from tidings.router.callbacks.jobs import CallbackJob
from tidings.router.callbacks.raw_bodies import BodyLocation
from tidings.router.callbacks.receive_callback import CallbackEndpoint
from tidings.router.callbacks.routes import CallbackWakeup, callbacks, hooks
from tidings.router.channel_configs.configure import AdapterConfigs
from tidings.router.conversations.keep_inbound import InboundKeeper
from tidings.router.executions import receipts
from tidings.router.executions.model import EXECUTION
from tidings.router.receipts import ApplyReceipts
from tidings.router.state_machine.model import ATTEMPT

SECRET = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ="
_serials = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A call that was made."""

    tenant_id: TenantId
    id: str
    execution_id: str
    account_id: str
    vendor: str
    message_id: str


class CountingObserver:
    """Notes what it hears."""

    def __init__(self) -> None:
        self.events: list[tuple[object, ...]] = []

    def received(self, vendor: str, count: int, repeated: int) -> None:
        self.events.append(("received", vendor, count, repeated))

    def refused(self, vendor: str, code: str) -> None:
        self.events.append(("refused", vendor, code))

    def applied(self, count: int, seconds: float) -> None:
        self.events.append(("applied", count))

    def late(self, count: int) -> None:
        self.events.append(("late", count))

    def died(self, count: int) -> None:
        self.events.append(("died", count))

    def waiting(self, seconds: float) -> None:
        self.events.append(("waiting", seconds))

    def failed(self, part: str) -> None:
        self.events.append(("failed", part))


class _Callers:
    """Knows callers by the role that they carry."""

    async def authenticate(self, credential: str) -> Caller:
        roles: dict[str, tuple[CallerRole, frozenset[str]]] = {
            "admin": ("platform.channel.admin", frozenset({"router:read", "router:write"})),
            "support": ("platform.support", frozenset({"router:read"})),
        }
        if credential.startswith("tnt_"):
            return Caller(
                kind="key",
                id="key_tenant",
                home=TenantId(credential),
                role="tenant.admin",
                scopes=frozenset({"router:read", "router:write"}),
                environment="live",
            )
        if credential not in roles:
            raise UnauthenticatedError
        role, scopes = roles[credential]
        return Caller(
            kind="key", id=f"key_{credential}", home=None, role=role, scopes=scopes, environment="live"
        )


class _AllActive:
    async def state_of(self, tenant_id: TenantId) -> TenantState | None:
        return TenantState(status="active", frozen=False)


class _NoWitness:
    async def acting(self, caller: Caller, operation: str) -> None:
        """Nobody acts for anybody here."""


class CallbackWorld:
    """A database, its hooks, and a worker that applies what they take in."""

    def __init__(
        self, db: Database, folder: Path, *, kms: Kms | None = None, blobs_url: str | None = None
    ) -> None:
        self.db = db
        self.folder = folder
        self.clock = ManualClock(SystemClock().now())
        self.secrets = SecretsByScheme({"file": FileSecrets(folder / "secrets")})
        (folder / "secrets").mkdir()
        self.blobs: BlobStore = open_blobs(blobs_url or f"file://{folder}/blobs")
        self.keyring = Keyring(kms or MemoryKms(), clock=self.clock)
        self.audit = AuditLog("chan", self.clock)
        self.wakeup = Wakeup()
        self.observer = CountingObserver()
        self.woken: list[datetime] = []
        self.hooks = CallbackHooks(db, self.secrets, clock=self.clock)
        self.intake = self.make_intake()
        self.desk = CallbackEndpoint(
            self.hooks,
            self.intake,
            public_url="https://tidings.example",
            usual=GenericForm(),
            clock=self.clock,
            evidence=Evidence(clock=self.clock, most=3),
            observer=self.observer,
        )
        self.dead = DeadCallbacks(audit=self.audit, keyring=self.keyring, clock=self.clock)
        self.app = self._app()

    def make_intake(self, **more: Any) -> CallbackGroupCommit:
        return CallbackGroupCommit(
            self.db,
            blobs=lambda: self.blobs,
            keyring=self.keyring,
            clock=self.clock,
            wakeup=self.wakeup,
            wrote=InboundKeeper(Wakeup()),
            observer=self.observer,
            **more,
        )

    def job(self, apply: ApplyReceipts = receipts.apply, *, limit: int = 500) -> CallbackJob:
        """A worker."""
        return CallbackJob(
            self.db,
            Applier(self.db, self.keyring, apply, on_woken=self.woken.append, observer=self.observer),
            wakeup=self.wakeup,
            clock=self.clock,
            observer=self.observer,
            settings=LockedSetSettings(limit=limit),
        )

    async def account(
        self,
        tenant_id: TenantId | None,
        vendor: str = "http",
        *,
        secret: str | None = SECRET,
        **settings: Any,
    ) -> str:
        """The id of an account of the tenant's own, or of the platform's, changed where there is one."""
        name = f"{vendor}-{tenant_id or 'platform'}"
        self.write_secret(tenant_id, name, secret, **settings)
        configs = AdapterConfigs(
            {kind.name: kind.channels for kind in ADAPTERS.values()}, audit=self.audit, clock=self.clock
        )
        command = ConfigureAccount(vendor=vendor, secret_ref=f"file://{name}")
        if tenant_id is None:
            async with self.db.platform() as platform:
                made = await configs.configure_platform(platform, [command], actor="test")
        else:
            async with self.db.tenant(tenant_id) as tx:
                made = await configs.configure(tx, [command], actor="test")
        return made[vendor].id

    def write_secret(
        self, tenant_id: TenantId | None, name: str, secret: str | None, **settings: Any
    ) -> None:
        """What the account's reference leads to."""
        content: dict[str, Any] = {
            "url": "https://vendor.example/send",
            "message_id_path": "id",
            "receipts": True,
            **settings,
        }
        if secret is not None:
            content["callback_secret"] = secret
        else:
            content["receipts"] = False
        place = self.folder / "secrets" / (tenant_id or "")
        place.mkdir(exist_ok=True)
        (place / name).write_text(json.dumps(content))

    async def attempt(
        self, tenant_id: TenantId, account_id: str, *, vendor: str = "http", message_id: str | None = None
    ) -> Attempt:
        """A call that the vendor has taken."""
        now = self.clock.now()
        now = now.replace(microsecond=now.microsecond // 1000 * 1000)
        made = Attempt(
            tenant_id=tenant_id,
            id=ATTEMPT.new(now),
            execution_id=EXECUTION.new(now),
            account_id=account_id,
            vendor=vendor,
            message_id=message_id or f"vendor-{next(_serials)}",
        )
        async with self.db.tenant(tenant_id) as tx:
            await tx.connection.execute(
                "INSERT INTO chan.delivery_attempts (tenant_id, id, started_at, terminated_at, step_index, execution_id, "
                "channel, adapter_config_id, provider, provider_message_id, status) "
                "VALUES ($1, $2, $3, $3, 1, $4, 'sms', $5, $6, $7, 'accepted')",
                tenant_id,
                made.id,
                now,
                made.execution_id,
                account_id,
                vendor,
                made.message_id,
            )
        return made

    def signed(
        self,
        body: bytes,
        *,
        secret: str = SECRET,
        webhook_id: str = "msg_1",
        at: datetime | None = None,
    ) -> dict[str, str]:
        """The headers of a vendor that signs this body now."""
        timestamp = int((at or self.clock.now()).timestamp())
        return {
            "content-type": "application/json",
            **signed_headers(secret, webhook_id=webhook_id, timestamp=timestamp, body=body),
        }

    async def post(
        self, account_id: str, body: bytes, *, vendor: str = "http", headers: dict[str, str] | None = None
    ) -> httpx2.Response:
        """What the hook answers."""
        async with self.client() as client:
            return await client.post(
                f"/hooks/{vendor}/{account_id}",
                content=body,
                headers=self.signed(body) if headers is None else headers,
            )

    async def tell(
        self, attempt: Attempt, status: str = "delivered", *, secret: str = SECRET, **more: Any
    ) -> httpx2.Response:
        """A vendor's receipt for one attempt."""
        body = events(event(attempt.message_id, status, **more))
        return await self.post(
            attempt.account_id, body, vendor=attempt.vendor, headers=self.signed(body, secret=secret)
        )

    @asynccontextmanager
    async def client(self, role: str | None = None) -> AsyncIterator[httpx2.AsyncClient]:
        """Somebody who calls."""
        transport = httpx2.ASGITransport(app=self.app, raise_app_exceptions=False)
        headers = {"Authorization": f"Bearer {role}"} if role else {}
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://tidings.test", headers=headers
        ) as client:
            yield client

    async def receipts(self, tenant_id: TenantId) -> list[Row]:
        """What the tenant's attempts were told."""
        async with self.db.tenant(tenant_id) as tx:
            return list(
                await tx.connection.fetch(
                    "SELECT * FROM chan.delivery_attempt_events ORDER BY recorded_at, id"
                )
            )

    async def events(self) -> list[Row]:
        """Where the events stand; as a worker sees them."""
        async with self.db.worker() as tx:
            return list(
                await tx.connection.fetch(
                    "SELECT id, tenant_id, status, attempt_id, correlate_attempts, next_correlate_at "
                    "FROM chan.webhook_inbound_events ORDER BY received_at, id"
                )
            )

    async def requests(self) -> list[Row]:
        """Where the requests stand; as the platform sees them."""
        async with self.db.platform() as tx:
            return list(
                await tx.connection.fetch("SELECT * FROM chan.webhook_inbound ORDER BY received_at, id")
            )

    async def later(self, **by: float) -> None:
        """Time passes."""
        await self.clock.advance(timedelta(**by))

    def _app(self) -> HttpApp:
        parts = Parts(self.db, self.desk, self.dead).add(CallbackWakeup, self.wakeup)
        parts.add_late(BlobStore, lambda: self.blobs)
        return build_app(
            resources=[(parts, [hooks, callbacks])],
            guard=AccessGuard(
                authenticator=_Callers(),
                gate=TenantGate(_AllActive(), clock=self.clock),
                witness=_NoWitness(),
            ),
            clock=self.clock,
            version="test",
            checks={},
            render_metrics=lambda: b"",
            body_limit=4 * 1024 * 1024,
        )


def event(message_id: str, status: str = "delivered", **more: Any) -> dict[str, Any]:
    """One event, with a name of its own unless it is given one."""
    return {"id": more.pop("id", f"evt-{next(_serials)}"), "message_id": message_id, "status": status, **more}


def events(*said: dict[str, Any]) -> bytes:
    """The body of a request."""
    return json.dumps({"events": list(said)}).encode()


def place_of(request: Row) -> BodyLocation:
    """Where the raw body of a request is."""
    return BodyLocation(ref=request["raw_body_ref"], key=request["body_key"])


def ids(rows: Sequence[Row]) -> list[str]:
    """Their ids."""
    return [row["id"] for row in rows]


@pytest.fixture
def other_tenant() -> TenantId:
    """Another tenant that no other test knows."""
    return TENANT.new(SystemClock().now())


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def callbacks_database(server: TestServer) -> AsyncIterator[TestDatabase]:
    """A database for the tests of one file, because claims reach across tenants."""
    async with server.clone() as database:
        yield database


@pytest.fixture
async def world(callbacks_database: TestDatabase, tmp_path: Path) -> AsyncIterator[CallbackWorld]:
    """Nobody has called yet."""
    async with callbacks_database.owner() as owner:
        await owner.execute(
            "TRUNCATE chan.webhook_inbound, chan.webhook_inbound_events, chan.webhook_inbound_dedup, "
            "chan.inbound_messages, "
            "chan.executions_live, chan.erased_executions, chan.channel_adapter_configs, kernel.platform_keys CASCADE"
        )
    db = Database(callbacks_database.runtime_url)
    await db.open()
    yield CallbackWorld(db, tmp_path)
    await db.close()
