"""From POST to a mail server: the real system, API and worker as processes of their own, everything durable.

Rates are shown beside the raw limits of the same Postgres in the same run. Costs are counted in processor time, which a
busy neighbour changes less than it changes the clock.
"""

import asyncio
import itertools
import json
import os
import re
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator

import uvloop
from tests.support.free_port import free_port

from bench.house import House, Resident
from bench.load import Answers, Connection, drive, request, until
from bench.processor_time import peak_rss_mb, spent
from bench.sink import Sink
from bench.stored import fill, settle
from bench.workload import KEY, VERSION, body, bulk
from tidings.operations.embedded.bundled import bundled_install

CLIENTS = 16
BULK = 500
SINGLES = 6000
BULKS = 16
LIGHT = 300
#: Rows that are there for the two ends of the cost ratio.
FEW, MANY = 10_000, 1_000_000
_PATH = "/api/v1/notifications"
_PATIENCE = 300.0
_PGBENCH_SECONDS = 4


def measure() -> dict[str, float]:
    """Everything, by name."""
    port = free_port()
    vendor: dict[str, object] = {"host": "127.0.0.1", "port": port, "security": "none"}
    with House(workers=1, vendors={"smtp": vendor}) as house:
        resident = house.resident("bench")
        house.publish(resident, KEY, "email", VERSION)
        figures = {"pg_insert_16_per_s": _pgbench(house)}
        figures |= uvloop.run(_Run(house, resident, port).all())
    return figures


