"""One V8 isolate with Handlebars and our helpers in it, called with a deadline."""

import asyncio
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from py_mini_racer import JSEvalException, JSOOMException, MiniRacer, init_mini_racer

from tidings.kernel.errors import NotConfiguredError
from tidings.notify.render.errors import IsolateFailedError
from tidings.notify.render.locales import currency_precisions
from tidings.notify.render.model import RenderLimits

_HERE: Final = Path(__file__).parent
_HANDLEBARS: Final = _HERE / "assets" / "handlebars.min.js"
#: In this order, inside one function.
_SOURCES: Final = ("numbers.js", "moments.js", "links.js", "engine.js")
#: One thread for V8 itself, and heaps that give memory back rather than keep it for speed.
_FLAGS: Final = ("--single-threaded", "--optimize-for-size")
_encode: Final = msgspec.json.Encoder().encode


@cache
def _program() -> str:
    if not _HANDLEBARS.exists():
        raise NotConfiguredError(
            "handlebars.min.js is missing from the installation; in a clone, run: python tools/fetch_assets.py"
        )
    init_mini_racer(flags=_FLAGS, ignore_duplicate_init=True)
    ours = "\n".join((_HERE / "js" / name).read_text(encoding="utf-8") for name in _SOURCES)
    # Handlebars looks for module systems first; in a bare context it becomes a global.
    return f"{_HANDLEBARS.read_text(encoding='utf-8')}\n;globalThis.tidings = (function () {{\n{ours}\n}})();"


class Isolate:
    """Lives on the event loop that makes it; not shared between loops."""

    def __init__(self, limits: RenderLimits) -> None:
        program = _program()
        self._racer = MiniRacer()
        self._racer.set_hard_memory_limit(limits.heap_bytes)
        self._racer.eval(program)
        #: What has been loaded into it.
        self.locales: set[str] = set()
        self.zones: set[str] = set()
        settings = {
            "limits": {"steps": limits.steps, "depth": limits.depth, "output": limits.output},
            "precisions": currency_precisions(),
        }
        self._racer.eval(_statement("configure", _encode(settings).decode()))

    async def call(self, name: str, argument: str, *, seconds: float) -> str:
        """The text that a function of the engine gives for a text; ended where it takes longer."""
        try:
            answer = await asyncio.wait_for(self._racer.eval_cancelable(_statement(name, argument)), seconds)
        except TimeoutError:
            raise IsolateFailedError("it took too long", reusable=True) from None
        except JSOOMException:
            raise IsolateFailedError("it needed too much memory", reusable=False) from None
        except JSEvalException:
            # What was running when the memory ended fails with an unnamed error; the next call would tell.
            raise IsolateFailedError("V8 gave up", reusable=False) from None
        return str(answer)

    async def send(self, name: str, value: Any, *, seconds: float) -> None:
        """Load something."""
        await self.call(name, _encode(value).decode(), seconds=seconds)

    def close(self) -> None:
        """Give the memory back."""
        self._racer.close()


def _statement(name: str, argument: str) -> str:
    # One trip into V8. Calling a function object takes three, two of which hold up the event loop.
    return f"tidings.{name}({_encode(argument).decode()})"
