"""Does one tenant's flood slow another's urgent message? The same run, idle and loaded.

`python -m bench.fairness` queues 100,000 mails of low priority for one tenant and sends another's critical ones through
them, one after the other, from the POST to the vendor. Everything is durable and runs as processes of their own.
"""

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import uvloop

from bench.house import House, Resident
from bench.load import Connection, request
from bench.sink import Sink

T = TypeVar("T")

#: Low-priority mails that wait, and critical ones that are measured, idle and loaded.
MANY = 100_000
MEASURED = 1000
#: Seconds between two critical ones: they are rare, and each is alone.
_PAUSE = 0.02
_BULK = 2_000
PATH = "/api/v1/notifications"
_ORDER = {
    "order_number": "A-1001",
    "total": {"amount_micros": 42_500_000, "currency": "USD"},
    "items": [{"name": "Green tea", "quantity": 2}],
}


def measure(
    many: int = MANY,
    measured: int = MEASURED,
    open_house: Callable[..., AbstractContextManager[House]] = House,
) -> dict[str, float]:
    """The p99 of a critical message from POST to vendor: alone, behind the flood, and the ratio. Call it in the main thread."""
    with Beside() as beside:
        sink = beside.run(open_sink())
        account: dict[str, object] = {"host": "127.0.0.1", "port": sink.port, "security": "none"}
        with open_house(workers=1, vendors={"smtp": account}) as house:
            flooding, urgent = house.resident("flooding"), house.resident("urgent")
            beside.run(send_urgent(house, urgent, sink, measured // 4, "warm"))
            idle = beside.run(send_urgent(house, urgent, sink, measured, "idle"))
            before = sink.count
            beside.run(flood(house, flooding, many))
            flooded, began = sink.count, time.perf_counter()
            loaded = beside.run(send_urgent(house, urgent, sink, measured, "loaded"))
            ordinary = (sink.count - flooded - measured) / (time.perf_counter() - began)
            waited = many - (sink.count - before - measured)
            beside.run(sink.__aexit__(None, None, None))
    return {
        "fairness_critical_p99_ratio": percentile(loaded, 0.99) / percentile(idle, 0.99),
        "fairness_idle_p50_ms": percentile(idle, 0.5) * 1000,
        "fairness_idle_p99_ms": percentile(idle, 0.99) * 1000,
        "fairness_loaded_p50_ms": percentile(loaded, 0.5) * 1000,
        "fairness_loaded_p99_ms": percentile(loaded, 0.99) * 1000,
        "fairness_still_queued": float(waited),
        "fairness_ordinary_beside_per_s": ordinary,
    }


class Beside:
    """A loop in a thread of its own: the vendor and the clients, while the main thread has the processes."""

    def __init__(self) -> None:
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "Beside":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """To its end."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(900)


async def open_sink() -> Sink:
    """A vendor that knows what it has taken."""
    return await Sink(note_ids=True).__aenter__()


async def send_urgent(house: House, resident: Resident, sink: Sink, count: int, mark: str) -> list[float]:
    """How long each took until it was at the vendor."""
    connection = await Connection.open(house.base_url)
    took: list[float] = []
    for number in range(count):
        body = json.dumps(order(f"{mark}{number}", "critical")).encode()
        sent_at = time.perf_counter()
        status, answer = await connection.ask(request(house.base_url, PATH, resident.api_key, body))
        assert status == 202, answer
        id_ = json.loads(answer)["id"]
        took.append(await sink.arrival(id_, seconds=120) - sent_at)
        await asyncio.sleep(_PAUSE)
    connection.close()
    return took


async def flood(
    house: House, resident: Resident, many: int, *, priority: str = "low", mark: str = "f"
) -> list[str]:
    """Have so many mails accepted, in bulk; their ids. People are named by `mark`: another one is new people."""
    connection = await Connection.open(house.base_url)
    ids: list[str] = []
    for first in range(0, many, _BULK):
        numbers = range(first, min(first + _BULK, many))
        body = json.dumps({"notifications": [order(f"{mark}{n}", priority) for n in numbers]}).encode()
        status, answer = await connection.ask(request(house.base_url, f"{PATH}/bulk", resident.api_key, body))
        assert status == 202, (status, answer[:400])
        ids += [result["id"] for result in json.loads(answer)["results"]]
    connection.close()
    return ids


def order(name: str, priority: str) -> dict[str, object]:
    """The request of one mail, to the guest of that name."""
    return {
        "recipient": {
            "identity": {"type": "guest", "id": f"g-{name}"},
            "addresses": [{"channel": "email", "address": f"{name}@example.test"}],
        },
        "template": "order_confirmation",
        "channel": "email",
        "priority": priority,
        "variables": _ORDER,
    }


def percentile(values: list[float], share: float) -> float:
    """The value below which this share of them lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main() -> None:
    """Measure and show."""
    print(f"{'load of the machine before, per core':36} {os.getloadavg()[0] / (os.cpu_count() or 1):>12.2f}")
    for name, value in measure().items():
        print(f"{name:36} {value:>12,.2f}")


if __name__ == "__main__":
    main()
