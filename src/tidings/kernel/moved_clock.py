"""A clock that is ahead of the machine's, to try out what Tidings does in two days without waiting for them; or behind it, to live through a month."""

import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from tidings.kernel.clock import SystemClock

#: Partitions are made for three months; a clock further ahead would find none.
FURTHEST: Final = timedelta(days=60)
#: How far behind the machine a new data dir may begin.
FURTHEST_BEHIND: Final = timedelta(days=60)
#: Seconds between two looks at the file.
_EVERY: Final = 0.02


class MovedClock(SystemClock):
    """So far ahead of the machine's clock as a file says, in seconds (behind it where they are negative); who writes the file moves every process that reads it.

    It never goes back: ids and rows carry the time at which they were made. Without a file it is the machine's.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._ahead = -FURTHEST_BEHIND
        self._looked_at = float("-inf")

    def now(self) -> datetime:
        """The present moment as the file has it, aware and in UTC."""
        if time.monotonic() - self._looked_at >= _EVERY:
            self._looked_at = time.monotonic()
            said = read_ahead(self._file)
            self._ahead = max(self._ahead, timedelta(0) if said is None else said)
        return super().now() + self._ahead


def read_ahead(file: Path) -> timedelta | None:
    """How far ahead the clock of that file is, negative where it is behind; None where there is no such file."""
    try:
        return timedelta(seconds=float(file.read_text(encoding="ascii")))
    except (OSError, ValueError):
        return None


def write_ahead(file: Path, ahead: timedelta) -> None:
    """Move the clock; a reader sees the old time or the new one."""
    draft = file.with_name(f".{file.name}")
    draft.write_text(f"{ahead.total_seconds()}\n", encoding="ascii")
    draft.replace(file)
