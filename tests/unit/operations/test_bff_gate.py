"""The gate of the back office: what is asked for, at which rate, and what has to hold of the answers."""

import asyncio
from random import Random
from typing import Any

import aiohttp
import pytest

from tidings.operations.bff_gate.load import GateLoad, GateSample
from tidings.operations.bff_gate.machine import ProcessorTime, foreign_share, processor_time
from tidings.operations.bff_gate.mix import GateSeat, draw
from tidings.operations.bff_gate.verdict import GateMeasured, judge
from tidings.sandbox.http_messages import HeldResponse, SandboxRequest, SandboxResponse
from tidings.sandbox.http_server import HttpSandbox

_SEAT = GateSeat(cookie="a=b", csrf_token="c", device_id="dev_1", properties=("hotel", "school"))


def _sample(
    seconds: float = 0.01, *, kind: str = "board", status: int = 200, late: float = 0.0
) -> GateSample:
    return GateSample(0.0, seconds, late, kind, status, 0)


def _measured(**other: Any) -> GateMeasured:
    well: dict[str, Any] = {
        "rate": 100.0,
        "steady": [_sample()] * 100,
        "steady_seconds": 1.0,
        "before_joining": [_sample()] * 50,
        "after_joining": [_sample()] * 50,
        "left_out": 0,
        "views": {"hit": 95, "made": 5},
        "hot_state_seconds": [0.002] * 50,
        "outbox_seconds": 0.5,
        "outbox_rows": 3,
        "connections": 20,
        "processes": 4,
        "foreign": 0.01,
    }
    return GateMeasured(**{**well, **other})


def test_a_quiet_house_passes() -> None:
    verdict = judge(_measured())

    assert [line.name for line in verdict.lines if line.outcome == "FAIL"] == []
    assert (verdict.busy, verdict.exit_code) == ([], 0)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("rate", {"steady": [_sample()] * 97}),
        ("rate", {"left_out": 1}),
        ("answers", {"steady": [_sample()] * 99 + [_sample(status=503)]}),
        ("answers", {"after_joining": [_sample(status=0)] * 50}),
        ("cached views", {"steady": [_sample()] * 94 + [_sample(0.2)] * 6}),
        ("cached views", {"steady": [_sample(kind="session")] * 100}),
        ("hit ratio", {"views": {"hit": 89, "made": 11}}),
        ("hit ratio", {"views": {}}),
        ("hot state", {"hot_state_seconds": [0.002] * 90 + [0.006] * 10}),
        ("hot state", {"hot_state_seconds": []}),
        ("outbox", {"outbox_seconds": 61.0}),
        ("outbox", {"outbox_rows": 5_000}),
        ("connections", {"connections": 65}),
        ("connections", {"connections": 0}),
        ("cold start", {"after_joining": [_sample(0.020)] * 50}),
        ("cold start", {"after_joining": []}),
    ],
)
def test_each_line_fails_for_its_own_reason(name: str, wrong: dict[str, Any]) -> None:
    verdict = judge(_measured(**wrong))

    assert name in {line.name for line in verdict.lines if line.outcome == "FAIL"}
    assert verdict.exit_code == 1


def test_a_failure_on_a_busy_machine_proves_nothing_and_a_success_does() -> None:
    slow = [_sample(0.2, late=0.05)] * 100

    assert judge(_measured(steady=slow)).exit_code == 3
    assert judge(_measured(hot_state_seconds=[0.1] * 50, foreign=0.5)).exit_code == 3
    assert judge(_measured(foreign=0.5)).exit_code == 0


def test_what_others_used_is_what_we_did_not() -> None:
    before, after = ProcessorTime(1000, 400, 100), ProcessorTime(2000, 800, 500)

    assert foreign_share(before, after) == pytest.approx(0.2)
    assert foreign_share(None, after) is None
    now = processor_time(1)
    assert now is None or now.all > now.idle


def test_the_mix_is_mostly_views_and_has_writes() -> None:
    random = Random(1)
    kinds = [draw(random, [_SEAT]).kind for _ in range(2000)]

    assert 0.6 < sum(kind in ("board", "dashboard") for kind in kinds) / 2000 < 0.8
    assert 80 < kinds.count("heartbeat") < 220
    beat = next(one for one in iter(lambda: draw(random, [_SEAT]), None) if one.kind == "heartbeat")
    assert (beat.method, beat.path) == ("POST", "/bff/v1/devices/dev_1/heartbeat")


async def test_the_load_keeps_its_rate_and_counts_the_wait_in_line() -> None:
    heard: list[SandboxRequest] = []

    def answer(request: SandboxRequest) -> SandboxResponse:
        heard.append(request)
        slow = HeldResponse(kind="slow", seconds=0.2)
        return SandboxResponse(status=200, hold=slow if len(heard) % 10 == 0 else None)

    server = HttpSandbox(answer)
    port = await server.start("127.0.0.1", 0)
    async with aiohttp.ClientSession() as session:
        load = GateLoad(session, [_SEAT], 200.0, [f"http://127.0.0.1:{port}"], Random(1))
        await load.run(lambda: len(heard) < 60)
    await server.stop()

    assert len(load.samples) >= 60
    assert {one.status for one in load.samples} == {200}
    assert max(one.seconds for one in load.samples) >= 0.2
    assert heard[0].headers["cookie"] == "a=b"
    # Slow answers do not hold back what is due after them: some that were due later came sooner.
    in_order_of_answers = [one.due for one in load.samples]
    assert in_order_of_answers != sorted(in_order_of_answers)


async def test_who_does_not_answer_is_counted() -> None:
    async with aiohttp.ClientSession() as session:
        load = GateLoad(session, [_SEAT], 100.0, ["http://127.0.0.1:1"], Random(1))
        async with asyncio.timeout(10):
            await load.run(lambda: len(load.samples) < 3)

    assert {one.status for one in load.samples} == {0}
