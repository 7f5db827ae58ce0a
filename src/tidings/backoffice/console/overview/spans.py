"""Over which time the overview looks; the choice stands in the address."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

#: What `?span=` may say → how many days, today among them.
SPANS: Final[dict[str, int]] = {"day": 2, "week": 7, "month": 30, "quarter": 92}
USUAL: Final = "week"
_DAY: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The days that are looked at."""

    name: str
    now: datetime

    @property
    def by_hour(self) -> bool:
        """Whether it is short enough for hours."""
        return self.name == "day"

    @property
    def since(self) -> date:
        """The first day."""
        return self.now.date() - timedelta(days=SPANS[self.name] - 1)

    @property
    def until(self) -> date:
        """The last day: today."""
        return self.now.date()

    @property
    def days(self) -> Sequence[date]:
        """All of them."""
        return [self.since + timedelta(days=passed) for passed in range(SPANS[self.name])]

    @property
    def hours(self) -> Sequence[datetime]:
        """The beginnings of the last 24 hours, the present one last."""
        last = self.now.replace(minute=0, second=0, microsecond=0)
        return [last - timedelta(hours=back) for back in range(23, -1, -1)]


def span_of(text: str | None, now: datetime) -> Span:
    """What the address asks for; a week where it says nothing that we know."""
    return Span(name=text if text in SPANS else USUAL, now=now)
