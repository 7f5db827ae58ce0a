"""A mail server that a test has started, and the mail that it took."""

import asyncio
import shutil
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Mta:
    """A running server on loopback, and where it puts mail."""

    port: int
    #: Of its own: configuration, spool, `log`, `mail`.
    folder: Path

    async def mails(self, count: int) -> list[bytes]:
        """What was delivered, once there are so many; delivering happens after accepting."""
        async with asyncio.timeout(60):
            while len(self._delivered()) < count:
                await asyncio.sleep(0.05)
        return [file.read_bytes() for file in self._delivered()]

    def empty(self) -> None:
        """Forget what was delivered."""
        for file in self._delivered():
            file.unlink()

    def log(self) -> str:
        """All that it wrote down."""
        return "".join(file.read_text(errors="replace") for file in sorted((self.folder / "log").iterdir()))

    def _delivered(self) -> list[Path]:
        return list((self.folder / "mail" / "new").glob("*"))


def wait_until_greeting(process: "subprocess.Popen[bytes]", port: int, folder: Path) -> None:
    """Return when the server greets."""
    for _ in range(400):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as probe:
                if probe.recv(3) == b"220":
                    probe.sendall(b"QUIT\r\n")
                    return
        except OSError:
            pass
        try:
            _, errors = process.communicate(timeout=0.05)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail(f"the mail server did not start: {errors.decode()} {_logged(folder)}")
    pytest.fail(f"the mail server does not listen: {_logged(folder)}")


def stop(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    """End it, and remove its folder."""
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    shutil.rmtree(folder, ignore_errors=True)


def _logged(folder: Path) -> str:
    return "".join(file.read_text(errors="replace") for file in (folder / "log").glob("*"))
