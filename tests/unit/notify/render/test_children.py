"""Rendering happens in child processes that have nothing: what a tenant writes can end a child, and no more than that."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from tests.support.rendering import content
from tidings.notify.render.budget import Budget
from tidings.notify.render.engine import V8Renderer
from tidings.notify.render.errors import RenderInterruptedError
from tidings.notify.render.frames import ChildAnswer
from tidings.notify.render.lane import RenderLane
from tidings.notify.render.model import Content, Rendered, RenderFailed, RenderJob, RenderLimits
from tidings.notify.render.process import Child

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="Linux says what a process has; others don't")
#: Counting stops nothing, so that the operating system has to.
UNCOUNTED = RenderLimits(steps=10**12, output=2**29, seconds=0.4, slice_seconds=5.0)


def loops(depth: int) -> str:
    return "".join(f"{{{{#each {'../' * n}l}}}}" for n in range(depth)) + "x" + "{{/each}}" * depth


def job(wanted: Content, **variables: object) -> RenderJob:
    return RenderJob(
        content=wanted, tenant="tenant", variables={"l": list(range(60)), **variables}, locale="en"
    )


@pytest.fixture
async def uncounted() -> AsyncIterator[V8Renderer]:
    renderer = V8Renderer(limits=UNCOUNTED)
    yield renderer
    await renderer.close()


@LINUX
async def test_a_child_has_no_environment_and_nothing_open_but_its_pipes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TIDINGS_MASTER_KEY", "a secret")
    secret = os.open("/etc/hostname", os.O_RDONLY)
    os.set_inheritable(secret, True)
    renderer = V8Renderer()
    await renderer.open()
    [pid] = renderer.pids
    home = Path(f"/proc/{pid}")

    environment = (home / "environ").read_bytes()
    opened = [str(one.readlink()) for one in (home / "fd").iterdir()]
    limits = (home / "limits").read_text(encoding="ascii")
    status = (home / "status").read_text(encoding="ascii")

    assert environment == b""
    # V8's side has an event loop of its own, which is a socket pair with itself.
    assert {name.partition(":")[0] for name in opened} <= {"pipe", "/dev/null", "anon_inode", "socket"}
    assert not any("hostname" in name for name in opened)
    for bound in ("Max core file size", "Max file size", "Max processes"):
        assert [line.split()[-3] for line in limits.splitlines() if line.startswith(bound)] == ["0"]
    assert "unlimited" not in next(line for line in limits.splitlines() if line.startswith("Max data size"))
    assert "NoNewPrivs:\t1" in status
    assert "CapEff:\t0000000000000000" in status
    await renderer.close()
    os.close(secret)
    assert not home.exists()


async def test_a_child_that_does_not_get_ready_leaves_a_way_to_see_why() -> None:
    """An installation that an isolated Python does not find, too little address space: the message names a command that tells."""
    lane = RenderLane("tidings.nowhere", RenderLimits())
    with pytest.raises(RenderInterruptedError, match=r"run .*: python -I -m tidings\.nowhere '\{\}'"):
        await lane.open()
    await lane.close()


def test_a_child_that_is_started_by_hand_says_what_is_wrong() -> None:
    command = [sys.executable, "-I", "-m", "tidings.notify.render.child"]
    broken = subprocess.run([*command, "[]"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    whole = subprocess.run([*command, "{}"], stdin=subprocess.DEVNULL, capture_output=True, check=False)

    assert broken.returncode == 1
    assert b"Expected `object`, got `array`" in broken.stderr
    assert (whole.returncode, whole.stderr) == (0, b"")


@LINUX
def test_a_child_reads_no_files_but_its_program(tmp_path: Path) -> None:
    """A hole in V8 or in a parser leads to nothing: no key file, no process beside, no connection."""
    key = tmp_path / "master.key"
    key.write_text("a secret", encoding="utf-8")
    key.chmod(0o644)
    program = (
        "import os, socket, sys\n"
        "from pathlib import Path\n"
        "from tidings.notify.render import confine\n"
        "os.close(confine.shut_in([Path(sys.prefix)]))\n"
        "for name in sys.argv[1:]:\n"
        "    try: open(name, 'rb').read(); print('read')\n"
        "    except OSError as error: print(type(error).__name__)\n"
    )
    asked = [str(key), f"/proc/{os.getpid()}/environ", "/etc/passwd"]
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, *asked], capture_output=True, text=True, check=True
    )

    if "read" in done.stdout and not _has_landlock():
        pytest.skip("this kernel has no Landlock; a child is another user only where we are root")
    assert done.stdout.split() == ["PermissionError"] * 3


def _has_landlock() -> bool:
    import ctypes

    return int(ctypes.CDLL(None).syscall(444, None, 0, 1)) > 0


async def test_one_that_takes_too_long_fails_alone(uncounted: V8Renderer) -> None:
    good, slow = content(text="Hello {{name}}"), content(text=loops(6))

    results = await uncounted.render([job(one, name="Laila") for one in (good, slow, good)])

    assert [one.text for one in results if isinstance(one, Rendered)] == ["Hello Laila"] * 2
    assert isinstance(results[1], RenderFailed)
    assert results[1].code == "took_too_long"


async def test_one_that_needs_too_much_memory_fails_alone() -> None:
    limits = replace(UNCOUNTED, seconds=20.0, heap_bytes=48 * 1024 * 1024, memory_bytes=128 * 1024 * 1024)
    renderer = V8Renderer(limits=limits)
    # Each turn makes a text of its own; together they don't fit.
    greedy = content(text="{{#each l}}{{#tidings_json}}{{../big}}{{/tidings_json}}{{/each}}")
    good = content(text="Hello {{name}}")

    results = await renderer.render(
        [job(one, name="Laila", big="س" * 500_000) for one in (good, greedy, good)]
    )

    assert [one.text for one in results if isinstance(one, Rendered)] == ["Hello Laila"] * 2
    assert isinstance(results[1], RenderFailed)
    assert results[1].code in ("needed_too_much_memory", "killed_the_renderer")
    await renderer.close()


@LINUX
async def test_a_child_is_not_blamed_where_we_stood_still(
    uncounted: V8Renderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that was asleep, or a loop that was busy: when we look again, the clock has gone on and the child has not."""
    await uncounted.open()
    [pid] = before = uncounted.pids
    os.kill(pid, signal.SIGSTOP)
    asked = asyncio.create_task(uncounted.render([job(content(text="Hello {{name}}"), name="Laila")]))
    while not uncounted.at_work:
        await asyncio.sleep(0)
    loop = asyncio.get_running_loop()
    usual = loop.time
    monkeypatch.setattr(loop, "time", lambda: usual() + 3600)
    # Whoever looks does so now.
    await asyncio.sleep(0.01)
    os.kill(pid, signal.SIGCONT)
    [result] = await asked

    assert isinstance(result, Rendered)
    assert uncounted.pids == before


