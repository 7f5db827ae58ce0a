"""A worker is told to stop in the middle: it ends what it has in hand, and the others take the rest."""

import asyncio
import time
from datetime import datetime

import asyncpg
import pytest
from bench.house import House, wait_for

from tests.e2e.pipeline.ledger import Ledger, read_ledger
from tests.e2e.pipeline.senders import Senders
from tests.support.counting_vendor import CountingVendor
from tests.support.prepared_house import prepared_house
from tests.support.running import wait_until

pytestmark = pytest.mark.xdist_group("surviving")

_COUNT = 500


def test_nothing_is_lost_and_nothing_is_sent_twice() -> None:
    """Two workers, each told to stop and started again while messages are on their way; no answer goes unlearned.

    An API that runs no worker's jobs has still written down that its caller's key was used.
    """
    with CountingVendor(hold=0.1) as vendor:
        accounts: dict[str, dict[str, object]] = {
            "smtp": {"host": "127.0.0.1", "port": vendor.port, "security": "none"}
        }
        with prepared_house(workers=2, vendors=accounts) as house:
            senders = Senders(house.base_url, house.resident("stopped"), count=_COUNT)
            sending = vendor.begin(senders.send_all())
            took = []
            for number, worker in enumerate(house.workers * 2, start=1):
                goal = _COUNT * number // 6
                wait_for(lambda goal=goal: vendor.count >= goal, f"{goal} to arrive")  # type: ignore[misc]
                worker.await_ready()
                told_at = time.monotonic()
                worker.tell()
                assert worker.wait() == 0, worker.output[-3000:]
                took.append(time.monotonic() - told_at)
                worker.launch()
            sending.result(60)
            sent = set(senders.accepted.values())
            ledger = _await_the_end(house, sent)
            house.api.tell()
            assert house.api.wait() == 0, house.api.output[-3000:]
            used = asyncio.run(_when_used(house))

        print(f"\nstopped within {max(took):.1f} s")  # noqa: T201  # a figure of the run, shown with -s
        assert set(vendor.came) == sent
        assert {len(moments) for moments in vendor.came.values()} == {1}
        assert ledger.never_learned == set()
        assert used is not None
        assert "cut_off" not in "".join(worker.output for worker in house.workers)


async def _when_used(house: House) -> datetime | None:
    connection = await asyncpg.connect(house.postgres.url("tidings_owner"))
    try:
        await connection.execute("SET ROLE tidings_breakglass")
        used: datetime | None = await connection.fetchval(
            "SELECT max(last_used_at) FROM notification.api_keys WHERE tenant_id IS NOT NULL"
        )
        return used
    finally:
        await connection.close()


def _await_the_end(house: House, sent: set[str]) -> Ledger:
    wait_until(
        lambda: sent <= set(read_ledger(house.postgres.url("tidings_owner")).delivered_events),
        "all to be delivered",
        patience=60,
    )
    return read_ledger(house.postgres.url("tidings_owner"))
