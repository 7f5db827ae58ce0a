"""Headers that tell a caller early: this address will go, then, and here is what to use instead."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import format_datetime

#: How long a deprecated part of the API goes on working.
NOTICE = timedelta(days=180)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deprecated:
    """Since when a route is deprecated, and what takes its place."""

    since: datetime
    #: The address of what to use instead, or of the page that explains it.
    successor: str
    notice: timedelta = NOTICE

    def headers(self) -> dict[str, str]:
        """`Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a link to the successor."""
        return {
            "Deprecation": f"@{int(self.since.timestamp())}",
            "Sunset": format_datetime(self.since + self.notice, usegmt=True),
            "Link": f'<{self.successor}>; rel="successor-version"',
        }
