"""The program of a child process: reads calls from a pipe, renders, answers. Started by `process.Child` alone.

It gets an empty environment and no descriptors but its pipes. It takes every right from itself before the first call.
"""

import os
import sys
import sysconfig
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from tidings.notify.render import confine
from tidings.notify.render.errors import IsolateFailedError
from tidings.notify.render.frames import LENGTH_BYTES, ChildAnswer, RenderCall, frame_of, length_of, read_call
from tidings.notify.render.isolate import Isolate, library, program
from tidings.notify.render.model import RenderLimits

#: What a child can be asked for: the body of a call, and the body of its answer.
Ability = Callable[[bytes], bytes]
Abilities = Callable[[Isolate, RenderLimits], Mapping[str, Ability]]

_decode_render: Final = msgspec.msgpack.Decoder(RenderCall).decode
_PACKAGE: Final = Path(__file__).parents[2]


def readable() -> list[Path]:
    """Where the program, its libraries, and the tables of locales and zones are."""
    folders = {Path(sys.prefix), Path(sys.base_prefix), _PACKAGE, library().parent}
    folders |= {Path(found) for name in ("purelib", "platlib") if (found := sysconfig.get_path(name))}
    folders |= {
        Path(name) for name in ("/usr/lib", "/lib", "/usr/share/zoneinfo", "/dev/urandom", "/dev/null")
    }
    return [folder for folder in folders if folder.exists()]


def rendering(isolate: Isolate) -> Ability:
    """Renders sets."""

    def render(body: bytes) -> bytes:
        asked = _decode_render(body)
        for name, argument in asked.loads:
            isolate.call(name, argument)
        return isolate.render_set(asked.jobs, asked.slice_ms).encode("utf-8", "surrogatepass")

    return render


def run(abilities: Abilities) -> None:
    """Be a child until the pipe ends. The first argument has the limits."""
    code = 1
    try:
        _run(abilities)
        code = 0
    except BaseException:  # noqa: BLE001  # the error output of a child that is at work leads nowhere
        traceback.print_exc()
    finally:
        # V8 has threads of its own, and would wait for them.
        os._exit(code)


def _run(abilities: Abilities) -> None:
    confine.leave_alone()
    limits = msgspec.json.decode(sys.argv[1], type=RenderLimits)
    os.nice(limits.nice)
    calls, answers = os.dup(0), os.dup(1)
    # What a library prints must not come among the frames.
    os.dup2(2, 1)
    source = program()
    memory = confine.shut_in(readable())
    isolate = Isolate(limits, source)
    known = abilities(isolate, limits)
    confine.set_limits(limits.memory_bytes, memory)
    _write(answers, frame_of(ChildAnswer(body=b"", seconds=time.process_time())))
    while (head := _read(calls, LENGTH_BYTES)) is not None:
        whole = _read(calls, length_of(head))
        if whole is None:
            return
        answer = _answered(known, whole)
        _write(answers, frame_of(answer))
        if answer.fault == "memory":
            # What is left of V8 then is not to be trusted.
            return


def _answered(known: Mapping[str, Ability], whole: bytes) -> ChildAnswer:
    began = time.process_time()
    body, fault = b"", ""
    try:
        call = read_call(whole)
        body = known[call.name](call.body)
    except (MemoryError, IsolateFailedError):
        fault = "memory"
    except RecursionError:
        fault = "depth"
    except Exception:  # noqa: BLE001  # its words could hold what a tenant wrote
        fault = "broken"
    return ChildAnswer(body=body, seconds=time.process_time() - began, fault=fault)


def _read(source: int, count: int) -> bytes | None:
    found = bytearray()
    while len(found) < count:
        piece = os.read(source, min(count - len(found), 1 << 20))
        if not piece:
            return None
        found += piece
    return bytes(found)


def _write(target: int, whole: bytes) -> None:
    view = memoryview(whole)
    while view:
        view = view[os.write(target, view) :]


if __name__ == "__main__":
    run(lambda isolate, _: {"render": rendering(isolate)})
