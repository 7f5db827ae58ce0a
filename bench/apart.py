"""One process against notify and router apart: messages to a mail server, processor time and light latency, in turn on one machine.

`python -m bench.apart` runs a worker of both services over Postgres' own bus, then a worker of each service with NATS between
them, again and again; what counts is the ratio. `--mails` and `--rounds` say how much.
"""

import argparse
import asyncio
import contextlib
import statistics
import time
from collections.abc import Iterator, Sequence

import uvloop
from tests.support.free_port import free_port
from tests.support.local_requests import LocalRequests
from tests.support.nats import running_nats
from tests.support.statements import counting

from bench.house import House, Resident
from bench.load import Connection, drive, request, until
from bench.processor_time import spent
from bench.sink import Sink
from bench.workload import KEY, VERSION, body, bulk

BULK = 500
LIGHT = 100
_PATH = "/api/v1/notifications"
_PATIENCE = 300.0


def measure(mails: int = 8_000, rounds: int = 3) -> dict[str, float]:
    """Rates, costs and their ratios. Call it in the main thread."""
    seen: dict[str, list[dict[str, float]]] = {"together": [], "apart": []}
    with running_nats() as nats:
        for _ in range(rounds):
            seen["together"].append(_round(mails, workers=1))
            url = nats.url(prefix=f"bench{len(seen['apart'])}").reveal()
            seen["apart"].append(
                _round(mails, workers=0, apart=("notify", "router"), extra={"TIDINGS_BUS_URL": url})
            )
    figures = {
        f"{name}_{figure}": statistics.median(one[figure] for one in runs)
        for name, runs in seen.items()
        for figure in runs[0]
    }
    for figure in seen["apart"][0]:
        figures[f"ratio_{figure}"] = figures[f"apart_{figure}"] / figures[f"together_{figure}"]
    return figures


def round_trips(count: int = 100) -> dict[str, float]:
    """How often Postgres and the other service are waited for, for each message of a bulk. Call it in the main thread."""
    port = free_port()
    vendor: dict[str, object] = {"host": "127.0.0.1", "port": port, "security": "none"}
    with House(workers=0, vendors={"smtp": vendor}) as house:
        resident = house.resident("counted")
        house.publish(resident, KEY, "email", VERSION)
        return uvloop.run(_count_trips(house, resident, port, count))


async def _count_trips(house: House, resident: Resident, port: int, count: int) -> dict[str, float]:
    requests = LocalRequests()
    notify, router = (house.system(services=[one], requests=requests) for one in ("notify", "router"))
    for system in (notify, router):
        system.jobs()
    async with Sink(port=port), notify, router:
        stop = asyncio.Event()
        presences = [one.kernel.presence for one in (notify, router)]
        alive = [asyncio.create_task(presence.run(stop)) for presence in presences]
        for presence in presences:
            await presence.known.wait()
        told, heard = notify.kernel.bus.relay("notification"), router.kernel.bus.relay("chan")
        parts = (
            notify.dispatch.job,
            told,
            router.executions.requests,
            router.executions.due,
            heard,
            notify.consumers.outcomes,
            told,
        )
        for number in range(2):  # The second time everything is known and prepared.
            wire = request(house.base_url, f"{_PATH}/bulk", resident.api_key, bulk(number, count))
            connection = await Connection.open(house.base_url)
            status, answer = await connection.ask(wire)
            assert status < 300, answer
            connection.close()
            requests.asked.clear()
            with counting(notify.db) as of_notify, counting(router.db) as of_router:
                for part in parts:
                    await part.drain()
        stop.set()
        await asyncio.gather(*alive)
    return {
        "apart_round_trips_of_notify_each": of_notify.round_trips / count,
        "apart_round_trips_of_router_each": of_router.round_trips / count,
        "apart_requests_each": len(requests.asked) / count,
    }


def _round(
    mails: int, *, workers: int, apart: Sequence[str] = (), extra: dict[str, str] | None = None
) -> dict[str, float]:
    port = free_port()
    vendor: dict[str, object] = {"host": "127.0.0.1", "port": port, "security": "none"}
    with House(workers=workers, apart=apart, vendors={"smtp": vendor}, extra=extra) as house:
        resident = house.resident("bench")
        house.publish(resident, KEY, "email", VERSION)
        return uvloop.run(_run(house, resident, Sink(note_ids=True, port=port), mails))


async def _run(house: House, resident: Resident, sink: Sink, mails: int) -> dict[str, float]:
    async with sink:
        await _bulks(house, resident, sink, 2 * BULK)
        before, began = spent(house), time.perf_counter()
        await _bulks(house, resident, sink, mails)
        seconds = time.perf_counter() - began
        await asyncio.sleep(2.0)  # Outcomes are still on their way to notify.
        after = spent(house)
        took: list[float] = []
        connection = await Connection.open(house.base_url)
        for number in range(LIGHT):
            started = time.perf_counter()
            _, answer = await connection.ask(
                request(house.base_url, _PATH, resident.api_key, body(10_000_000 + number))
            )
            name = answer.split(b'"id":"', 1)[1].split(b'"', 1)[0].decode()
            took.append(await sink.arrival(name, seconds=30) - started)
            await asyncio.sleep(0.02)
        connection.close()
    return {
        "end_to_end_bulk_per_s": mails / seconds,
        "processor_us_each": (after.total - before.total) / mails * 1e6,
        "light_p50_ms": statistics.median(took) * 1000,
    }


async def _bulks(house: House, resident: Resident, sink: Sink, count: int) -> None:
    wanted = sink.count + count
    answers = await drive(house.base_url, _requests(house, resident, sink.count, count), clients=2)
    assert not answers.refused, answers.refused
    await until(lambda: sink.count >= wanted, seconds=_PATIENCE)


def _requests(house: House, resident: Resident, first: int, count: int) -> Iterator[bytes]:
    return iter(
        [
            request(house.base_url, f"{_PATH}/bulk", resident.api_key, bulk(first + number, BULK))
            for number in range(0, count, BULK)
        ]
    )


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--mails", type=int, default=8_000)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    for name, value in {**round_trips(), **measure(chosen.mails, chosen.rounds)}.items():
        print(f"{name:44} {value:>12,.2f}")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
