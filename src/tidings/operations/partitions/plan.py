"""Which partitions there should be: registry and date in, names and bounds out; no I/O."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

Unit = Literal["month", "day"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionedTable:
    """A table that is split by time, as the registry in the database has it."""

    #: Schema and name: `notification.notifications_standard`.
    parent: str
    #: How long one partition lasts.
    unit: Unit
    #: How many units after the present one are made ahead.
    ahead: int
    #: How full a page is made at first, in percent; rows that change later want room.
    fillfactor: int = 100
    #: A partition that ended this many units ago is dropped as it is; None: kept until it is archived.
    keep: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Partition:
    """One stretch of time of one table."""

    parent: str
    #: Schema and name: `notification.notifications_standard_y2026m11`.
    name: str
    #: First moment inside.
    start: datetime
    #: First moment after.
    end: datetime
    #: As for its table.
    fillfactor: int = 100


def due(table: PartitionedTable, now: datetime) -> Iterator[Partition]:
    """The partitions that should exist: the one before (for what is written late), the present, those ahead."""
    start = _floor(now.astimezone(UTC), table.unit)
    start = _floor(start - timedelta(seconds=1), table.unit)
    for _ in range(table.ahead + 2):
        end = _next(start, table.unit)
        yield Partition(
            parent=table.parent,
            name=f"{table.parent}_{_suffix(start, table.unit)}",
            start=start,
            end=end,
            fillfactor=table.fillfactor,
        )
        start = end


def over(
    table: PartitionedTable, names: Iterable[str], now: datetime, *, held: Collection[str] = ()
) -> Iterator[str]:
    """Those of the table's partitions whose time to be kept is over, the oldest first; without those that are `held`, as they are not exported."""
    if table.keep is None:
        return
    oldest_kept = _floor(now.astimezone(UTC), table.unit)
    for _ in range(table.keep):
        oldest_kept = _floor(oldest_kept - timedelta(seconds=1), table.unit)
    # The suffix sorts as the time does.
    first_name = f"{table.parent}_{_suffix(oldest_kept, table.unit)}"
    mine = re.compile(re.escape(table.parent) + r"_y\d{4}m\d{2}(d\d{2})?")
    yield from sorted(
        name for name in names if mine.fullmatch(name) and name < first_name and name not in held
    )


def _floor(moment: datetime, unit: Unit) -> datetime:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight if unit == "day" else midnight.replace(day=1)


def _next(start: datetime, unit: Unit) -> datetime:
    return _floor(start + timedelta(days=1 if unit == "day" else 31), unit)


def _suffix(start: datetime, unit: Unit) -> str:
    return start.strftime("y%Ym%m" if unit == "month" else "y%Ym%md%d")
