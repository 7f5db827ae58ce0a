"""A port on loopback for a server that is started later."""

import random
import socket
from typing import Final

#: Below the range that the system gives out by itself (32768 and up on Linux): a port of that range may be another
#: process' by the time that the server binds it.
_OURS: Final = range(20_000, 32_000)


def free_port() -> int:
    """One that no process listens on."""
    while True:
        port = random.choice(_OURS)  # spreads processes that choose at the same time
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
