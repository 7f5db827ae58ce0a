"""Where we may connect to: asked of the address that is really connected to, after the name was looked up."""

import asyncio
import ipaddress
import socket
from collections.abc import Callable, Sequence
from typing import TypeAlias
from urllib.parse import urlsplit

#: Says whether an IP address may be connected to.
Guard: TypeAlias = Callable[[str], bool]


class NotAllowedThereError(OSError):
    """The name leads to an address that we must not connect to."""


def anywhere(_: str) -> bool:
    """The guard that lets everything pass: for vendors that the operator chose."""
    return True


def public_only(address: str) -> bool:
    """The guard for vendors that a tenant chose: nothing of our own network, this machine or its cloud is reachable."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        # An IPv4 address inside counts as itself, however it is wrapped: mapped, NAT64, 6to4, Teredo.
        if found in _NAT64:
            return _is_public(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF))
        if found.ipv4_mapped is not None:
            return _is_public(found.ipv4_mapped)
        inner = (found.sixtofour, *(found.teredo or ()))
        if not all(_is_public(one) for one in inner if one is not None):
            return False
    return _is_public(found)


def public_and(networks: Sequence[str]) -> Guard:
    """The same guard with a few networks of our own that the operator has opened to tenants."""
    opened = [ipaddress.ip_network(network) for network in networks]

    def guard(address: str) -> bool:
        if public_only(address):
            return True
        try:
            found = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return False
        # An IPv4 network is meant, however its address is written; other wrappings lead to who knows where.
        if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
            found = found.ipv4_mapped
        return any(found in network for network in opened)

    return guard if opened else public_only


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


#: Assigned to protocols, and to no host; Python counts some of it as global.
_PROTOCOLS = ipaddress.ip_network("192.0.0.0/24")


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    site_local = isinstance(address, ipaddress.IPv6Address) and address.is_site_local
    if address in _PROTOCOLS:
        return False
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified or site_local
    )


async def look_up(host: str, port: int, guard: Guard) -> list[str]:
    """The addresses behind a name that may be connected to, in the order to try them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(info[4][0]) for info in found))
    allowed = [address for address in addresses if guard(address)]
    if not allowed:
        raise NotAllowedThereError("the host's address is not one that we may connect to")
    return allowed


def host_and_port(url: str) -> tuple[str, int | None] | None:
    """None where it names no host."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        # As it is looked up: labels that are empty, or too long, are no name.
        host.encode("idna")
    except ValueError:
        return None
    return (host, port) if host else None
