"""A batch whose workers are killed (`kill -9`) in the middle, again and again.

`TIDINGS_TEST_BATCH=100000` runs it at full size; `-s` shows what was measured.
"""

import json
import os
import random
import time
import urllib.request
from typing import Any

import asyncpg
import pytest
import uvloop
from bench.batches import crowd
from bench.house import House, Resident, wait_for

from tests.e2e.pipeline.senders import ORDER
from tests.support.counting_vendor import CountingVendor
from tests.support.prepared_house import prepared_house
from tests.support.running import wait_until

pytestmark = pytest.mark.xdist_group("surviving")

PEOPLE = int(os.environ.get("TIDINGS_TEST_BATCH", "5000"))
SEED = int(os.environ.get("TIDINGS_TEST_SEED", "7"))
KILLS = 5
HOME = "/api/v1/batches"


def test_everybody_is_met_once_however_often_its_workers_are_killed() -> None:
    """In the ledger and at the vendor; what arrived twice is what the report lists as never answered."""
    luck = random.Random(SEED)
    with (
        CountingVendor(seed=SEED, hold=0.005) as vendor,
        prepared_house(
            workers=2, vendors={"smtp": {"host": "127.0.0.1", "port": vendor.port, "security": "none"}}
        ) as house,
    ):
        resident = house.resident("batch")
        uvloop.run(crowd(house, resident, PEOPLE))
        batch = _post(house, resident, HOME, _wish())
        began = time.monotonic()
        _post(house, resident, f"{HOME}/{batch['id']}/start")

        met_at: list[int] = []
        for number in range(KILLS):
            goal = PEOPLE * (number + 0.2 + 0.6 * luck.random()) / (KILLS + 1)
            wait_for(lambda goal=goal: vendor.count >= goal, f"{goal:.0f} to arrive", 600)  # type: ignore[misc]
            met_at.append(_show(house, resident, batch["id"])["totals"]["sent"])
            for worker in house.workers:
                worker.kill()
                worker.launch()
        wait_until(
            lambda: _show(house, resident, batch["id"])["status"] == "completed",
            "the batch to be completed",
            900,
        )
        took = time.monotonic() - began
        shown = _show(house, resident, batch["id"])
        report: Any = house.get(resident, f"{HOME}/{batch['id']}/report?verify=true")
        ledger = uvloop.run(_ledger(house))

        twice = {id_ for id_, moments in vendor.came.items() if len(moments) > 1}
        unread = _unread(house, resident, batch["id"])
        print(  # noqa: T201  # figures of the run, shown with -s
            f"\n{PEOPLE} people in {took:.1f} s, killed five times at {met_at}; arrived {vendor.count}, twice {len(twice)}, "
            f"listed as never answered {len(unread)}"
        )
        assert shown["totals"]["delivered"] == PEOPLE
        assert (report["met"], report["unmet"], report["proof"]["agrees"]) == (PEOPLE, 0, True)
        assert report["states"] == {"delivered": PEOPLE}
        assert {row["n"] for row in ledger["people"]} == {1}
        assert {row["n"] for row in ledger["messages"]} == {1}
        assert len(ledger["people"]) == len(ledger["messages"]) == PEOPLE
        assert set(vendor.came) == {row["id"] for row in ledger["ids"]}, "lost, or written to from nowhere"
        assert twice <= unread
        listed = {one["notification_id"] for one in report["unread_answers"]}
        assert listed <= unread
        assert len(listed) == min(100, len(unread))


def _unread(house: House, resident: Resident, batch_id: str) -> set[str]:
    """All whose vendor's answer was never read, page by page."""
    found: set[str] = set()
    cursor = ""
    while True:
        page: Any = house.get(resident, f"{HOME}/{batch_id}/people?unread=true&limit=200{cursor}")
        found |= {line["notification_id"] for line in page["items"]}
        if page["next_cursor"] is None:
            return found
        cursor = f"&cursor={page['next_cursor']}"


def _wish() -> dict[str, Any]:
    return {
        "name": "Killed",
        "template": "order_confirmation",
        "channel": "email",
        "filter": "tag = 'vip'",
        "variables": ORDER,
    }


def _show(house: House, resident: Resident, batch_id: str) -> Any:
    return house.get(resident, f"{HOME}/{batch_id}")


def _post(house: House, resident: Resident, path: str, body: object = None) -> Any:
    headers = {"Authorization": f"Bearer {resident.api_key}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body is not None else b""
    request = urllib.request.Request(f"{house.base_url}{path}", data=data, headers=headers, method="POST")
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


async def _ledger(house: House) -> dict[str, list[Any]]:
    connection = await asyncpg.connect(house.postgres.url("tidings_owner"))
    try:
        await connection.execute("SET ROLE tidings_breakglass")
        return {
            "people": await connection.fetch(
                "SELECT recipient_id, count(*) AS n FROM notification.batch_people GROUP BY 1"
            ),
            "messages": await connection.fetch(
                "SELECT recipient_id, count(*) AS n FROM notification.notifications WHERE batch_id IS NOT NULL GROUP BY 1"
            ),
            "ids": await connection.fetch("SELECT id FROM notification.notifications"),
        }
    finally:
        await connection.close()
