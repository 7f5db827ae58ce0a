"""Callbacks: requests taken in and events applied a second, each beside a raw insert of as many rows in the same run.

Taking in: signed requests of one event each from many vendors' connections at once, from the signature to the commit, without
HTTP. The raw limit writes the same event rows, in sets of a hundred, a commit each: nobody verifies, seals or keeps a body there.
Applying: events that wait, with their attempts, in sets of five hundred. The raw limit writes as many rows of
`delivery_attempt_events`, in the same sets. `python -m bench.callbacks` measures this alone.
"""

import asyncio
import json
import tempfile
import time
from datetime import datetime
from itertools import count
from pathlib import Path

import asyncpg
import uvloop

from tidings import settings
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.blobs.store import open_blobs
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.kms import open_kms
from tidings.kernel.secrets import FileSecrets, SecretsByScheme
from tidings.kernel.signed_webhooks.signature import signed_headers
from tidings.operations.embedded import DataDir, EmbeddedPostgres
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.partitions import make_missing
from tidings.router.adapters.http.callbacks import GenericForm
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.callbacks.apply import Applier
from tidings.router.callbacks.evidence import Evidence
from tidings.router.callbacks.hooks import CallbackHooks
from tidings.router.callbacks.intake import CallbackGroupCommit, IntakeResult
from tidings.router.callbacks.jobs import CallbackJob
from tidings.router.callbacks.receive_callback import CallbackEndpoint, HookCall
from tidings.router.channel_configs.configure import AdapterConfigs
from tidings.router.conversations.keep_inbound import InboundKeeper
from tidings.router.executions import receipts
from tidings.router.executions.model import EXECUTION
from tidings.router.ids import INBOUND_WEBHOOK_EVENT
from tidings.router.state_machine.model import ATTEMPT

EVENTS = 20_000
_CONNECTIONS = 200
_TENANTS = 10
_SECRET = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ="
_EVENT_COLUMNS = "id, received_at, webhook_inbound_id, vendor, adapter, vendor_message_id, type"


class _World:
    def __init__(self, db: Database, folder: Path) -> None:
        self.db = db
        self.clock = SystemClock()
        chosen = settings.load({"TIDINGS_DATA_DIR": str(folder / "keys")})
        (folder / "keys").mkdir(mode=0o700, exist_ok=True)
        keyring = Keyring(open_kms(chosen.kms_url()), clock=self.clock)
        self.secrets = folder / "secrets"
        self.secrets.mkdir()
        blobs = open_blobs(f"file://{folder}/blobs")
        wakeup = Wakeup()
        wakeup.attended = True
        self.desk = CallbackEndpoint(
            CallbackHooks(db, SecretsByScheme({"file": FileSecrets(self.secrets)}), clock=self.clock),
            CallbackGroupCommit(
                db,
                blobs=lambda: blobs,
                keyring=keyring,
                clock=self.clock,
                wakeup=wakeup,
                wrote=InboundKeeper(Wakeup()),
            ),
            public_url="https://tidings.example",
            usual=GenericForm(),
            clock=self.clock,
            evidence=Evidence(clock=self.clock),
        )
        self.job = CallbackJob(
            db,
            Applier(db, keyring, receipts.apply, on_woken=lambda _: None),
            wakeup=wakeup,
            clock=self.clock,
        )

    async def account(self) -> str:
        (self.secrets / "http").write_text(
            json.dumps(
                {
                    "url": "https://vendor.example/send",
                    "message_id_path": "id",
                    "receipts": True,
                    "callback_secret": _SECRET,
                }
            )
        )
        configs = AdapterConfigs(
            {kind.name: kind.channels for kind in ADAPTERS.values()},
            audit=AuditLog("chan", self.clock),
            clock=self.clock,
        )
        async with self.db.platform() as tx:
            made = await configs.configure_platform(
                tx, [ConfigureAccount(vendor="http", secret_ref="file://http")], actor="bench"
            )
        return made["http"].id

    async def attempts(self, account: str, many: int) -> None:
        """Calls that vendors have taken, of a few tenants."""
        now = _moment(self.clock.now())
        tenants = [TENANT.new(now) for _ in range(_TENANTS)]
        for place, tenant_id in enumerate(tenants):
            names = [f"m-{n}" for n in range(place, many, _TENANTS)]
            async with self.db.tenant(tenant_id) as tx:
                await tx.connection.execute(
                    "INSERT INTO chan.delivery_attempts (tenant_id, id, started_at, step_index, execution_id, channel, "
                    "adapter_config_id, provider, provider_message_id, status) SELECT $1, a.id, $2, 1, a.execution_id, "
                    "'sms', $3, 'http', a.name, 'accepted' FROM unnest($4::text[], $5::text[], $6::text[]) AS a (id, "
                    "execution_id, name)",
                    tenant_id,
                    now,
                    account,
                    [ATTEMPT.new(now) for _ in names],
                    [EXECUTION.new(now) for _ in names],
                    names,
                )

    async def take_in(self, account: str, many: int) -> float:
        """Requests a second."""
        numbers = iter(range(many))

        async def vendor() -> None:
            for n in numbers:
                body = json.dumps(
                    {"events": [{"id": f"e-{n}", "message_id": f"m-{n}", "status": "delivered", "code": "0"}]}
                ).encode()
                signed = signed_headers(_SECRET, webhook_id=f"w-{n}", timestamp=int(time.time()), body=body)
                headers = {name: [value] for name, value in signed.items()}
                call = HookCall(
                    method="POST",
                    path=f"/hooks/http/{account}",
                    headers={**headers, "content-type": ["application/json"]},
                    read_body=_whole(body),
                )
                taken = await self.desk.take("http", account, call)
                if taken != IntakeResult(accepted=1, repeated=0):
                    raise AssertionError("an event was not taken in")

        began = time.perf_counter()
        await asyncio.gather(*(vendor() for _ in range(_CONNECTIONS)))
        return many / (time.perf_counter() - began)

    async def apply(self, many: int) -> float:
        """Events a second."""
        began = time.perf_counter()
        applied = await self.job.drain()
        if applied != many:
            raise AssertionError(f"{applied} of {many} were applied")
        return many / (time.perf_counter() - began)


