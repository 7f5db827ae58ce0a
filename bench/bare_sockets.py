"""The limit of `bench.inbox`: a server of the library `websockets` that does nothing but greet and echo, in a process of its own.

What it costs to hold so many sockets, to have a frame come back, and to take all of them at once is what this machine asks of
anybody; the ratios to it say what Tidings adds.
"""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import uvloop
from tests.support.free_port import free_port
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

_READY: Final = b"ready\n"
_GREETING: Final = '{"type":"counts","id":0}'
_PROTOCOL: Final = Subprotocol("tidings.inbox")
#: As deep as a listener's backlog may be; the kernel cuts it to what it allows.
_BACKLOG: Final = 2_048


@dataclass(frozen=True, slots=True)
class BareServer:
    """It runs."""

    pid: int
    base_url: str


@contextlib.contextmanager
def bare_server() -> Iterator[BareServer]:
    """Start it; it ends with the block."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.bare_sockets", str(port)], stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == _READY
        yield BareServer(process.pid, f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait()


async def _echo(socket: ServerConnection) -> None:
    with contextlib.suppress(ConnectionClosed):
        await socket.send(_GREETING)
        async for message in socket:
            await socket.send(message)


async def _serve(port: int) -> None:
    async with serve(
        _echo,
        "127.0.0.1",
        port,
        subprotocols=[_PROTOCOL],
        compression=None,
        ping_interval=None,
        backlog=_BACKLOG,
    ):
        sys.stdout.buffer.write(_READY)
        sys.stdout.buffer.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
