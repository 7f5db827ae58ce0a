"""When a child has taken too long, and what that cost: processor time, not the clock of a machine that is busy."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from tidings.notify.render.process import Child, ChildWatch


class _Loop:
    """Timers that go off when we say so."""

    def __init__(self) -> None:
        self.next: Callable[[], Any] | None = None

    def call_later(self, _: float, look: Callable[[], Any]) -> "_Loop":
        self.next = look
        return self

    def cancel(self) -> None:
        self.next = None


class _Child:
    """What a watch sees of a child."""

    most_resident = 1000

    def __init__(self, processor: float) -> None:
        self.processor = processor
        self.killed = ""

    def used(self) -> tuple[float, int]:
        return self.processor, 10

    def kill(self, why: str) -> None:
        self.killed = why


class _Watched:
    def __init__(self, loop: _Loop, child: _Child) -> None:
        self.child = child
        self._loop = loop
        self.watch = ChildWatch(cast("Child", child), 2.0)

    def look(self, *, at_work: float) -> str:
        self.child.processor += at_work
        if self._loop.next is not None:
            self._loop.next()
        return self.child.killed


@contextmanager
def _watched(monkeypatch: pytest.MonkeyPatch, processor: float) -> Iterator[_Watched]:
    loop = _Loop()
    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "get_running_loop", lambda: loop)
        yield _Watched(loop, _Child(processor))


def test_processor_time_is_counted_from_the_beginning_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    with _watched(monkeypatch, 50.0) as one:
        assert [one.look(at_work=0.1) for _ in range(19)] == [""] * 19
        assert one.look(at_work=0.11) == "took_too_long"
        assert one.watch.used == pytest.approx(2.0, abs=0.02)


def test_one_that_hardly_runs_is_ended_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it cost its tenant is what it used, not how long the machine was busy with others."""
    with _watched(monkeypatch, 50.0) as one:
        looks = 0
        while not one.look(at_work=0.001):
            looks += 1
        assert one.child.killed == "took_too_long"
        assert looks == pytest.approx(200, abs=2)
        assert one.watch.used < 0.5
