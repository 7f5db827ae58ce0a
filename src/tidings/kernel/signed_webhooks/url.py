"""The address of a webhook, as somebody gives it."""

import ipaddress
from urllib.parse import urlsplit

from tidings.kernel.egress import Guard, anywhere
from tidings.kernel.errors import BadValueError
from tidings.kernel.urls import normalise_http_url


def checked_webhook_url(text: str, *, field: str, require_https: bool = True, guard: Guard = anywhere) -> str:
    """The address in its one spelling; a `BadValueError` where it can't be called.

    Where a name leads is asked when it is connected to; an address that is written out is asked for here too.
    """
    url = normalise_http_url(text.strip())
    if url is None or (require_https and not url.startswith("https://")):
        scheme = "https" if require_https else "http or https"
        raise BadValueError(
            field, f"must be an absolute {scheme} URL without user name, password or fragment"
        )
    host = urlsplit(url).hostname or ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return url
    if not guard(host):
        raise BadValueError(
            field, "leads to an address that is not public; give one that can be reached from the internet"
        )
    return url
