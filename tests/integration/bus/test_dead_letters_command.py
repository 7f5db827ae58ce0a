"""`tidings dead-letters`, as an operator types it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.bus import BusUnderTest, Effects
from tests.support.cli import typing_in
from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.kernel.ids import TenantId
from tidings.kernel.postgres_bus import PostgresBus

Run = Callable[..., Awaitable[tuple[int, str, str]]]


@pytest.fixture
def run(
    under_test: BusUnderTest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Type `tidings dead-letters …`; the code, what was printed and what went wrong."""
    types = typing_in(tmp_path, monkeypatch, capsys)

    async def run_(*arguments: str) -> tuple[int, str, str]:
        place = ("--database-url", under_test.database.runtime_url)
        said = await asyncio.to_thread(types, "dead-letters", *arguments, *place)
        return said.code, said.out, said.err

    return run_


async def test_letters_are_listed_shown_replayed_and_discarded(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId, run: Run
) -> None:
    """Each command says what it did, in words or in JSON."""
    group = Effects("group", refused={1, 2, 3})
    once = RetryPolicy(max_attempts=1, first_delay=timedelta(0))
    consumer = bus.consumer(under_test.subscription(group, retry=once))
    await under_test.publish(tenant_id, [1, 2, 3])
    await under_test.relay()
    for _ in range(3):
        await consumer.drain()
    group.refused.clear()

    code, out, _ = await run("list", "--json")
    first, second, _ = (letter["id"] for letter in json.loads(out))
    assert code == 0
    code, out, _ = await run("list", "--group", "group", "--limit", "2")
    assert [line.split()[0] for line in out.splitlines()[:2]] == [first, second]
    assert f"--after {second}" in out
    code, out, _ = await run("show", first)
    assert json.loads(out)["event"]["data"] == {"value": 1}
    assert await run("discard", first) == (0, "discarded: 1\n", "")
    assert await run("replay", "--group", "group", "--all") == (0, "replayed: 2\n", "")
    await consumer.drain()

    assert await under_test.values("group") == [2, 3]
    assert (await run("list"))[1] == "there are no dead letters\n"


async def test_mistakes_are_one_clear_line(run: Run) -> None:
    """And a code that scripts can see."""
    for arguments, word in (
        (("show", "ntf_1"), "dlt_"),
        (("show", "dlt_01JCQ000000000000000000000"), "no such dead letter"),
        (("replay",), "--group GROUP --all"),
        (("discard", "--all"), "--group GROUP --all"),
    ):
        code, _, err = await run(*arguments)
        assert (code, len(err.splitlines())) == (1, 1)
        assert word in err
