"""What these tests share: accounts with hooks, attempts to be told about, and the application in front of them."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.http import http_over
from tests.support.system import now_clock, system_over
from tidings.bootstrap import System
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, Row
from tidings.kernel.durable.locked_sets import LockedSetSettings
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.signed_webhooks.signature import signed_headers
from tidings.router.callbacks.jobs import CallbackJob
from tidings.router.callbacks.raw_bodies import BodyLocation
from tidings.router.callbacks.routes import callbacks, hooks
from tidings.router.executions.model import EXECUTION
from tidings.router.receipts import ApplyReceipts
from tidings.router.state_machine.model import ATTEMPT
from tidings.router.status_map.routes import status_map

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


class CallbackWorld:
    """A database, its hooks, and a worker that applies what they take in."""

    def __init__(self, db: Database, folder: Path) -> None:
        """Keys, secrets and blobs lie in `folder`."""
        self.db = db
        self.folder = folder
        self.clock = now_clock()
        (folder / "secrets").mkdir()
        self._processes: list[System] = []
        self.system = system = self.process()
        self.http = http_over(system, only=(hooks, callbacks, status_map))
        self.keyring, self.audit, self.secrets = (
            system.kernel.keyring,
            system.kernel.router_audit,
            system.kernel.secrets,
        )
        self.wakeup, self.intake = system.callbacks.wakeup, system.callbacks.intake

    def process(self) -> System:
        """A further one over the same database."""
        system = system_over(self.db, self.folder, self.clock, TIDINGS_PUBLIC_URL="https://tidings.example")
        self._processes.append(system)
        return system

    async def close(self) -> None:
        """End what the processes hold open; the database is the test's."""
        for system in self._processes:
            await system.kernel.closing.aclose()

    def job(self, apply: ApplyReceipts | None = None, *, limit: int | None = None) -> CallbackJob:
        """The process' own job, or that of a further process that applies receipts so."""
        if apply is None and limit is None:
            return self.system.callbacks.job
        system = self.process()
        if apply is not None:
            system.callbacks.apply_receipts = apply
        if limit is not None:
            system.router.parts.add(LockedSetSettings, LockedSetSettings(limit=limit))
        return system.callbacks.job

    def counted(self, metric: str, **labels: str) -> float:
        """What the process has counted."""
        return self.system.kernel.metrics.registry.get_sample_value(f"tidings_{metric}", labels) or 0.0

    def next_look(self) -> float:
        """In how many seconds the job of due executions looks again, ten minutes at most."""
        return self.system.router.due_timer.seconds_left(None, now=self.clock.now(), longest=600.0)

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
        configs = self.system.router.adapter_configs
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

    def client(self, caller: str | None = None) -> AbstractAsyncContextManager[httpx2.AsyncClient]:
        """Somebody who calls: a vendor, an operator (`admin`, `support`), or a tenant by its id."""
        return self.http.client() if caller is None else self.http.calling(caller)

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


@pytest.fixture
async def world(fresh_db: Database, tmp_path: Path) -> AsyncIterator[CallbackWorld]:
    """Nobody has called yet; a database of its own, because claims reach across tenants."""
    made = CallbackWorld(fresh_db, tmp_path)
    yield made
    await made.close()
