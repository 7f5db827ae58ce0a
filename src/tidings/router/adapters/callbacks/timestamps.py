"""When something happened, as vendors write it: seconds or thousandths of them since 1970; and how old a proof may be."""

from datetime import UTC, datetime, timedelta
from typing import Final

#: An event from further ahead has no time that means anything.
FURTHEST_AHEAD: Final = timedelta(days=1)
#: So much a vendor's clock may be before ours.
CLOCK_AHEAD: Final = timedelta(minutes=5)
#: What a vendor tries again for a day may carry the proof of its first try: a receipt after an outage of ours must not be
#: refused for its age. The hour is for clocks, and for the time until the first try. A request that is told twice within it
#: does no harm: its events are known for 90 days.
A_DAY_OF_TRYING: Final = timedelta(hours=25)


def is_fresh(signed_at: datetime, received_at: datetime, *, window: timedelta) -> bool:
    """Whether it was signed within the window, and not ahead of now."""
    return -CLOCK_AHEAD <= received_at - signed_at <= window


def since_1970(number: str | int | None, received_at: datetime, *, a_second: int = 1) -> datetime | None:
    """The moment; None where it is none, or far ahead. `a_second`: how many of the vendor's units that is."""
    try:
        at = datetime.fromtimestamp(int(number or "") / a_second, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at if at - received_at <= FURTHEST_AHEAD else None
