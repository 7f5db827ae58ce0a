"""One V8 isolate with Handlebars and our helpers in it. Only a child process has one."""

from functools import cache
from pathlib import Path
from typing import Final, cast

import msgspec
import py_mini_racer
from py_mini_racer import JSEvalException, JSMappedObject, MiniRacer, init_mini_racer

from tidings.kernel.errors import NotConfiguredError
from tidings.notify.render.errors import IsolateFailedError
from tidings.notify.render.model import RenderLimits

_HERE: Final = Path(__file__).parent
_HANDLEBARS: Final = _HERE / "assets" / "handlebars.min.js"
#: In this order, inside one function.
_SOURCES: Final = ("numbers.js", "moments.js", "links.js", "engine.js")
#: One thread for V8 itself, heaps that give memory back rather than keep it for speed, and no compilers: they are where
#: V8's holes are, and where one function takes gigabytes that no limit of V8 counts.
_FLAGS: Final = ("--single-threaded", "--optimize-for-size", "--jitless")
#: Characters from which a text is given as a value. Written into the program it would be compiled, and V8 keeps that
#: until it tidies its heap: 20 MB under load. A value takes one more switch between threads, which small ones are spared.
_LARGE: Final = 16 * 1024
_encode: Final = msgspec.json.Encoder().encode


def library() -> Path:
    """Where V8 lies."""
    return Path(py_mini_racer.__file__)


def check_assets() -> None:
    """A `NotConfiguredError` where the installation is not whole."""
    if not _HANDLEBARS.exists():
        raise NotConfiguredError(
            "handlebars.min.js is missing from the installation; in a clone, run: python tools/fetch_assets.py"
        )


@cache
def program() -> str:
    """What V8 evaluates first."""
    check_assets()
    ours = "\n".join((_HERE / "js" / name).read_text(encoding="utf-8") for name in _SOURCES)
    # Handlebars looks for module systems first; in a bare context it becomes a global.
    return f"{_HANDLEBARS.read_text(encoding='utf-8')}\n;globalThis.tidings = (function () {{\n{ours}\n}})();"


class Isolate:
    """Belongs to one thread; nothing interrupts it but the end of its process."""

    def __init__(self, limits: RenderLimits, source: str) -> None:
        init_mini_racer(flags=_FLAGS, ignore_duplicate_init=True)
        self._racer = MiniRacer()
        self._racer.set_hard_memory_limit(limits.heap_bytes)
        self._racer.eval(source)
        self._engine = cast("JSMappedObject", self._racer.eval("tidings"))
        bounds = {
            "steps": limits.steps,
            "depth": limits.depth,
            "output": limits.output,
            "longest": limits.longest_expression,
        }
        self.call("limit", _encode(bounds).decode())

    def call(self, name: str, argument: str) -> str:
        """The text that a function of the engine gives for a text."""
        return self._eval(f"tidings.{name}({self._expression(argument)})")

    def render_set(self, jobs: str, slice_ms: int) -> str:
        """Five fields for each message that was begun, and those are the first ones."""
        return self._eval(f"tidings.renderSet({self._expression(jobs)},{slice_ms})")

    def _expression(self, text: str) -> str:
        """What stands for a text in a program."""
        if len(text) < _LARGE:
            return _encode(text).decode()
        try:
            self._engine["given"] = text
        except JSEvalException:
            raise IsolateFailedError from None
        return "tidings.taken()"

    def _eval(self, statement: str) -> str:
        try:
            return str(self._racer.eval(statement))
        except JSEvalException:
            # What was running when the memory ended fails with an unnamed error.
            raise IsolateFailedError from None

    def close(self) -> None:
        """Give the memory back."""
        self._racer.close()
