"""A name server for hosts that strangers name: it looks names up in threads of its own. Heavy, by aiohttp: imported when there is something to send."""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from aiohttp.abc import AbstractResolver, ResolveResult

#: Names that are looked up at once.
_NAMES = 16


class IsolatedResolver(AbstractResolver):
    """A name server of a stranger's that is silent keeps no other vendor's names waiting."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_NAMES, thread_name_prefix="names-apart")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses behind a name."""
        ask = partial(
            socket.getaddrinfo, host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
        )
        found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=port,
                family=kind,
                proto=protocol,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for kind, _, protocol, _, address in found
        ]

    async def close(self) -> None:
        """A look-up that is under way is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)
