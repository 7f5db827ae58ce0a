"""Whether the place that an account leads to can be reached: its name, its address, a connection; nothing is said there."""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import msgspec

from tidings.kernel.egress import Guard

#: Settings that name an address, the more telling first.
_URLS = ("api_url", "url")
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPort:
    """Where an account leads to."""

    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachabilityResult:
    """How far one came; what was not tried is None."""

    found: bool
    allowed: bool | None = None
    connected: bool | None = None


def place_of(settings: msgspec.Struct) -> HostPort | None:
    """Where these settings lead to; None where they do not say so in so many words."""
    host, port = getattr(settings, "host", None), getattr(settings, "port", None)
    if isinstance(host, str) and isinstance(port, int):
        return HostPort(host=host, port=port)
    for name in _URLS:
        url = getattr(settings, name, None)
        if isinstance(url, str):
            return _of_url(url)
    return None


def is_encrypted(settings: msgspec.Struct) -> bool | None:
    """Whether these settings ask for TLS; None where they do not say so in so many words."""
    security = getattr(settings, "security", None)
    if isinstance(security, str):
        return security != "none"
    urls = [url for name in _URLS if isinstance(url := getattr(settings, name, None), str)]
    return urls[0].startswith("https://") if urls else None


async def reach(place: HostPort, guard: Guard, *, answer_timeout: float) -> ReachabilityResult:
    """Look the name up, ask the guard, connect and leave; each within the patience, in seconds."""
    try:
        async with asyncio.timeout(answer_timeout):
            found = await asyncio.get_running_loop().getaddrinfo(
                place.host, place.port, type=socket.SOCK_STREAM
            )
    except (OSError, TimeoutError, UnicodeError):
        return ReachabilityResult(found=False)
    addresses = list(dict.fromkeys(str(info[4][0]) for info in found))
    allowed = [address for address in addresses if guard(address)]
    if not allowed:
        return ReachabilityResult(found=True, allowed=False)
    return ReachabilityResult(
        found=True, allowed=True, connected=await _connected(allowed, place.port, answer_timeout)
    )


async def _connected(addresses: Sequence[str], port: int, answer_timeout: float) -> bool:
    """Whether one of them takes a connection; all of them together have the patience."""
    with suppress(TimeoutError):
        async with asyncio.timeout(answer_timeout):
            for address in addresses:
                try:
                    _, writer = await asyncio.open_connection(address, port)
                except OSError:
                    continue
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
                return True
    return False


def _of_url(url: str) -> HostPort | None:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    # A host with a placeholder is another one for each message.
    if not host or port is None or "{" in host:
        return None
    return HostPort(host=host, port=port)
