"""`tidings dead-letters`, as an operator types it."""

import asyncio
import json
import sys
from datetime import timedelta

from tests.support.bus import BusUnderTest, Effects
from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.kernel.ids import TenantId
from tidings.kernel.postgres_bus import PostgresBus

_PROGRAM = "from tidings.cli.failures import clear_failures\nfrom tidings.cli.dead_letters import app\nwith clear_failures(): app()"


async def _run(under_test: BusUnderTest, *arguments: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _PROGRAM, *arguments, "--database-url", under_test.database.runtime_url,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def test_letters_are_listed_shown_replayed_and_discarded(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId
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

    code, out, _ = await _run(under_test, "list", "--json")
    first, second, _ = (letter["id"] for letter in json.loads(out))
    assert code == 0
    code, out, _ = await _run(under_test, "list", "--group", "group", "--limit", "2")
    assert [line.split()[0] for line in out.splitlines()[:2]] == [first, second]
    assert f"--after {second}" in out
    code, out, _ = await _run(under_test, "show", first)
    assert json.loads(out)["event"]["data"] == {"value": 1}
    assert await _run(under_test, "discard", first) == (0, "discarded: 1\n", "")
    assert await _run(under_test, "replay", "--group", "group", "--all") == (0, "replayed: 2\n", "")
    await consumer.drain()

    assert await under_test.values("group") == [2, 3]
    assert (await _run(under_test, "list"))[1] == "there are no dead letters\n"


async def test_mistakes_are_one_clear_line(under_test: BusUnderTest) -> None:
    """And a code that scripts can see."""
    for arguments, word in (
        (("show", "ntf_1"), "dlt_"),
        (("show", "dlt_01JCQ000000000000000000000"), "no such dead letter"),
        (("replay",), "--group GROUP --all"),
        (("discard", "--all"), "--group GROUP --all"),
    ):
        code, _, err = await _run(under_test, *arguments)
        assert (code, len(err.splitlines())) == (1, 1)
        assert word in err
