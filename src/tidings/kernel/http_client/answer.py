"""What came back from a request over HTTP, and what is certain where nothing did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal, TypeAlias

import msgspec

from tidings.kernel.clock import Clock
from tidings.kernel.egress import NotAllowedThereError

_LONGEST_WAIT: Final = timedelta(days=1)

#: Why there is no answer. `address`, `certificate`, `tls`, `connection` and `url`: certainly nobody was asked.
CallFailure: TypeAlias = Literal[
    "address",
    "certificate",
    "tls",
    "connection",
    "url",
    "timeout",
    "disconnected",
    "broken_off",
    "no_http",
    "unknown",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What came back."""

    status: int
    retry_after: str | None
    content: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def json(self) -> Any:
        """What it says in JSON; None where it is none."""
        try:
            return msgspec.json.decode(self.content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None


def wait_of(text: str | None, clock: Clock) -> timedelta | None:
    """Retry-After: seconds, or a date."""
    if text is None:
        return None
    if text.strip().isascii() and text.strip().isdecimal():
        return min(timedelta(seconds=min(int(text.strip()[:9]), 10**8)), _LONGEST_WAIT)
    try:
        then = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    wait = (then if then.tzinfo else then.replace(tzinfo=UTC)) - clock.now()
    return min(max(wait, timedelta(0)), _LONGEST_WAIT)


def failure_of(error: Exception) -> CallFailure:
    """What is certain after a failure; the exception's own words are not kept, they name hosts and more."""
    import aiohttp  # Heavy: only those who have made a call ask what became of it.

    match error:
        # The library wraps what the guard says.
        case NotAllowedThereError() | aiohttp.ClientConnectorError(os_error=NotAllowedThereError()):
            return "address"
        case aiohttp.ClientConnectorCertificateError():
            return "certificate"
        case aiohttp.ClientConnectorSSLError():
            return "tls"
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
            return "connection"
        case aiohttp.InvalidURL():
            return "url"
        case TimeoutError():
            return "timeout"
        case aiohttp.ServerDisconnectedError() | ConnectionError():
            return "disconnected"
        case aiohttp.ClientPayloadError():
            return "broken_off"
        case aiohttp.ClientResponseError():
            return "no_http"
    return "unknown"
