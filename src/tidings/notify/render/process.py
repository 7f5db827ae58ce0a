"""One child process as we see it: started with nothing, called over its pipes, killed where it takes too much."""

import asyncio
import contextlib
import resource
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Final, Self

import msgspec

from tidings.notify.render.errors import BrokenCallError, ChildDiedError, RenderInterruptedError
from tidings.notify.render.frames import (
    LENGTH_BYTES,
    ChildAnswer,
    ChildCall,
    frame_of,
    length_of,
    read_answer,
)
from tidings.notify.render.model import RenderLimits

#: Seconds between two looks at a child that is at work.
_LOOK: Final = 0.1
#: Where a machine is so busy that a child hardly runs, it gets so many times its seconds by the clock.
_WALL_CLOCK_FACTOR: Final = 10
#: Seconds for a child to be ready; a machine may be busy with other things.
_START: Final = 60.0
_TICKS: Final = 100
_PAGE: Final = resource.getpagesize()
#: Why a child ends that has done nothing wrong.
_CLOSING: Final = "closing"
_BUFFER: Final = 1 << 20


class Loaded:
    """What a child has in its memory."""

    def __init__(self) -> None:
        #: The keys of compiled contents, the longest unused first, with their sizes.
        self.contents: OrderedDict[str, int] = OrderedDict()
        self.content_bytes = 0
        self.tables: set[tuple[str, str]] = set()


class Child:
    """Does one call at a time."""

    def __init__(self, process: asyncio.subprocess.Process, limits: RenderLimits) -> None:
        self._process = process
        self._limits = limits
        self._why = ""
        self.loaded = Loaded()
        #: Seconds of processor time that starting took.
        self.start_seconds = 0.0

    @classmethod
    async def start(cls, program: str, limits: RenderLimits) -> Self:
        """A child that is ready; it has no environment and no descriptors but its pipes."""
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-m",
                program,
                msgspec.json.encode(limits).decode(),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={},
                close_fds=True,
                start_new_session=True,
                limit=_BUFFER,
            )
        except OSError as error:
            raise RenderInterruptedError(
                f"a child process could not be started: {error.strerror}; look at the limits of processes and memory"
            ) from None
        child = cls(process, limits)
        try:
            async with asyncio.timeout(_START):
                child.start_seconds = (await child._read()).seconds
        except (TimeoutError, EOFError, ValueError, msgspec.MsgspecError):
            await child.end()
            raise RenderInterruptedError(
                "a child process did not get ready; to see why, run as the same user and with the same limits: "
                f"python -I -m {program} '{{}}'"
            ) from None
        except BaseException:
            child.kill()
            raise
        return child

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can be called."""
        return self._process.returncode is None and not self._why

    async def call(self, name: str, body: bytes, *, seconds: float | None = None) -> ChildAnswer:
        """The answer; `seconds` of processor time at most. A `ChildDiedError` where there is none."""
        watch = ChildWatch(self, seconds or self._limits.seconds)
        try:
            self._pipe().write(frame_of(ChildCall(name, body)))
            await self._pipe().drain()
            answer = await self._read()
        except (EOFError, ConnectionError, ValueError, msgspec.MsgspecError):
            self.kill("killed_the_renderer")
            raise self._died(watch.used) from None
        except BaseException:
            # The answer to an earlier call would come first.
            self.kill("killed_the_renderer")
            raise
        finally:
            watch.end()
        if answer.fault == "memory":
            self.kill("needed_too_much_memory")
            raise self._died(answer.seconds)
        if answer.fault:
            raise BrokenCallError(f"a child process could not do {name}: {answer.fault}")
        return answer

    def _died(self, seconds: float) -> ChildDiedError | RenderInterruptedError:
        if self._why == _CLOSING:
            return RenderInterruptedError("rendering is closing")
        return ChildDiedError(self._why, seconds=seconds)

    def kill(self, why: str = _CLOSING) -> None:
        """End it at once; the first reason counts."""
        self._why = self._why or why
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def end(self) -> None:
        """End it, and wait until it is gone."""
        self.kill()
        await self._process.wait()
        # Python 3.11's loop leaves this to the garbage collector, which may come after the loop has ended.
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()

    def used(self) -> tuple[float, int]:
        """Seconds of processor time and bytes in memory; nothing where the system does not say."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            return 0.0, 0
        return (int(stat[11]) + int(stat[12])) / _TICKS, int(stat[21]) * _PAGE

    @property
    def most_resident(self) -> int:
        """Bytes that it may have in memory."""
        return self._limits.resident_bytes

    def _pipe(self) -> asyncio.StreamWriter:
        if self._process.stdin is None:
            raise EOFError
        return self._process.stdin

    async def _read(self) -> ChildAnswer:
        if self._process.stdout is None:
            raise EOFError
        head = await self._process.stdout.readexactly(LENGTH_BYTES)
        return read_answer(await self._process.stdout.readexactly(length_of(head)))


class ChildWatch:
    """Looks at a child while it is at work; costs a timer where it answers soon.

    The clock is counted by looks: while we stood still ourselves, the child is not blamed for the time.
    """

    def __init__(self, child: Child, seconds: float) -> None:
        self._child = child
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._every = min(_LOOK, seconds)
        self._looks = 0
        self._before: float | None = None
        #: Seconds of processor time up to the last look; by the clock where the system does not say.
        self.used = 0.0
        self._timer = self._loop.call_later(self._every, self._look)

    def end(self) -> None:
        """It has answered, or will not."""
        self._timer.cancel()

    def _look(self) -> None:
        processor, resident = self._child.used()
        if self._before is None:
            # When it began is not known; up to the first look it was at work for that long at most.
            self._before = max(0.0, processor - self._every)
        self._looks += 1
        by_clock = self._looks * self._every
        self.used = processor - self._before if processor > 0 else by_clock
        if resident > self._child.most_resident:
            return self._child.kill("needed_too_much_memory")
        if self.used >= self._seconds or by_clock >= self._seconds * _WALL_CLOCK_FACTOR:
            return self._child.kill("took_too_long")
        self._timer = self._loop.call_later(self._every, self._look)
        return None
