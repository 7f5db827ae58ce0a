"""The lists of planned work and of firings: every filter, page by page, without reading all there is."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.hotel import (
    CONFIRMATION,
    FIRINGS,
    REMINDER,
    SCHEDULED,
    make_trigger,
    reservation,
    somebody,
    tell,
)
from tests.support.pipeline import PipelineWorld, Sender, person
from tidings.notify.schedule.firings import list_firings
from tidings.notify.schedule.listing import list_work
from tidings.notify.schedule.model import WorkStatus
from tidings.notify.schedule.store import WorkCriteria

pytestmark = pytest.mark.xdist_group("triggers-listing")


async def _all(sender: Sender, path: str, **query: str) -> list[dict[str, Any]]:
    """Every item, one a page."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = await sender.client.get(path, params=query | {"limit": "1"} | cursor)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += page["items"]
        if page["next_cursor"] is None:
            return found
        cursor = {"cursor": page["next_cursor"]}


async def test_each_filter_of_the_schedule_finds_its_entries_page_by_page(world: PipelineWorld) -> None:
    arrival = world.clock.now() + timedelta(days=10)
    people = [somebody() for _ in range(4)]
    async with world.sender() as sender:
        trigger = await make_trigger(sender, **REMINDER)
        broken = await make_trigger(
            sender, **(REMINDER | {"template": "no_such_template", "offset": "-P300D"})
        )
        await tell(sender, *(reservation(arrival, to=to) for to in people[:3]))
        await tell(sender, reservation(arrival, to=people[0], kind="cancelled"))
        planned = await _all(sender, SCHEDULED, status="planned")
        obsolete = await _all(sender, SCHEDULED, status="obsolete", trigger=trigger["id"])
        failed = await _all(sender, SCHEDULED, status="failed")
        about = await _all(sender, SCHEDULED, subject=f"res-{people[1]}")
        theirs = await _all(sender, SCHEDULED, recipient=planned[0]["recipient_id"])
        nobody = await _all(sender, SCHEDULED, subject="res-nobody")
        everything = await _all(sender, SCHEDULED)

    # Of one set they have the same moment, and any order.
    assert {one["subject"] for one in planned} == {f"res-{people[2]}", f"res-{people[1]}"}
    assert [one["subject"] for one in obsolete] == [f"res-{people[0]}"]
    assert {one["trigger_id"] for one in failed} == {broken["id"]}
    assert len(failed) == 2
    assert sorted(one["trigger_id"] for one in about) == sorted([trigger["id"], broken["id"]])
    assert {one["subject"] for one in theirs} == {planned[0]["subject"]}
    assert nobody == []
    assert [one["id"] for one in everything] == sorted((one["id"] for one in everything), reverse=True)
    assert len(everything) == 6


async def test_what_one_event_has_led_to_is_paged_too(world: PipelineWorld) -> None:
    guests = [person(somebody()) for _ in range(5)]
    async with world.sender() as sender:
        await make_trigger(sender, **(CONFIRMATION | {"recipient": "$.data.guests"}))
        event = reservation(world.clock.now() + timedelta(days=10), to=somebody(), guests=guests)
        [event_id] = await tell(sender, event)
        lines = await _all(sender, FIRINGS, event=event_id)
        sent = await _all(sender, FIRINGS, event=event_id, result="sent")
        failed = await _all(sender, FIRINGS, event=event_id, result="failed")

    assert len({line["recipient_id"] for line in lines}) == len(lines) == 5
    assert sent == lines
    assert failed == []


async def test_a_filter_that_fits_nothing_reads_so_many_rows_and_says_where_to_go_on(
    world: PipelineWorld,
) -> None:
    people = [somebody() for _ in range(9)]
    async with world.sender() as sender:
        trigger = await make_trigger(sender, **REMINDER)
        await tell(sender, *(reservation(world.clock.now() + timedelta(days=10), to=to) for to in people))
        async with world.db.tenant(sender.tenant_id) as tx:
            wanted = WorkCriteria(status=WorkStatus.OBSOLETE)
            places: list[str | None] = [None]
            while len(places) == 1 or places[-1] is not None:
                page = await list_work(
                    tx, wanted, after_id=places[-1], limit=10, clock=world.clock, chunk=2, most=4
                )
                assert page.items == []
                places.append(page.next_id)
            lines = await list_firings(
                tx,
                trigger_id=trigger["id"],
                result="cleared",
                after_id=None,
                limit=10,
                now=world.clock.now(),
                chunk=2,
                most=4,
            )

    assert len(places) == 4, "four rows, four rows, and one"
    assert lines.items == []
    assert lines.next_id is not None
