"""An outage of the database, in the log: its first line, one in a while with a count, and one when it is over.

Everything that uses the database notices that it is away, each by itself and again and again. All of them say the same,
so the log keeps one line for all and counts the others; the first transaction that begins again says that it is back.
"""

import time
from collections.abc import Callable, MutableMapping
from typing import Any, Final

#: Seconds between two lines while it lasts.
EVERY: Final = 30.0
#: What the fields `error` and `code` of a line say when the database is away.
_AWAY: Final = frozenset(
    {"DatabaseUnavailableError", "DatabaseFullError", "database_unavailable", "database_full"}
)


class Outage:
    """Whether the database is away, as far as this process has noticed."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        #: Read before every transaction, so it is a plain flag.
        self.noticed = False
        self._since = 0.0
        self._said_at = 0.0
        self._left_out = 0

    def keeps_back(self, line: MutableMapping[str, Any]) -> bool:
        """Whether a line of the log only says again what was said; the count goes into the next that is shown."""
        if not self._is_about_it(line):
            return False
        now = self._now()
        if not self.noticed:
            self.noticed, self._since, self._said_at, self._left_out = True, now, now, 0
            return False
        if now - self._said_at < EVERY:
            self._left_out += 1
            return True
        line["outage_seconds"] = round(now - self._since)
        line["lines_left_out"] = self._left_out
        self._said_at, self._left_out = now, 0
        return False

    def over(self) -> dict[str, Any]:
        """A transaction has begun: what there is to say about it."""
        self.noticed = False
        return {"outage_seconds": round(self._now() - self._since, 1), "lines_left_out": self._left_out}

    def _is_about_it(self, line: MutableMapping[str, Any]) -> bool:
        if line.get("error") in _AWAY or line.get("code") in _AWAY:
            return True
        # Meanwhile every retry is for that reason, whatever its own error is called.
        return self.noticed and line.get("level") == "warning" and "retry_seconds" in line


#: This process'.
OUTAGE: Final = Outage()
