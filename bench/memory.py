"""Memory of API, workers and the children that render, process by process, under the load of `many_tenants`.

`python -m bench.memory` prints a table; `make bench` keeps the sum. A process shares the pages of libraries with others:
`resident` counts them in each, `proportional` once in all.
"""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil
import uvloop
from tests.support.free_port import free_port

from bench.house import House, Resident
from bench.many_tenants import Load, Shape, publish
from bench.sink import Sink

_SHAPE: Final = Shape(10, "large")
_COUNT: Final = 4_000
_FIELDS: Final = {"resident": "Rss", "proportional": "Pss", "private": "Anonymous"}


@dataclass(frozen=True, slots=True)
class Held:
    """What one process has in memory, in MB."""

    process: str
    resident: float
    proportional: float
    #: Not of a file: what the process has made itself.
    private: float
    peak: float


def held(house: House) -> list[Held]:
    """The API, the workers and their children."""
    programs = [("api", house.api), *(("worker", worker) for worker in house.workers if worker.runs)]
    found: list[Held] = []
    for name, program in programs:
        family = psutil.Process(program.pid)
        found.append(_held_by(name, family.pid))
        found += [_held_by(f"{name}'s child", child.pid) for child in family.children(recursive=True)]
    return found


def _held_by(name: str, pid: int) -> Held:
    folder = Path(f"/proc/{pid}")
    rollup, status = (folder / "smaps_rollup").read_text(), (folder / "status").read_text()
    sizes = {field: _megabytes(rollup, label) for field, label in _FIELDS.items()}
    return Held(process=name, **sizes, peak=_megabytes(status, "VmHWM"))


def _megabytes(text: str, label: str) -> float:
    found = re.search(rf"^{label}:\s+(\d+) kB", text, re.MULTILINE)
    return float(found[1]) / 1024 if found else 0.0


def measure() -> dict[str, float]:
    """The sums, by name. Call it in the main thread."""
    found = _under_load()
    return {
        "memory_resident_mb": sum(one.resident for one in found),
        "memory_proportional_mb": sum(one.proportional for one in found),
        "memory_render_child_mb": sum(one.resident for one in found if one.process == "worker's child"),
    }


def _under_load() -> list[Held]:
    port = free_port()
    vendor: dict[str, object] = {"host": "127.0.0.1", "port": port, "security": "none"}
    with House(workers=1, vendors={"smtp": vendor}) as house:
        residents = house.residents([f"bench-{n}" for n in range(_SHAPE.tenants)])
        publish(house, residents)
        return uvloop.run(_drive(house, residents, port))


async def _drive(house: House, residents: list[Resident], port: int) -> list[Held]:
    async with Sink(note_ids=True, port=port) as sink:
        load = Load(house, residents, sink, _SHAPE)
        await load.send(load.singles(_COUNT), count=_COUNT)
        await asyncio.sleep(1.0)
        return held(house)


def main() -> None:
    """Measure and show."""
    found = _under_load()
    print(f"{'MB':16}{'resident':>10}{'proportional':>14}{'private':>10}{'peak':>8}")
    for one in found:
        print(
            f"{one.process:16}{one.resident:10.0f}{one.proportional:14.0f}{one.private:10.0f}{one.peak:8.0f}"
        )
    print(
        f"{'all':16}{sum(one.resident for one in found):10.0f}{sum(one.proportional for one in found):14.0f}"
    )


if __name__ == "__main__":
    main()
