"""`python -m bench.bus`: the bus on Postgres and on NATS, in one run on the same machine and database.

Beside `bench/relay.py`, which is asked of both: what NATS itself does with the same events, by bare nats-py. Publications
are pipelined in sets of 1,000 and confirmed; events are pulled in sets of 1,000 and not parsed.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import asyncpg
import nats
import uvloop
from nats.js.api import AckPolicy, ConsumerConfig

from bench import relay
from tidings.kernel.clock import SystemClock
from tidings.kernel.events import to_cloudevent
from tidings.kernel.ids import TENANT
from tidings.kernel.secrets import Secret
from tidings.operations.embedded import DataDir, EmbeddedPostgres
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.partitions import make_missing

PORT = 14_222


async def raw_limits(url: str) -> dict[str, float]:
    """Published and pulled a second, by nothing but the client."""
    client = await nats.connect(url)
    try:
        published, pulled = [], []
        for turn in range(relay.ROUNDS):
            stream = client.jetstream()
            name = f"raw{turn}"
            await stream.add_stream(name=name, subjects=[f"{name}.>"], duplicate_window=600)
            published.append(await _publish(client, name))
            pulled.append(await _pull(stream, name))
            await stream.delete_stream(name)
    finally:
        await client.close()
    return {
        "nats_raw_published_per_s": statistics.median(published),
        "nats_raw_pulled_per_s": statistics.median(pulled),
    }


async def _publish(client: Any, name: str) -> float:
    tenant = TENANT.new(SystemClock().now())
    events = [relay.event_of(tenant, number) for number in range(relay.EVENTS)]
    messages = [(to_cloudevent(event), {"Nats-Msg-Id": event.id}) for event in events]
    inbox, confirmed, done = client.new_inbox(), 0, asyncio.Event()

    async def heard(_: object) -> None:
        nonlocal confirmed
        confirmed += 1
        if confirmed % relay.SET == 0:
            done.set()

    await client.subscribe(inbox, cb=heard)
    started = time.perf_counter()
    for start in range(0, relay.EVENTS, relay.SET):
        done.clear()
        for payload, headers in messages[start : start + relay.SET]:
            await client.publish(f"{name}.a.b", payload, reply=inbox, headers=headers)
        await done.wait()
    return relay.EVENTS / (time.perf_counter() - started)


async def _pull(stream: Any, name: str) -> float:
    config = ConsumerConfig(ack_policy=AckPolicy.NONE)
    reader = await stream.pull_subscribe(f"{name}.>", stream=name, config=config)
    count, started = 0, time.perf_counter()
    while count < relay.EVENTS:
        count += len(await reader.fetch(relay.SET))
    return relay.EVENTS / (time.perf_counter() - started)


async def _measure(runtime_url: str, owner_url: str, url: str) -> dict[str, float]:
    await migrate_up(owner_url)
    owner = await asyncpg.connect(owner_url)
    await make_missing(owner, SystemClock().now())
    await owner.close()
    figures = await relay.measure(runtime_url)
    figures |= await raw_limits(url)
    figures |= await relay.measure(runtime_url, bus_url=Secret(url), name="bus_nats")
    for figure, limit in {
        "relayed_per_s": "nats_raw_published_per_s",
        "consumed_one_tenant_per_s": "nats_raw_pulled_per_s",
    }.items():
        figures[f"bus_nats_{figure}_to_nats_raw"] = figures[f"bus_nats_{figure}"] / figures[limit]
        figures[f"bus_nats_{figure}_to_postgres"] = figures[f"bus_nats_{figure}"] / figures[f"bus_{figure}"]
    return figures


def main() -> None:
    """Measure both, and show."""
    with tempfile.TemporaryDirectory(prefix="tidings-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        data_dir = DataDir(Path(folder) / "data")
        data_dir.open()
        postgres = EmbeddedPostgres(data_dir)
        postgres.start()
        server = subprocess.Popen(
            [
                Path(sys.prefix) / "bin" / "nats-server",
                "-js",
                "-a",
                "127.0.0.1",
                "-p",
                str(PORT),
                "-sd",
                f"{folder}/nats",
            ],
            stderr=subprocess.DEVNULL,
        )
        try:
            time.sleep(1)
            urls = postgres.url("tidings_runtime"), postgres.url("tidings_owner")
            figures = uvloop.run(_measure(*urls, f"nats://127.0.0.1:{PORT}"))
        finally:
            server.kill()
            server.wait()
            postgres.stop()
            data_dir.close()
    width = max(map(len, figures))
    for name, value in figures.items():
        print(f"{name:<{width}}  {value:,.2f}")


if __name__ == "__main__":
    main()