async def test_a_child_that_somebody_kills_costs_no_message(uncounted: V8Renderer) -> None:
    """Whoever ends it, a set that was under way is rendered by the next one."""
    good = content(text="Hello {{name}}")
    await uncounted.open()
    before = uncounted.pids
    os.kill(before[0], signal.SIGSTOP)
    rendering = asyncio.create_task(uncounted.render([job(good, name=str(n)) for n in range(3)]))
    await asyncio.sleep(0)
    os.kill(before[0], signal.SIGKILL)

    results = await rendering

    assert [one.text for one in results if isinstance(one, Rendered)] == [f"Hello {n}" for n in range(3)]
    assert before[0] not in uncounted.pids


@pytest.mark.parametrize(
    "nonsense", [b"", b"one field", b"\xff\xfe", b"\x00" * 9], ids=["none", "few", "bytes", "two"]
)
async def test_a_child_that_answers_nonsense_is_not_asked_again(
    nonsense: bytes, uncounted: V8Renderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one would that somebody has broken into; the message is rendered by another."""
    real, asked = Child.call, 0

    async def call(self: Child, name: str, body: bytes, *, seconds: float | None = None) -> ChildAnswer:
        nonlocal asked
        asked += 1
        answer = await real(self, name, body, seconds=seconds)
        return ChildAnswer(body=nonsense, seconds=0.0) if asked == 1 else answer

    await uncounted.open()
    [before] = uncounted.pids
    monkeypatch.setattr(Child, "call", call)

    [done] = await uncounted.render([job(content(text="{{l.length}}"))])

    assert isinstance(done, Rendered)
    assert before not in uncounted.pids


async def test_what_never_began_did_not_take_too_long(uncounted: V8Renderer) -> None:
    """Stopping is nobody's fault: the messages stay in the queue."""
    await uncounted.open()
    os.kill(uncounted.pids[0], signal.SIGSTOP)
    good = content(text="Hello {{name}}")
    turns = [asyncio.create_task(uncounted.render([job(good, name="Laila")])) for _ in range(3)]
    await asyncio.sleep(0)

    await uncounted.close()

    for turn in turns:
        with pytest.raises(RenderInterruptedError):
            await turn


async def test_slow_messages_of_one_tenant_do_not_hold_up_another() -> None:
    """What takes long goes by a lane of its own, as soon as it is known to."""
    renderer = V8Renderer(
        limits=replace(UNCOUNTED, seconds=20.0, slice_seconds=0.01),
        budget=Budget(at_once=0.01, per_minute=0.01),
    )
    slow, good = content(text=loops(3)), content(text="Hello {{name}}")
    await renderer.render([job(slow)])
    assert not renderer.held_up

    attack = asyncio.create_task(renderer.render([job(slow)] * 20))
    while not renderer.held_up:
        await asyncio.sleep(0.001)
    others = [structs.replace(job(good, name=str(n)), tenant="other") for n in range(20)]
    results = await renderer.render(others)

    assert [one.text for one in results if isinstance(one, Rendered)] == [f"Hello {n}" for n in range(20)]
    assert renderer.held_up == {"tenant"}
    assert not attack.done()
    attack.cancel()
    await asyncio.gather(attack, return_exceptions=True)
    await renderer.close()


async def test_a_text_that_takes_long_to_compile_goes_by_the_slow_lane() -> None:
    renderer = V8Renderer()
    heavy = content(text="{{#if l}}{{name}}{{/if}}" * 300)

    rendering = asyncio.create_task(renderer.render([job(heavy, name="x")]))
    await asyncio.sleep(0)
    held_up = renderer.held_up
    [result] = await rendering

    assert held_up == {"tenant"}
    assert isinstance(result, Rendered)
    assert result.text == "x" * 300
    await renderer.close()


async def test_a_set_is_answered_in_slices() -> None:
    """Others have their turn between them; every message is rendered all the same, in its place."""
    renderer = V8Renderer(limits=RenderLimits(slice_seconds=0.0))
    wanted = content(text="Hello {{name}}")

    results = await renderer.render([job(wanted, name=str(n)) for n in range(7)])

    assert [one.text for one in results if isinstance(one, Rendered)] == [f"Hello {n}" for n in range(7)]
    await renderer.close()


async def test_tenants_share_a_call_and_each_has_its_own_result() -> None:
    renderer, calls = _counting_renderer(replace(UNCOUNTED, seconds=20.0, slice_seconds=20.0))
    jobs = [
        structs.replace(job(content(text=f"{n % 3}: {{{{name}}}}"), name=str(n)), tenant=f"t{n % 3}")
        for n in range(9)
    ]

    results = await renderer.render(jobs)

    assert [one.text for one in results if isinstance(one, Rendered)] == [f"{n % 3}: {n}" for n in range(9)]
    assert calls == ["t0 t1 t2"]
    await renderer.close()


async def test_who_may_have_made_a_shared_call_slow_is_rendered_apart_until_it_is_not() -> None:
    renderer, calls = _counting_renderer(replace(UNCOUNTED, seconds=20.0, slice_seconds=20.0))
    slow, good = content(text=loops(3)), content(text="Hello {{name}}")
    mixed = [
        structs.replace(job(good, name="a"), tenant="honest"),
        structs.replace(job(slow), tenant="slow"),
        structs.replace(job(good, name="b"), tenant="honest"),
    ]

    for _ in range(2):
        results = await renderer.render(mixed)
        assert [one.text for one in results if isinstance(one, Rendered)][::2] == ["Hello a", "Hello b"]
    assert calls[0] == "honest slow"
    assert sorted(calls[1:]) == ["honest", "slow"]

    calls.clear()
    await renderer.render([*mixed[::2], structs.replace(job(good, name="c"), tenant="third")])
    assert calls == ["honest third"]
    await renderer.close()


async def test_a_message_that_kills_a_shared_call_fails_alone(uncounted: V8Renderer) -> None:
    endless, good = content(text=loops(6)), content(text="Hello {{name}}")
    jobs = [structs.replace(job(good, name=f"{n}"), tenant=f"t{n}") for n in range(4)]
    jobs[2] = structs.replace(job(endless), tenant="t2")

    results = await uncounted.render(jobs)

    assert isinstance(results[2], RenderFailed)
    assert results[2].code == "took_too_long"
    assert [one.text for one in results if isinstance(one, Rendered)] == ["Hello 0", "Hello 1", "Hello 3"]
    # Those beside it were only rendered alone because of it.
    assert [one.tenant for one in jobs if uncounted.slow_lately(one.tenant)] == ["t2"]


async def test_whose_message_took_longer_than_the_slice_of_a_shared_call_is_charged_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A call ends with the message that its slice was over in: the last of those that are answered."""
    # A slice that no machine is too slow for: the call answers all three.
    renderer, calls = _counting_renderer(replace(UNCOUNTED, seconds=20.0, slice_seconds=20.0))
    real, took = Child.call, [21.0]

    async def call(self: Child, name: str, body: bytes, *, seconds: float | None = None) -> ChildAnswer:
        answer = await real(self, name, body, seconds=seconds)
        return ChildAnswer(body=answer.body, seconds=took.pop() if took else 0.0)

    monkeypatch.setattr(Child, "call", call)
    good = content(text="Hello {{name}}")
    jobs = [structs.replace(job(good, name="x"), tenant=name) for name in ("a", "b", "slow")]

    await renderer.render(jobs)
    slow = [one.tenant for one in jobs if renderer.slow_lately(one.tenant)]
    calls.clear()
    # A quick one does not clear it: it has used up its time.
    for _ in range(2):
        await renderer.render(jobs)

    assert slow == ["slow"]
    assert sorted(calls) == ["a b", "a b", "slow", "slow"]
    await renderer.close()


def _counting_renderer(limits: RenderLimits | None = None) -> tuple[V8Renderer, list[str]]:
    """And the tenants of every call that it makes."""
    calls: list[str] = []

    class Counting(V8Renderer):
        async def _call(self, lane: RenderLane, jobs: Sequence[RenderJob]) -> list[Rendered | RenderFailed]:
            calls.append(" ".join(sorted({one.tenant for one in jobs})))
            return await super()._call(lane, jobs)

    return Counting(limits=limits), calls
