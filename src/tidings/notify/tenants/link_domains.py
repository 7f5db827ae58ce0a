"""Which hosts links may lead to: a tenant's `allowed_link_domains`."""

from collections.abc import Sequence


def host_allowed(host: str, allowed: Sequence[str]) -> bool:
    """Whether a list of domains names a host: `example.com` itself, `*.example.com` what is under it."""
    return any(
        host.endswith(name[1:]) and len(host) > len(name) - 1 if name.startswith("*.") else host == name
        for name in allowed
    )
