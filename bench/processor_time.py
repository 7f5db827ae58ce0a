"""What the processes of a house have used: processor time, which a busy neighbour changes less than the clock, and memory."""

import re
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.house import House


@dataclass(frozen=True, slots=True)
class Spent:
    """Processor time of the parts so far, in seconds."""

    api: float
    worker: float
    postgres: float

    @property
    def total(self) -> float:
        """Of all parts."""
        return self.api + self.worker + self.postgres

    def micros_each(self, before: "Spent", count: int) -> dict[str, float]:
        """Microseconds for each of so many since then, by part."""
        parts = ("api", "worker", "postgres")
        return {part: (getattr(self, part) - getattr(before, part)) / count * 1e6 for part in parts}


def spent(house: House) -> Spent:
    """So far; children that render count as their parents'."""
    return Spent(
        api=_with_children(house.api.pid),
        worker=sum(_with_children(worker.pid) for worker in house.workers if worker.runs),
        postgres=_with_children(_postmaster(house)),
    )


def peak_rss_mb(house: House) -> float:
    """The most that API, workers and their children ever held; Postgres is not ours."""
    pids = [pid for program in house.programs for pid in _family(program.pid)]
    return sum(_peak(pid) for pid in pids) / 1024


def _postmaster(house: House) -> int:
    pid = house.postgres.pid
    assert pid is not None
    return pid


def _family(pid: int) -> list[int]:
    try:
        return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    except psutil.NoSuchProcess:
        return []


def _with_children(pid: int) -> float:
    """Of a process and its children; those that have ended are counted by it."""
    total = 0.0
    for one in _family(pid):
        try:
            times = psutil.Process(one).cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
        if one == pid:
            total += times.children_user + times.children_system
    return total


def _peak(pid: int) -> float:
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0.0
    return float(found[1]) if found else 0.0
