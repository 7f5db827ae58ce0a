"""What requests of browsers carry: cookies, and where the page stands that sent them.

A cookie that only https may carry has a name that begins with `__Host-`: browsers take it from this very host alone. Plain http
is for this machine alone, where the name has no prefix.
"""

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from tidings.kernel.http.asgi import SeenScope, header, headers

_PREFIX: Final = "__Host-"
#: Methods that change nothing, and may come from anywhere.
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def host_of(scope: SeenScope) -> str:
    """The host that the browser has in its address bar, with its port."""
    return (header(scope, b"host") or "").strip().lower()


def is_local(scope: SeenScope) -> bool:
    """Whether the browser is on this very machine, by the name that it calls us."""
    name = urlsplit(f"//{host_of(scope)}").hostname or ""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_secure(scope: SeenScope, public_url: str | None) -> bool:
    """Whether the browser speaks https: to us, or to the proxy at our public address."""
    if scope.get("scheme") in ("https", "wss"):
        return True
    public = urlsplit(public_url or "")
    return public.scheme == "https" and public.netloc.lower() == host_of(scope)


def read_cookie(scope: SeenScope, name: str, *, secure: bool) -> str | None:
    """The value of a cookie; None where there is none, or several that differ."""
    wanted = f"{_PREFIX}{name}" if secure else name
    values = {
        value.strip()
        for line in headers(scope, b"cookie")
        for key, _, value in (pair.partition("=") for pair in line.split(";"))
        if key.strip() == wanted
    }
    return values.pop() if len(values) == 1 else None


def set_cookie(name: str, value: str, *, secure: bool, seconds: int, from_links: bool = False) -> str:
    """A `Set-Cookie` that no script reads and no other site sends, but by a link where `from_links`; with no seconds it is taken away."""
    prefix, only = (_PREFIX, "; Secure") if secure else ("", "")
    site = "Lax" if from_links else "Strict"
    return f"{prefix}{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite={site}{only}"


def is_from_another_site(scope: SeenScope, *, secure: bool) -> bool:
    """Whether the browser says that a page of another origin sent this; `secure`: ours is served over https."""
    site = header(scope, b"sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return True
    origin = header(scope, b"origin")
    own = f"{'https' if secure else 'http'}://{host_of(scope)}"
    return origin is not None and origin.strip().lower() != own
