"""Little folders of migrations, and runners of them that can be killed."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from tidings.operations.migrations.progress import Event

_RUNNER = """
import asyncio, sys
from pathlib import Path
from tidings.operations.migrations.runner import migrate_up
asyncio.run(migrate_up(sys.argv[1], folder=Path(sys.argv[2]), report=lambda event: print(event, flush=True)))
"""
#: Long enough for a slow machine; reached only when something is broken.
DEADLINE = 60


def write_migrations(folder: Path, files: dict[str, str]) -> Path:
    """Write files by name, `down/…` included; the folder they are in."""
    for name, sql in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sql, encoding="utf-8")
    return folder


class Watcher:
    """A report that remembers what it was told, and can be waited for."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._news = asyncio.Event()

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        self._news.set()

    def lines(self) -> list[str]:
        """What an operator would have read."""
        return [str(event) for event in self.events]

    async def heard(self, kind: type[Event]) -> None:
        """Return once an event of this kind was told."""
        async with asyncio.timeout(DEADLINE):
            while not any(isinstance(event, kind) for event in self.events):
                self._news.clear()
                await self._news.wait()


class RunnerProcess:
    """A `migrate up` in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, url: str, folder: Path) -> "RunnerProcess":
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _RUNNER, url, str(folder),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        return cls(process)

    async def first_line(self) -> str:
        """Wait until it has something to say: the database is reached, a file begins, or it has ended."""
        assert self._process.stdout is not None
        async with asyncio.timeout(DEADLINE):
            return (await self._process.stdout.readline()).decode()

    async def kill(self) -> None:
        """SIGKILL: no clean-up of any kind runs."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.communicate()

    async def finish(self) -> tuple[int | None, str]:
        """Wait for its end: exit code and output."""
        async with asyncio.timeout(DEADLINE):
            output, _ = await self._process.communicate()
        return self._process.returncode, output.decode()


async def until(condition: Callable[[], Awaitable[object]]) -> None:
    """Ask until the answer is true."""
    async with asyncio.timeout(DEADLINE):
        while not await condition():
            await asyncio.sleep(0.02)
