"""How busy the machine is with what is none of ours: figures of a busy machine prove nothing."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

_PROC: Final = Path("/proc")


class ProcessorTime(NamedTuple):
    """Ticks since the machine was started."""

    all: int
    idle: int
    #: Of a process and all below it.
    ours: int


def processor_time(root: int) -> ProcessorTime | None:
    """As it is now; None where the system does not say."""
    try:
        words = (_PROC / "stat").read_text().split("\n", 1)[0].split()[1:9]
        ours = sum(_ticks(pid) for pid in _family(root))
    except (OSError, ValueError, IndexError):
        return None
    ticks = [int(word) for word in words]
    return ProcessorTime(all=sum(ticks), idle=ticks[3] + ticks[4], ours=ours)


def foreign_share(before: ProcessorTime | None, after: ProcessorTime | None) -> float | None:
    """The part of the machine that others used in between, from 0 to 1."""
    if before is None or after is None or after.all <= before.all:
        return None
    whole = after.all - before.all
    busy = whole - (after.idle - before.idle)
    return min(max((busy - (after.ours - before.ours)) / whole, 0.0), 1.0)


def _family(root: int) -> Iterable[int]:
    """A process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdecimal():
            try:
                children.setdefault(int(_fields(int(entry.name))[1]), []).append(int(entry.name))
            except (OSError, ValueError, IndexError):
                continue
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children.get(pid, [])
    return found


def _ticks(pid: int) -> int:
    try:
        fields = _fields(pid)
    except OSError:
        return 0
    # Its own, and that of children that have ended.
    return sum(int(fields[place]) for place in (11, 12, 13, 14))


def _fields(pid: int) -> list[str]:
    """The fields after the name, which may hold anything."""
    return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()


def processors() -> int:
    """How many there are for us."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
