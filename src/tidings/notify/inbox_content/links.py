"""Which links an item may have: harmless schemes, plain hosts, and the domains that the tenant allows."""

import re
from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import urlsplit

from tidings.kernel.urls import MAX_URL_CHARACTERS, normalise_host
from tidings.notify.tenants.link_domains import host_allowed

#: What a click may lead to.
LINKS: Final = frozenset({"https", "http", "mailto", "tel"})
PICTURES: Final = frozenset({"https"})
#: Browsers pass over blanks and turn backslashes round; whatever needs that is no honest link.
_DISHONEST: Final = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029\\<>\"`]")


def link_fault(url: str, schemes: Collection[str], allowed: Sequence[str]) -> str | None:
    """What is wrong with a link, as the rest of a sentence; None where nothing is. `allowed` empty: any host."""
    if len(url) > MAX_URL_CHARACTERS:
        return f"must have at most {MAX_URL_CHARACTERS} characters"
    if not url or _DISHONEST.search(url):
        return "must be a link without blanks, quotes or angle brackets"
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return "must be a whole link such as https://example.com/orders"
    if parts.scheme not in schemes:
        return f"must begin with one of {', '.join(f'{one}:' for one in sorted(schemes))}"
    if parts.scheme in ("mailto", "tel"):
        return None
    if host is None or "@" in parts.netloc or not url.startswith(f"{parts.scheme}://"):
        return "must be a whole link with a plain host, such as https://example.com/orders"
    plain = normalise_host(host)
    if plain is None:
        return "must have a host name, such as example.com"
    if allowed and not host_allowed(plain, allowed):
        return "must lead to a host that the tenant's allowed_link_domains names"
    return None
