"""A real NATS server for the tests: a process of its own that a test may kill, stop for a while, and start again."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from tests.support.free_port import free_port
from tidings.kernel.secrets import Secret

_BINARY = Path(sys.prefix) / "bin" / "nats-server"


class NatsServer:
    """One server with JetStream on a port of its own; what it stored is there when it is started again."""

    def __init__(
        self, folder: Path, *, config: str = "", login: str = "", scheme: str = "nats", jetstream: bool = True
    ) -> None:
        self._folder = folder
        self._config = config
        self._process: subprocess.Popen[bytes] | None = None
        self._login = login
        self._scheme = scheme
        self._jetstream = jetstream
        self.port = free_port()

    def url(self, **options: object) -> Secret:
        """Where it is."""
        query = "&".join(f"{name}={value}" for name, value in options.items())
        return Secret(f"{self._scheme}://{self._login}127.0.0.1:{self.port}" + (f"?{query}" if query else ""))

    def start(self) -> Self:
        """Start it; it takes connections when this returns."""
        assert self._process is None
        config = self._folder / "server.conf"
        store = f'{{ store_dir: "{self._folder}/store", max_memory_store: 64MB, max_file_store: 4GB }}'
        jetstream = f"jetstream {store}\n" if self._jetstream else ""
        config.write_text(f'listen: "127.0.0.1:{self.port}"\n{jetstream}{self._config}\n')
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [_BINARY, "--config", config], stdout=log, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + 20
        while not self._answers():
            assert self._process.poll() is None, (self._folder / "server.log").read_text()[-2000:]
            assert time.monotonic() < deadline, "nats-server does not answer"
            time.sleep(0.01)
        return self

    def kill(self) -> None:
        """As `kill -9` does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def configure(self, config: str) -> None:
        """With its next start it has this configuration."""
        self._config = config

    def hang(self) -> None:
        """It keeps its connections and says nothing."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """It answers again."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                return connection.recv(4) == b"INFO"
        except OSError:
            return False


@contextmanager
def running_nats(**options: Any) -> Iterator[NatsServer]:
    """A server, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="tidings-nats-") as folder:
        server = NatsServer(Path(folder), **options)
        try:
            yield server.start()
        finally:
            server.kill()
