"""Host names and web addresses in their one spelling. Whether we may connect to one is decided elsewhere."""

import ipaddress
import re
from urllib.parse import urlsplit, urlunsplit

import idna

MAX_HOST_BYTES = 253
MAX_URL_CHARACTERS = 2048
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_LABELS = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")


def normalise_host(host: str) -> str | None:
    """A host name in lower-case ASCII (IDNA 2008), or None where it is none."""
    if not host or len(host) > MAX_HOST_BYTES:
        return None
    lowered = host.lower()
    # Plain names are told by a pattern: quicker, and IDNA refuses hyphens that live hosts do have.
    if not lowered.isascii() or "xn--" in lowered:
        try:
            lowered = idna.encode(host, uts46=True, std3_rules=True).decode("ascii").lower()
        except (idna.IDNAError, UnicodeError):
            return None
    if len(lowered) > MAX_HOST_BYTES or not _LABELS.fullmatch(lowered):
        return None
    return lowered


def normalise_http_url(text: str) -> str | None:
    """An absolute http(s) URL with its scheme and host in one spelling, or None where it is none."""
    if len(text) > MAX_URL_CHARACTERS or not text.isprintable() or " " in text or "\\" in text:
        return None
    try:
        parts = urlsplit(text)
        port = parts.port
        name = parts.hostname or ""
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or parts.fragment or "@" in parts.netloc:
        return None
    host = _bracketed(name) if "[" in parts.netloc else normalise_host(name)
    if host is None:
        return None
    usual = {"http": 80, "https": 443}[parts.scheme]
    place = host if port in {None, usual} else f"{host}:{port}"
    whole = urlunsplit((parts.scheme, place, parts.path or "/", parts.query, ""))
    return whole if len(whole) <= MAX_URL_CHARACTERS else None


def _bracketed(name: str) -> str | None:
    try:
        return f"[{ipaddress.IPv6Address(name).compressed}]"
    except ValueError:
        return None