def _whole(body: bytes):  # type: ignore[no-untyped-def]
    async def read() -> bytes:
        return body

    return read


def _moment(at: datetime) -> datetime:
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


async def raw_inserts(owner_url: str, many: int) -> tuple[float, float]:
    """Rows a second, of events in sets of a hundred and of receipts in sets of five hundred."""
    now = _moment(SystemClock().now())
    tenant_id: TenantId = TENANT.new(now)
    serial = count()
    owner = await asyncpg.connect(owner_url)
    try:
        await owner.execute(
            "CREATE TABLE raw_events (LIKE chan.webhook_inbound_events INCLUDING ALL);"
            "CREATE TABLE raw_receipts (LIKE chan.delivery_attempt_events INCLUDING ALL)"
        )
        began = time.perf_counter()
        for _ in range(many // 100):
            ids = [INBOUND_WEBHOOK_EVENT.new(now) for _ in range(100)]
            await owner.execute(
                f"INSERT INTO raw_events ({_EVENT_COLUMNS}) SELECT id, $2, 'whi', 'http', 'adcfg', name, 'delivered' "
                "FROM unnest($1::text[], $3::text[]) AS e (id, name)",
                ids,
                now,
                [f"m-{next(serial)}" for _ in ids],
            )
        events = many / (time.perf_counter() - began)
        began = time.perf_counter()
        for _ in range(many // 500):
            ids = [INBOUND_WEBHOOK_EVENT.new(now) for _ in range(500)]
            await owner.execute(
                "INSERT INTO raw_receipts (tenant_id, id, recorded_at, attempt_id, execution_id, status) "
                "SELECT $1, id, $3, attempt_id, execution_id, 'delivered' FROM unnest($2::text[], $4::text[], $5::text[]) "
                "AS r (id, attempt_id, execution_id)",
                tenant_id,
                ids,
                now,
                [ATTEMPT.new(now) for _ in ids],
                [EXECUTION.new(now) for _ in ids],
            )
        told = many / (time.perf_counter() - began)
        await owner.execute("DROP TABLE raw_events, raw_receipts")
    finally:
        await owner.close()
    return events, told


async def _measure(runtime_url: str, owner_url: str, folder: Path, many: int) -> dict[str, float]:
    await migrate_up(owner_url)
    owner = await asyncpg.connect(owner_url)
    await make_missing(owner, SystemClock().now())
    await owner.close()
    db = Database(runtime_url)
    await db.open()
    try:
        world = _World(db, folder)
        account = await world.account()
        await world.attempts(account, many)
        raw_events, raw_receipts = await raw_inserts(owner_url, many)
        accepted = await world.take_in(account, many)
        applied = await world.apply(many)
    finally:
        await db.close()
    return {
        "callbacks_accepted_per_second": accepted,
        "callbacks_accepted_share_of_raw_insert": accepted / raw_events,
        "callbacks_applied_per_second": applied,
        "callbacks_applied_share_of_raw_insert": applied / raw_receipts,
    }


def measure(many: int = EVENTS) -> dict[str, float]:
    """Taken in and applied a second, and the share of what a raw insert of as many rows does."""
    with tempfile.TemporaryDirectory(prefix="tidings-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o711)
        data_dir = DataDir(folder / "data")
        data_dir.open()
        postgres = EmbeddedPostgres(data_dir)  # as `tidings up` runs it: fsync on
        postgres.start()
        try:
            return uvloop.run(
                _measure(postgres.url("tidings_runtime"), postgres.url("tidings_owner"), folder, many)
            )
        finally:
            postgres.stop()
            data_dir.close()


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{name:44} {value:>12,.3f}" if value < 100 else f"{name:44} {value:>12,.0f}")
