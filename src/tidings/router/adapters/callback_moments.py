"""When something happened, as vendors write it: seconds or thousandths of them since 1970."""

from datetime import UTC, datetime, timedelta
from typing import Final

#: An event from further ahead has no time that means anything.
FURTHEST_AHEAD: Final = timedelta(days=1)


def since_1970(number: str | int | None, received_at: datetime, *, a_second: int = 1) -> datetime | None:
    """The moment; None where it is none, or far ahead. `a_second`: how many of the vendor's units that is."""
    try:
        at = datetime.fromtimestamp(int(number or "") / a_second, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at if at - received_at <= FURTHEST_AHEAD else None
