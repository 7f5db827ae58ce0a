"""The load that a platform has: many tenants with a trickle each, half of the people new, large variables.

`python -m bench.many_tenants` drives API and worker as processes of their own, everything durable. Tenants are chosen
by Zipf's law, so that a few send most and most send little.
"""

import asyncio
import itertools
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import uvloop
from tests.support.free_port import free_port

from bench.house import House, Resident
from bench.load import Answers, Connection, drive, request, until
from bench.pipeline import quantile
from bench.processor_time import peak_rss_mb, spent
from bench.sink import Sink
from bench.workload import KEY, VERSION

CLIENTS: Final = 16
PEOPLE: Final = 10_000
SINGLES: Final = 3_000
BULK: Final = 100
BULKS: Final = 40
LIGHT: Final = 200
#: The steady load in which latency is taken, per second.
_PACE: Final = 20
_PATH: Final = "/api/v1/notifications"
_PATIENCE: Final = 300.0
#: What a Postgres has that nobody has tuned, where ours differs.
DEFAULTS: Final = {
    "autovacuum_naptime": "60s",
    "autovacuum_analyze_threshold": "50",
    "autovacuum_analyze_scale_factor": "0.1",
    "max_connections": "100",
}
_SMALL: Final = {"note": "Short.", "trace": ""}
_LARGE: Final = {"note": "We leave it at the door. " * 20, "trace": "0123456789abcdef" * 62}


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of load."""

    tenants: int
    #: Bytes of variables, about.
    size: str

    @property
    def name(self) -> str:
        """As figures are named."""
        return f"tenants_{self.tenants}_{self.size}"


SHAPES: Final = (Shape(1, "small"), Shape(10, "small"), Shape(10, "large"), Shape(1000, "large"))


def measure(shapes: Sequence[Shape] = SHAPES, *, defaults: bool = True) -> dict[str, float]:
    """Everything, by name. Call it in the main thread."""
    figures = _in_a_house(shapes, {})
    if defaults:
        found = _in_a_house([Shape(10, "large")], DEFAULTS)
        figures |= {f"default_postgres_{name}": value for name, value in found.items()}
    ten, many = (figures.get(f"tenants_{n}_large_end_to_end_per_s") for n in (10, 1000))
    if ten and many:
        figures["end_to_end_1000_tenants_ratio_to_10"] = many / ten
    return figures


def _in_a_house(shapes: Sequence[Shape], options: dict[str, str]) -> dict[str, float]:
    port = free_port()
    vendor: dict[str, object] = {"host": "127.0.0.1", "port": port, "security": "none"}
    with House(workers=1, vendors={"smtp": vendor}, postgres_options=options) as house:
        residents = house.residents([f"bench-{n}" for n in range(max(shape.tenants for shape in shapes))])
        publish(house, residents)
        return uvloop.run(_measure(house, residents, port, shapes))


async def _measure(
    house: House, residents: Sequence[Resident], port: int, shapes: Sequence[Shape]
) -> dict[str, float]:
    figures: dict[str, float] = {}
    async with Sink(note_ids=True, port=port) as sink:
        for shape in shapes:
            run = Load(house, residents[: shape.tenants], sink, shape)
            figures |= {f"{shape.name}_{name}": value for name, value in (await run.all()).items()}
        figures["many_tenants_peak_rss_mb"] = peak_rss_mb(house)
    return figures


class Load:
    """One shape of load, on a house that runs."""

    def __init__(
        self, house: House, residents: Sequence[Resident], sink: Sink, shape: Shape, *, first: int = 0
    ) -> None:
        """Notifications are numbered from `first`; in a house that has had a load, new people are those of new numbers."""
        self._house = house
        self._residents = residents
        self._sink = sink
        self._shape = shape
        self._random = random.Random(7)
        self._weights = list(itertools.accumulate(1 / rank for rank in range(1, len(residents) + 1)))
        self._numbers = itertools.count(first)

    async def all(self) -> dict[str, float]:
        """Everything that is measured of it."""
        await self.send(self.singles(500))
        figures = await self.costs("end_to_end", self.singles(SINGLES), SINGLES, clients=CLIENTS)
        figures |= await self.costs("bulks", self._bulks(BULKS), BULKS * BULK, clients=2)
        return figures | await self._light()

    async def costs(
        self, name: str, requests: Iterator[bytes], count: int, *, clients: int
    ) -> dict[str, float]:
        """From the first POST until the mail server has all: the rate, and processor time of each part for each."""
        before, began = spent(self._house), time.perf_counter()
        answers = await self.send(requests, count=count, clients=clients)
        seconds = time.perf_counter() - began
        await asyncio.sleep(1.0)  # Outcomes are still on their way to notify.
        micros = spent(self._house).micros_each(before, count)
        return {
            f"{name}_per_s": count / seconds,
            f"{name}_accepted_per_s": count / answers.seconds,
            **{f"{name}_{part}_us_each": used for part, used in micros.items()},
        }

    async def _light(self) -> dict[str, float]:
        """A steady trickle: from the first byte of the request to the mail server's answer."""
        took: list[float] = []
        connection = await Connection.open(self._house.base_url)
        for wire in self.singles(LIGHT):
            began = time.perf_counter()
            _, answer = await connection.ask(wire)
            took.append(await self._sink.arrival(json.loads(answer)["id"], seconds=30) - began)
            await asyncio.sleep(max(0.0, 1 / _PACE - (time.perf_counter() - began)))
        connection.close()
        return {
            "light_p50_ms": statistics.median(took) * 1000,
            "light_p99_ms": quantile(took, 0.99) * 1000,
        }

    async def send(self, requests: Iterator[bytes], *, count: int = 500, clients: int = CLIENTS) -> Answers:
        """Send them, and wait until the mail server has all."""
        wanted = self._sink.count + count
        answers = await drive(self._house.base_url, requests, clients=clients)
        if answers.refused:
            raise AssertionError(f"the API refused some: {answers.refused}")
        await until(lambda: self._sink.count >= wanted, seconds=_PATIENCE)
        return answers

    def singles(self, count: int) -> Iterator[bytes]:
        """Requests of one notification each."""
        made = [self._wire(_PATH, self._resident(), self._notification()) for _ in range(count)]
        return iter(made)

    def _bulks(self, count: int) -> Iterator[bytes]:
        """Each of one tenant, as an API key has it; the bulks of several are under way at the same time."""
        made = []
        for _ in range(count):
            bulk = {"notifications": [self._notification() for _ in range(BULK)]}
            made.append(self._wire(f"{_PATH}/bulk", self._resident(), bulk))
        return iter(made)

    def _resident(self) -> Resident:
        return self._random.choices(self._residents, cum_weights=self._weights)[0]

    def _notification(self) -> dict[str, Any]:
        """Half of them to people who were written to before, half to new ones."""
        number = next(self._numbers)
        person = (
            f"{self._shape.name}-{number}" if number % 2 else f"known-{self._random.randrange(PEOPLE // 20)}"
        )
        more = _LARGE if self._shape.size == "large" else _SMALL
        return {
            "recipient": {
                "identity": {"type": "guest", "id": person},
                "locale": "en",
                "addresses": [{"channel": "email", "address": f"{person}@example.test"}],
            },
            "template": KEY,
            "channel": "email",
            "variables": {
                "order_number": f"A-{number}",
                "items": [{"name": "Green tea", "quantity": 2}],
                **more,
            },
        }

    def _wire(self, path: str, resident: Resident, content: dict[str, Any]) -> bytes:
        return request(self._house.base_url, path, resident.api_key, json.dumps(content).encode())


def publish(house: House, residents: Sequence[Resident]) -> None:
    """The usual template, with room for more variables."""
    schema = VERSION["variables_schema"]
    more = {"note": {"type": "string"}, "trace": {"type": "string"}}
    version = VERSION | {"variables_schema": schema | {"properties": schema["properties"] | more}}
    house.publish_for_all(residents, KEY, "email", version)


def main() -> None:
    """Measure and show; with numbers, only so many tenants, large."""
    wanted = [Shape(int(word), "large") for word in sys.argv[1:]]
    for name, value in measure(wanted or SHAPES, defaults=not wanted).items():
        print(f"{name:60} {value:>12,.2f}")


if __name__ == "__main__":
    main()