class _Run:
    def __init__(self, house: House, resident: Resident, port: int) -> None:
        self._house = house
        self._resident = resident
        self._sink = Sink(note_ids=True, port=port)
        self._numbers = itertools.count()

    async def all(self) -> dict[str, float]:
        async with self._sink:
            await self._singles(1000)
            figures = await self._accepting()
            figures |= await self._end_to_end()
            figures |= await self._lightly()
            figures |= await self._when_much_is_stored()
            figures["peak_rss_mb"] = peak_rss_mb(self._house)
            return figures

    async def _accepting(self) -> dict[str, float]:
        """Nobody dispatches meanwhile: what the API alone can take."""
        worker = self._house.workers[0]
        worker.tell(signal.SIGTERM)
        worker.wait()
        singles = await self._drive(self._single_requests(SINGLES))
        bulks = await self._drive(self._bulk_requests(BULKS), clients=2)
        wanted = self._sink.count + SINGLES + BULKS * BULK
        began = time.perf_counter()
        worker.launch()
        worker.await_ready()
        await self._arrived(wanted)
        return {
            "accept_single_per_s": SINGLES / singles.seconds,
            "accept_single_p99_ms": quantile(singles.took, 0.99) * 1000,
            "accept_bulk_per_s": BULKS * BULK / bulks.seconds,
            "drain_backlog_per_s": (SINGLES + BULKS * BULK) / (time.perf_counter() - began),
        }

    async def _end_to_end(self) -> dict[str, float]:
        figures: dict[str, float] = {}
        for name, count, work in (
            ("end_to_end", SINGLES, self._singles),
            ("end_to_end_bulk", BULKS * BULK, self._bulks),
        ):
            before, began = spent(self._house), time.perf_counter()
            await work(count)
            seconds = time.perf_counter() - began
            await asyncio.sleep(1.0)  # Outcomes are still on their way to notify.
            after = spent(self._house)
            figures[f"{name}_per_s"] = count / seconds
            for part, micros in after.micros_each(before, count).items():
                figures[f"{name}_{part}_us_each"] = micros
        return figures

    async def _lightly(self) -> dict[str, float]:
        """One at a time, fifty a second: from the first byte of the request to the mail server's answer."""
        took: list[float] = []
        connection = await Connection.open(self._house.base_url)
        for wire in self._single_requests(LIGHT):
            began = time.perf_counter()
            _, answer = await connection.ask(wire)
            name = json.loads(answer)["id"]
            took.append(await self._sink.arrival(name, seconds=30) - began)
            await asyncio.sleep(0.02)
        connection.close()
        return {
            "light_p50_ms": statistics.median(took) * 1000,
            "light_p99_ms": quantile(took, 0.99) * 1000,
        }

    async def _when_much_is_stored(self) -> dict[str, float]:
        few = await self._cost()
        url = self._house.postgres.url("tidings_runtime")
        await fill(url, [self._resident.tenant_id], MANY)
        await settle(self._house.postgres.url("tidings_owner"))
        many = await self._cost()
        return {"cost_us_at_1e4": few, "cost_us_at_1e6": many, "cost_ratio_1e6_to_1e4": many / few}

    async def _cost(self) -> float:
        """Processor time of all our parts for one notification of a bulk, in microseconds; the best of three."""
        costs = []
        for _ in range(3):
            before = spent(self._house)
            await self._bulks(4 * BULK)
            await asyncio.sleep(1.0)
            after = spent(self._house)
            costs.append((after.total - before.total) / (4 * BULK) * 1e6)
        return min(costs)

    async def _singles(self, count: int) -> None:
        wanted = self._sink.count + count
        await self._drive(self._single_requests(count))
        await self._arrived(wanted)

    async def _bulks(self, count: int) -> None:
        wanted = self._sink.count + count
        await self._drive(self._bulk_requests(count // BULK), clients=2)
        await self._arrived(wanted)

    async def _drive(self, requests: Iterator[bytes], *, clients: int = CLIENTS) -> Answers:
        answers = await drive(self._house.base_url, requests, clients=clients)
        if answers.refused:
            raise AssertionError(f"the API refused some: {answers.refused}")
        return answers

    async def _arrived(self, wanted: int) -> None:
        await until(lambda: self._sink.count >= wanted, seconds=_PATIENCE)

    def _single_requests(self, count: int) -> Iterator[bytes]:
        made = [self._wire(_PATH, body(next(self._numbers))) for _ in range(count)]
        return iter(made)

    def _bulk_requests(self, count: int) -> Iterator[bytes]:
        made = []
        for _ in range(count):
            first = next(self._numbers)
            made.append(self._wire(f"{_PATH}/bulk", bulk(first, BULK)))
        return iter(made)

    def _wire(self, path: str, content: bytes) -> bytes:
        return request(self._house.base_url, path, self._resident.api_key, content)


def quantile(values: list[float], share: float) -> float:
    """The value below which so large a share lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def _pgbench(house: House) -> float:
    """Durable inserts of one 2 KB row by sixteen clients, with Postgres' own tool: the floor that nobody gets below."""
    url = house.postgres.url("tidings_owner")
    pgbench = str(bundled_install() / "bin" / "pgbench")
    psql = str(bundled_install() / "bin" / "psql")
    environment = {"PATH": os.environ["PATH"], "PGOPTIONS": "-c client_min_messages=warning"}
    table = "CREATE TABLE IF NOT EXISTS public.raw_limit (id bigserial PRIMARY KEY, body text NOT NULL)"
    script = house.data_dir.path / "raw_limit.sql"
    script.write_text("INSERT INTO public.raw_limit (body) VALUES (repeat('x', 2000));\n")
    subprocess.run([psql, url, "-qc", table], check=True, env=environment)
    words = [
        pgbench,
        "-n",
        "-f",
        str(script),
        "-c",
        str(CLIENTS),
        "-j",
        "2",
        "-T",
        str(_PGBENCH_SECONDS),
        url,
    ]
    shown = subprocess.run(words, check=True, capture_output=True, text=True, env=environment).stdout
    subprocess.run([psql, url, "-qc", "DROP TABLE public.raw_limit"], check=True, env=environment)
    found = re.search(r"tps = ([\d.]+)", shown)
    if found is None:
        raise AssertionError(f"pgbench said something else:\n{shown}")
    return float(found[1])


def main() -> None:
    """Measure and show."""
    for name, value in measure().items():
        print(f"{name:44} {value:>12,.2f}")


if __name__ == "__main__":
    main()
