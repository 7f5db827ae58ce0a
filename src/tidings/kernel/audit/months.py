"""Which months of a log still have a partition, told by the partitions' bounds.

Not by their names: an attacker who renames a partition could otherwise take rows out of it and have the gap pass for
an archive.
"""

import re
from collections.abc import Iterable

_RANGE = re.compile(r"FOR VALUES FROM \((?P<start>.+?)\) TO \((?P<end>.+?)\)")
_BEFORE_ALL, _AFTER_ALL = "", "~"


class AttachedMonths:
    """Answers `(2026, 11) in months`; a bound that can't be read counts as every month, never as none."""

    def __init__(self, bounds: Iterable[str]) -> None:
        """`bounds` as Postgres prints them for a session in UTC."""
        self._ranges = [_range(bound) for bound in bounds]

    def __contains__(self, month: object) -> bool:
        if not isinstance(month, tuple):
            return False
        year, number = month
        start = f"{year:04}-{number:02}-01 00:00:00+00"
        end = f"{year + number // 12:04}-{number % 12 + 1:02}-01 00:00:00+00"
        # Moments in one format sort as texts.
        return any(first < end and last > start for first, last in self._ranges)


def _range(bound: str) -> tuple[str, str]:
    found = _RANGE.fullmatch(bound)
    if found is None:
        return _BEFORE_ALL, _AFTER_ALL
    start, end = (found[name].strip("'") for name in ("start", "end"))
    return (start if start[:1].isdigit() else _BEFORE_ALL), (end if end[:1].isdigit() else _AFTER_ALL)
