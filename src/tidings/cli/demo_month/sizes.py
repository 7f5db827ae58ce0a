"""How large a month is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthSize:
    """How many people, days and messages."""

    name: str
    people: int
    days: int
    #: Messages of one time of the day, of which a day has three.
    per_slot: int
    #: How long it takes on two cores, in seconds; said at the beginning.
    about_seconds: int


SIZES: Final[Mapping[str, MonthSize]] = {
    one.name: one
    for one in (
        MonthSize(name="small", people=40, days=1, per_slot=16, about_seconds=5),
        MonthSize(name="month", people=300, days=30, per_slot=25, about_seconds=75),
        MonthSize(name="large", people=3000, days=30, per_slot=300, about_seconds=300),
    )
}
