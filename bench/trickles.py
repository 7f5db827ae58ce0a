"""Does one tenant's flood slow the ordinary messages of many others? The same run, idle and beside it.

`python -m bench.trickles` lets 200 tenants send a few mails a second in all, first alone, then while a flood of another
tenant, of the same priority, is worked off. Everything is durable and runs as processes of their own.
"""

import asyncio
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from bench.fairness import PATH, Beside, flood, open_sink, order, percentile
from bench.house import House, Resident
from bench.load import Connection, request, until
from bench.sink import Sink

#: Mails of one flood, tenants that trickle, and mails of theirs that are measured on the idle system.
MANY: Final = 20_000
TENANTS: Final = 200
MEASURED: Final = 300
#: Mails a second of all that trickle.
_PACE: Final = 20
#: Floods with the trickle and without it, in an order in which a machine that grows slower favours neither.
_BESIDE: Final = (False, True, True, False)
_PRIORITY: Final = "normal"
_PATIENCE: Final = 300.0


@dataclass(frozen=True, slots=True)
class _Flood:
    """One that was worked off."""

    #: From its first mail at the vendor to its last.
    seconds: float
    #: How long the others' took from their acceptance to the vendor meanwhile.
    trickled: list[float]


def measure(
    many: int = MANY,
    tenants: int = TENANTS,
    measured: int = MEASURED,
    open_house: Callable[..., AbstractContextManager[House]] = House,
) -> dict[str, float]:
    """A trickle's p50 and p99, idle and beside the flood, and what it costs the flood. Call it in the main thread."""
    with Beside() as beside:
        sink = beside.run(open_sink())
        account: dict[str, object] = {"host": "127.0.0.1", "port": sink.port, "security": "none"}
        with open_house(workers=1, vendors={"smtp": account}) as house:
            flooding, *trickling = house.residents(["flooding", *(f"trickle-{n}" for n in range(tenants))])
            run = _Run(house, flooding, trickling, sink)
            beside.run(run.flood(many // 10, beside=False))
            beside.run(run.trickle(lambda sent: sent < tenants))
            idle = beside.run(run.trickle(lambda sent: sent < measured))
            floods = [beside.run(run.flood(many, beside=with_trickle)) for with_trickle in _BESIDE]
            beside.run(sink.__aexit__(None, None, None))
    alone = [one for one in floods if not one.trickled]
    beside_it = [one for one in floods if one.trickled]
    loaded = [took for one in beside_it for took in one.trickled]
    return {
        "trickle_p50_ratio_to_idle": percentile(loaded, 0.5) / percentile(idle, 0.5),
        "trickle_p99_ratio_to_idle": percentile(loaded, 0.99) / percentile(idle, 0.99),
        "trickle_idle_p50_ms": percentile(idle, 0.5) * 1000,
        "trickle_idle_p99_ms": percentile(idle, 0.99) * 1000,
        "trickle_beside_flood_p50_ms": percentile(loaded, 0.5) * 1000,
        "trickle_beside_flood_p99_ms": percentile(loaded, 0.99) * 1000,
        "trickle_beside_flood_measured": float(len(loaded)),
        # 1 is one that has waited for the whole flood.
        "trickle_slowest_share_of_flood": max(max(one.trickled) / one.seconds for one in beside_it),
        "flood_alone_per_s": _rate(alone, many),
        "flood_beside_trickle_per_s": _rate(beside_it, many),
        "flood_beside_trickle_ratio_to_alone": _rate(beside_it, many) / _rate(alone, many),
    }


class _Run:
    """The two kinds of load, on a house that runs."""

    def __init__(self, house: House, flooding: Resident, trickling: Sequence[Resident], sink: Sink) -> None:
        self._house = house
        self._flooding = flooding
        self._sink = sink
        self._turns = itertools.cycle(trickling)
        self._numbers = itertools.count()

    async def flood(self, many: int, *, beside: bool) -> _Flood:
        """Send so many and wait until the vendor has all; with `beside`, others trickle from its first to its last."""
        before = self._sink.count
        working = asyncio.create_task(self._work_off(many))
        await until(lambda: self._sink.count > before, seconds=_PATIENCE)
        trickled = await self.trickle(lambda _: not working.done()) if beside else []
        seconds = await working
        await asyncio.sleep(1.0)  # Outcomes are still on their way to notify.
        return _Flood(seconds, trickled)

    async def _work_off(self, many: int) -> float:
        mark = f"f{next(self._numbers)}-"
        ids = await flood(self._house, self._flooding, many, priority=_PRIORITY, mark=mark)
        came = [await self._sink.arrival(id_, seconds=_PATIENCE) for id_ in ids]
        return max(came) - min(came)

    async def trickle(self, more: Callable[[int], bool]) -> list[float]:
        """How long each took from its acceptance to the vendor. No one waits for the one before: that would hide a delay."""
        connection = await Connection.open(self._house.base_url)
        accepted: dict[str, float] = {}
        began = time.perf_counter()
        while more(len(accepted)):
            await asyncio.sleep(max(0.0, began + len(accepted) / _PACE - time.perf_counter()))
            body = json.dumps(order(f"t{next(self._numbers)}", _PRIORITY)).encode()
            wire = request(self._house.base_url, PATH, next(self._turns).api_key, body)
            status, answer = await connection.ask(wire)
            assert status == 202, answer
            accepted[json.loads(answer)["id"]] = time.perf_counter()
        connection.close()
        return [await self._sink.arrival(id_, seconds=_PATIENCE) - at for id_, at in accepted.items()]


def _rate(floods: Sequence[_Flood], many: int) -> float:
    return len(floods) * many / sum(one.seconds for one in floods)


def main() -> None:
    """Measure and show; with a number, floods of so many."""
    many = int(sys.argv[1]) if sys.argv[1:] else MANY
    print(f"{'load of the machine before, per core':36} {os.getloadavg()[0] / (os.cpu_count() or 1):>12.2f}")
    for name, value in measure(many).items():
        print(f"{name:36} {value:>12,.3f}")


if __name__ == "__main__":
    main()
