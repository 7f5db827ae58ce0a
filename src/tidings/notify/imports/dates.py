"""Dates as other services write them: unix seconds, ISO 8601, or as mail has them (RFC 2822)."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_UNIX = re.compile(r"[0-9]{1,13}(\.[0-9]{1,9})?")
#: So many digits are milliseconds.
_MILLIS = 13
#: A day such as 20201113; as seconds it would be in the year 1970.
_DAY = 8
#: Days since 1900, from 1954 to 2146, perhaps with the time of the day behind.
_DAY_NUMBER = re.compile(r"[2-8][0-9]{4}(\.[0-9]+)?")
_FIRST = datetime(1970, 1, 1, tzinfo=UTC)


def is_day_number(text: str) -> bool:
    """Whether this is a day as spreadsheets count them, 44987: as unix seconds it would be in the first day of 1970."""
    return _DAY_NUMBER.fullmatch(text) is not None


def read_date(text: str) -> datetime | None:
    """The moment in UTC, which a bare one is taken to be in; None where it is none, or from before 1970."""
    if is_day_number(text):
        return None
    if _UNIX.fullmatch(text) and len(text) != _DAY:
        return _since_1970(text)
    found = read_iso(text.removesuffix(" UTC")) or _mail_date(text)
    return found if found is not None and found >= _FIRST else None


def read_iso(text: str) -> datetime | None:
    """The moment in UTC; None where it is none that can be kept."""
    try:
        return _in_utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None


def _since_1970(text: str) -> datetime | None:
    millis = len(text.partition(".")[0]) == _MILLIS
    try:
        return datetime.fromtimestamp(float(text) / (1000 if millis else 1), UTC)
    except (ValueError, OverflowError):
        return None


def _mail_date(text: str) -> datetime | None:
    try:
        return _in_utc(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _in_utc(found: datetime) -> datetime:
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
