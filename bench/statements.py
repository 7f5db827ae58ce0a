"""What one notification asks of Postgres, when sixteen come together and when a hundred do."""

import asyncio
import contextlib
import json

import httpx2
import uvloop
from tests.support.statements import Asked, counting

from bench.house import House, Resident
from bench.sink import Sink
from bench.workload import KEY, VERSION, bulk, notification
from tidings.bootstrap import System

_PATH = "/api/v1/notifications"


def measure() -> dict[str, float]:
    """Statements and round trips for each notification, all parts together. Call it in the main thread."""
    with House(workers=0, vendors={"smtp": {"host": "127.0.0.1", "port": 9, "security": "none"}}) as house:
        resident = house.resident("counted")
        house.publish(resident, KEY, "email", VERSION)
        return uvloop.run(_measure(house, resident))


async def _measure(house: House, resident: Resident) -> dict[str, float]:
    async with Sink() as sink:
        account = {"host": "127.0.0.1", "port": sink.port, "security": "none"}
        (house.data_dir.path / "secrets" / "smtp.json").write_text(json.dumps(account))
        async with house.system() as system:
            stop = asyncio.Event()
            alive = asyncio.create_task(system.kernel.presence.run(stop))
            await system.kernel.presence.known.wait()
            headers = {"Authorization": f"Bearer {resident.api_key}"}
            transport = httpx2.ASGITransport(app=system.app)
            async with httpx2.AsyncClient(
                transport=transport, base_url="http://house", headers=headers
            ) as client:
                figures: dict[str, float] = {}
                for name, count in (("group_of_16", 16), ("bulk_of_100", 100)):
                    for _ in range(2):  # The second time everything is known and prepared.
                        accepted, handled = await _round(system, client, count)
                    asked = Asked(texts=[*accepted.texts, *handled.texts])
                    figures[f"statements_each_in_a_{name}"] = asked.statements / count
                    figures[f"round_trips_each_in_a_{name}"] = asked.round_trips / count
                    figures[f"round_trips_to_accept_a_{name}"] = accepted.round_trips
            stop.set()
            await alive
    return figures


async def _round(system: System, client: httpx2.AsyncClient, count: int) -> tuple[Asked, Asked]:
    with counting(system.db) as accepted:
        if count > 16:
            content = bulk(0, count)
            kind = {"Content-Type": "application/json"}
            (await client.post(f"{_PATH}/bulk", content=content, headers=kind)).raise_for_status()
        else:
            await asyncio.gather(*(client.post(_PATH, json=notification(i)) for i in range(count)))
    relays = [system.kernel.bus.relay("notification"), system.kernel.bus.relay("chan")]
    with counting(system.db) as handled:
        await system.dispatch.job.drain()
        for relay in relays:
            await relay.drain()
        await system.consumers.outcomes.drain()
        await relays[0].drain()
    return accepted, handled


def main() -> None:
    """Measure and show."""
    for name, value in measure().items():
        print(f"{name:44} {value:>12,.2f}")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
