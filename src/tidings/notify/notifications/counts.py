"""How many notifications came to each status, by day; read from counts that are kept as they move."""

from dataclasses import dataclass
from datetime import date

from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCount:
    """How many of something on a day."""

    day: date
    #: `accepted`, a status, `complaint`, or what people did: `read opened clicked`, and the last two with `_again` and
    #: `_by_machine`.
    name: str
    channel: str
    category: str
    n: int


async def sum_counts(tx: TenantTx, *, first: date, last: date) -> list[DayCount]:
    """All counts of these days, the oldest first."""
    rows = await tx.fetch(QUERIES.sum_counts, first=first, last=last)
    return [_day_count(row) for row in rows]


_day_count = RowMapper(DayCount, [QUERIES.sum_counts])
