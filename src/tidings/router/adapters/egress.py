"""Where we may connect to: asked of the address that is really connected to, after the name was looked up."""

import asyncio
import socket
from collections.abc import Callable
from typing import TypeAlias

#: Says whether an IP address may be connected to.
Guard: TypeAlias = Callable[[str], bool]


class NotAllowedThereError(OSError):
    """The name leads to an address that we must not connect to."""


def anywhere(_: str) -> bool:
    """The guard that lets everything pass: for vendors that the operator chose."""
    return True


async def look_up(host: str, port: int, guard: Guard) -> list[str]:
    """The addresses behind a name that may be connected to, in the order to try them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(info[4][0]) for info in found))
    allowed = [address for address in addresses if guard(address)]
    if not allowed:
        raise NotAllowedThereError("the host's address is not one that we may connect to")
    return allowed
