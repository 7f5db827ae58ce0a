"""The arguments of httpx2 for both clients: address, key, timeout."""

import ipaddress
from typing import Any
from urllib.parse import urlsplit

import httpx2

from tidings_client.errors import NotReachedError
from tidings_client.version import __version__


def settings(base_url: str, key: str, *, tenant: str | None, timeout: float) -> dict[str, Any]:
    """The arguments of an httpx2 client."""
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("base_url must be an address such as http://127.0.0.1:8080")
    bare = key.strip()
    if not bare or not (bare.isascii() and bare.isprintable()):
        raise ValueError("key must be an API key, tdk_…")
    headers = {
        "authorization": f"Bearer {bare}",
        "accept": "application/json",
        "user-agent": f"tidings-client/{__version__}",
    }
    if tenant is not None:
        headers["x-tenant-id"] = tenant
    return {
        "base_url": base_url.rstrip("/"),
        "headers": headers,
        "timeout": timeout,
        # A proxy is for the outside; on this machine it would only be in the way.
        "trust_env": not _is_here(parts.hostname),
    }


def not_reached(error: httpx2.RequestError, base_url: httpx2.URL) -> NotReachedError:
    """The same, in words."""
    where = f"{base_url.scheme}://{base_url.netloc.decode('ascii', 'replace')}"
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return NotReachedError(f"nothing answers at {where}; is Tidings running there?", sent=False)
    if isinstance(error, httpx2.PoolTimeout):
        return NotReachedError(f"every connection to {where} was in use for too long", sent=False)
    if isinstance(error, httpx2.TimeoutException):
        return NotReachedError(f"{where} took too long to answer")
    return NotReachedError(f"the connection to {where} broke off ({type(error).__name__})")


def _is_here(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
