"""A real `tidings up`, in a process of its own, for the tests that need one."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2
import psutil

from tests.support.forked import ForkedProcess

#: Long enough for a slow and busy machine; nothing is asserted about it.
PATIENCE = 60.0
TIDINGS = (sys.executable, "-m", "tidings")


def wait_until(condition: Any, what: str, patience: float = PATIENCE) -> Any:
    """Ask again and again until it says yes, less and less often: to be asked costs the others time; what it said."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) < patience:
        if found := condition():
            return found
        time.sleep(min(0.02 + waited / 10, 0.2))
    raise AssertionError(f"waited in vain for {what}")


def clean_environment(**extra: str) -> dict[str, str]:
    """The environment of a machine with nothing installed and nothing set."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TIDINGS_")}
    return kept | {"PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1"} | extra


def run_tidings(*arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    """One command, to its end; forked, where that can be, from a process that has imported Tidings."""
    environment = clean_environment(**extra)
    if sys.platform != "linux":
        return subprocess.run(
            [*TIDINGS, *arguments],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=environment,
            check=False,
        )
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = ForkedProcess(arguments, output=out, errors=err, env=environment)
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        said = [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode() for file in (out, err)]
    return subprocess.CompletedProcess(process.args, code, *said)


class RunningTidings:
    """`tidings up` with a data dir of its own; a context manager that leaves nothing behind."""

    def __init__(
        self,
        data_dir: Path,
        *,
        program: tuple[str, ...] | None = None,
        port: int = 0,
        words: Sequence[str] = (),
        **extra: str,
    ) -> None:
        """Started by `program`, or else forked from a process that has imported Tidings; with more `words`, and `extra` in its environment."""
        self.data_dir = data_dir
        self._output = tempfile.TemporaryFile()
        words = ("up", "--data-dir", str(data_dir), "--port", str(port), *words)
        environment = clean_environment(**extra)
        self.process: ForkedProcess | subprocess.Popen[bytes]
        if program is None and sys.platform == "linux":
            self.process = ForkedProcess(words, output=self._output, env=environment)
        else:
            self.process = subprocess.Popen(
                [*(program or TIDINGS), *words],
                stdout=self._output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
        self._family: list[psutil.Process] = []

    def __enter__(self) -> Self:
        self.await_ready()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.stop()

    @property
    def demo(self) -> dict[str, Any]:
        """What `demo.json` says."""
        found: dict[str, Any] = json.loads((self.data_dir / "demo.json").read_text())
        return found

    @property
    def output(self) -> str:
        """Everything it printed so far."""
        self._output.seek(0)
        return self._output.read().decode()

    def await_ready(self) -> None:
        """Wait until `/readyz` says yes."""

        def ready() -> bool:
            if self.process.poll() is not None:
                raise AssertionError(f"it ended with {self.process.returncode}:\n{self.output}")
            try:
                demo = self.demo
                if demo["pid"] != self.process.pid:
                    return False
                return httpx2.get(f"{demo['base_url']}/readyz", timeout=5).status_code == 200
            except (OSError, ValueError, KeyError, httpx2.HTTPError):
                return False

        wait_until(ready, "tidings up to be ready")
        self._family = [
            psutil.Process(self.process.pid),
            *psutil.Process(self.process.pid).children(recursive=True),
        ]

    def client(self, key: str = "api_key", **headers: str) -> httpx2.Client:
        """An HTTP client of the demo tenant (or the platform)."""
        demo = self.demo
        return httpx2.Client(
            base_url=demo["base_url"], headers={"Authorization": f"Bearer {demo[key]}"} | headers, timeout=30
        )

    def stop(self, with_signal: signal.Signals = signal.SIGINT) -> int:
        """As Ctrl-C does it; its exit code."""
        self.process.send_signal(with_signal)
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        """As `kill -9` does it, to the one process and not to its children."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def await_nobody_left(self) -> None:
        """Wait until every process that it started has ended."""
        wait_until(
            lambda: (
                not any(
                    member.is_running() and member.status() != psutil.STATUS_ZOMBIE for member in self._family
                )
            ),
            "all its processes to end",
        )
