"""Webhooks: deliveries a second to 2,000 endpoints, and what is left of it when 1 % of them hang and 1 % fail.

The worker is one process, the receivers are another. What is measured is the time from the events to the last call of an
endpoint that works: relay, consumer, queue and calls, all durable. `python -m bench.webhooks 20` tells twenty events to each.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import cast

import asyncpg
import uvloop
from tests.support.system import LOOPBACK, announce

from tidings import settings
from tidings.bootstrap import System
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.notifications import NotificationMoved
from tidings.kernel.clock import SystemClock
from tidings.kernel.events import new_event
from tidings.kernel.ids import TenantId
from tidings.notify.tenants.wire import CreateTenant
from tidings.notify.webhooks import store
from tidings.notify.webhooks.change import WebhookChanger
from tidings.notify.webhooks.model import WebhookStatus
from tidings.notify.webhooks.wire import CreateWebhook
from tidings.operations.embedded import DataDir, EmbeddedPostgres
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.partitions import make_missing

TENANTS = 20
#: Of each tenant: one of them hangs and one fails, where some do.
ENDPOINTS = 100
EVENTS = 5
ROUNDS = 3
_SUBJECT = "notification.delivered.v1"
_LONGEST = 300.0


class _Receiver(asyncio.Protocol):
    """All endpoints: `/h…` hangs, `/f…` fails, `/count` says how many calls were taken."""

    taken = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while True:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            size = 0
            for line in head.lower().split(b"\r\n"):
                if line.startswith(b"content-length:"):
                    size = int(line[15:])
            if len(rest) < size:
                return
            self._buffer = rest[size:]
            self._answer(head.split(b" ", 2)[1])

    def _answer(self, path: bytes) -> None:
        if path.startswith(b"/h"):
            return
        status, body = b"204 No Content", b""
        if path.startswith(b"/f"):
            status = b"500 Internal Server Error"
        elif path == b"/count":
            status, body = b"200 OK", str(_Receiver.taken).encode()
        else:
            _Receiver.taken += 1
        size = str(len(body)).encode()
        self._transport.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: " + size + b"\r\n\r\n" + body)


async def _receive() -> None:
    server = await asyncio.get_running_loop().create_server(_Receiver, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _count(port: int) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /count HTTP/1.1\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    said = int(await reader.readexactly(size))
    writer.close()
    return said


async def _tenant(system: System, slug: str, port: int, *, bad: bool) -> TenantId:
    async with system.db.platform() as tx:
        tenant = await system.access.tenants.create(
            tx, lambda new: CreateTenant(name=slug, slug=slug).event(new), actor="bench"
        )
    async with system.db.tenant(tenant.id) as tx:
        await system.kernel.keyring.provision(tx)
        changer = system.notify.parts.get(WebhookChanger)
        for number in range(ENDPOINTS):
            kind = ("h" if number == 0 else "f" if number == 1 else "e") if bad else "e"
            wish = CreateWebhook(url=f"http://127.0.0.1:{port}/{kind}{number}", events=[_SUBJECT])
            await changer.create(tx, wish.plan(), secret=None, is_test=False, actor="bench")
    return tenant.id


async def _happen(system: System, tenants: list[TenantId], count: int) -> None:
    for tenant_id in tenants:
        said = NotificationMoved(
            notification_id="ntf_1",
            recipient_id="rcp_1",
            status="delivered",
            channel="email",
            category="billing",
            template_key="order_confirmation",
        )
        events = [
            new_event(
                _SUBJECT,
                said,
                tenant_id=tenant_id,
                ordering_key=f"k{number}",
                source=NOTIFY_SOURCE,
                clock=system.clock,
            )
            for number in range(count)
        ]
        async with system.db.tenant(tenant_id) as tx:
            await system.kernel.outbox.append(tx, events)
    await system.kernel.bus.relay("notification").drain()
    await system.webhooks.consumer.drain()


async def _told(port: int, goal: int) -> None:
    async with asyncio.timeout(_LONGEST):
        while await _count(port) < goal:
            await asyncio.sleep(0.02)


async def _round(system: System, tenants: list[TenantId], port: int, events: int, *, working: int) -> float:
    """Deliveries a second to the endpoints that work, from the events to the last call."""
    before = await _count(port)
    began = time.perf_counter()
    await _happen(system, tenants, events)
    await _told(port, before + working * events)
    return working * events / (time.perf_counter() - began)


async def _pause_bad(system: System, tenants: list[TenantId]) -> None:
    """What hangs and fails is called no more."""
    for tenant_id in tenants:
        async with system.db.tenant(tenant_id) as tx:
            for webhook in await store.list_webhooks(
                tx, is_test=False, status=None, customer=None, after_id=None, limit=200
            ):
                await store.set_status(tx, webhook.id, WebhookStatus.PAUSED, now=system.clock.now())


async def _run(runtime_url: str, folder: str, events: int, port: int) -> dict[str, float]:
    chosen = settings.load({"TIDINGS_DATA_DIR": folder, "TIDINGS_TENANT_NETWORKS": LOOPBACK})
    async with System(chosen, runtime_url=runtime_url) as system:
        await announce(system)
        # A stage registers its parts when it is made.
        _ = system.webhooks
        good = [await _tenant(system, f"good-{number}", port, bad=False) for number in range(TENANTS)]
        bad = [await _tenant(system, f"bad-{number}", port, bad=True) for number in range(TENANTS)]
        all_work, most_work = TENANTS * ENDPOINTS, TENANTS * (ENDPOINTS - 2)
        stop = asyncio.Event()
        # Without the listener nobody tells the worker of new deliveries, and it looks every five seconds.
        jobs = [
            asyncio.create_task(one.run(stop))
            for one in (system.kernel.bus.wakeups, system.webhooks.deliveries)
        ]
        # What works is proven by its first call; what hangs and fails is found out.
        await _round(system, good, port, 1, working=all_work)
        without = [await _round(system, good, port, events, working=all_work) for _ in range(ROUNDS)]
        await _round(system, bad, port, 1, working=most_work)
        with_bad = [await _round(system, bad, port, events, working=most_work) for _ in range(2 * ROUNDS)]
        await _pause_bad(system, bad)
        without += [await _round(system, good, port, events, working=all_work) for _ in range(ROUNDS)]
        stop.set()
        await asyncio.gather(*jobs)
    # The middle of as many rounds before and after as between: whatever else the machine does slows some of them down.
    alone, beside = median(without), median(with_bad)
    return {
        "webhook_deliveries_per_second": alone,
        "webhook_deliveries_per_second_with_bad_endpoints": beside,
        "webhook_share_left_by_bad_endpoints": beside / alone,
        "webhook_slowest_round_without_bad_endpoints": min(without) / alone,
    }


async def _prepare(owner_url: str) -> None:
    await migrate_up(owner_url)
    owner = await asyncpg.connect(owner_url)
    await make_missing(owner, SystemClock().now())
    await owner.close()


def measure(events: int = EVENTS) -> dict[str, float]:
    """Deliveries a second, and the share of it that is left when some endpoints hang and some fail."""
    receiver = subprocess.Popen(  # ourselves
        [sys.executable, "-m", "bench.webhooks", "--receive"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert receiver.stdout is not None
        port = int(receiver.stdout.readline())
        with tempfile.TemporaryDirectory(prefix="tidings-bench-", ignore_cleanup_errors=True) as folder:
            Path(folder).chmod(0o711)
            data_dir = DataDir(Path(folder) / "data")
            data_dir.open()
            postgres = EmbeddedPostgres(data_dir)  # as `tidings up` runs it: fsync on
            postgres.start()
            try:
                asyncio.run(_prepare(postgres.url("tidings_owner")))
                words = [sys.executable, "-m", "bench.webhooks", "--child", postgres.url("tidings_runtime")]
                said = subprocess.run(  # ourselves
                    [*words, str(Path(folder) / "keys"), str(events), str(port)],
                    check=True,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            finally:
                postgres.stop()
                data_dir.close()
    finally:
        receiver.kill()
        receiver.wait()
    figures: dict[str, float] = json.loads(said.stdout.splitlines()[-1])
    return figures


if __name__ == "__main__":
    if sys.argv[1:2] == ["--receive"]:
        uvloop.run(_receive())
    elif sys.argv[1:2] == ["--child"]:
        print(json.dumps(uvloop.run(_run(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])))))
    else:
        for name, value in measure(int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS).items():
            print(f"{name:50} {value:>12,.3f}" if value < 100 else f"{name:50} {value:>12,.0f}")
