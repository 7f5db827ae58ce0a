"""Events send messages: now or at their time, in local hours, moved and cleared by later events."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.integration.pipeline.arranging import quiet_now
from tests.support.hotel import (
    CONFIRMATION,
    REMINDER,
    TRIGGERS,
    VARIABLES,
    fired,
    make_trigger,
    reservation,
    scheduled,
    somebody,
    tell,
)
from tests.support.pipeline import PipelineWorld, person
from tidings.kernel.events import new_event
from tidings.kernel.postgres_bus.parked import KEEP_DEAD_LETTERS
from tidings.notify.accept.validator import LONGEST_PLAN
from tidings.notify.ids import TEMPLATE

pytestmark = pytest.mark.xdist_group("triggers-firing")


async def test_an_event_sends_a_message_at_once(world: PipelineWorld) -> None:
    to = somebody()
    async with world.sender() as sender:
        trigger = await make_trigger(sender, **CONFIRMATION)
        [event_id] = await tell(sender, reservation(world.clock.now() + timedelta(days=10), to=to))
        [line] = await fired(sender, event_id)
        explained = await sender.explain(line["notification_id"])

    assert len(world.received(to)) == 1
    assert (line["result"], line["trigger_id"], line["trigger_version"]) == ("sent", trigger["id"], 1)
    assert explained["notification"]["source_event_id"] == event_id
    assert explained["notification"]["status"] == "delivered"


async def test_a_reminder_goes_at_the_local_hour_two_days_before(world: PipelineWorld) -> None:
    to = somebody()
    arrival = (world.clock.now() + timedelta(days=10)).replace(hour=10, minute=0, second=0)
    nine_in_kabul = (arrival - timedelta(days=2)).replace(hour=4, minute=30)
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        [event_id] = await tell(sender, reservation(arrival, to=to))
        [planned] = await scheduled(sender, status="planned")
        await world.until(nine_in_kabul - timedelta(seconds=1))
        before = len(world.received(to))
        await world.until(nine_in_kabul)
        [line] = await fired(sender, event_id)
        [over] = await scheduled(sender)

    assert datetime.fromisoformat(planned["run_after"]) == nine_in_kabul
    assert (planned["zone"], planned["local_time"], planned["offset"]) == ("Asia/Kabul", "09:00", "-P2D")
    assert (before, len(world.received(to))) == (0, 1)
    assert (line["result"], line["scheduled_id"]) == ("sent", planned["id"])
    assert (over["status"], over["notification_id"]) == ("processed", line["notification_id"])
    assert arrival.tzinfo is UTC


async def test_explain_tells_the_trigger_the_event_and_the_plan(world: PipelineWorld) -> None:
    to = somebody()
    async with world.sender() as sender:
        trigger = await make_trigger(sender, **REMINDER)
        arrival = world.clock.now() + timedelta(days=10)
        [event_id] = await tell(sender, reservation(arrival, to=to))
        [planned] = await scheduled(sender, status="planned")
        await world.until(datetime.fromisoformat(planned["run_after"]))
        [line] = await fired(sender, event_id)
        told = await sender.explain(line["notification_id"])

    assert told["trigger"] | {"fired_at": None} == {
        "id": trigger["id"],
        "version": 1,
        "event_id": event_id,
        "event_type": "reservation.confirmed",
        "subject": f"res-{to}",
        "fired_at": None,
        "planned_for": planned["run_after"],
    }
    first = told["timeline"][0]
    assert first["kind"] == "triggered"
    assert trigger["id"] in first["text"]
    assert "was planned for" in first["text"]


async def test_a_moved_reservation_is_planned_anew_and_a_cancelled_one_is_cleared(
    world: PipelineWorld,
) -> None:
    to, now = somebody(), world.clock.now()
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        [first] = await tell(sender, reservation(now + timedelta(days=10), to=to))
        # It says nothing but the new time.
        moved = reservation(now + timedelta(days=20), to=to, kind="moved")
        moved["data"] = {"starts_at": moved["data"]["starts_at"]}
        [second] = await tell(sender, moved)
        old, new = await scheduled(sender)
        [before] = await fired(sender, first)
        await world.advance(days=12)
        early = len(world.received(to))
        [third] = await tell(sender, reservation(now + timedelta(days=20), to=to, kind="cancelled"))
        _, cleared = await scheduled(sender)
        await world.advance(days=12)
        [over] = await fired(sender, third)

    assert (old["status"], old["obsolete_reason"], old["obsolete_event_id"]) == (
        "obsolete",
        "replanned",
        second,
    )
    assert (new["status"], new["source_event_id"]) == ("planned", second)
    assert (before["result"], before["reason"], before["ended_by"]) == ("obsolete", "replanned", second)
    assert datetime.fromisoformat(new["run_after"]) - datetime.fromisoformat(old["run_after"]) == timedelta(
        days=10
    )
    assert (cleared["status"], cleared["obsolete_reason"]) == ("obsolete", "cancelled_by")
    assert cleared["obsolete_event_id"] == third
    assert over["result"] == "cleared"
    assert (early, len(world.received(to))) == (0, 0)


async def test_what_was_moved_is_sent_once_with_the_words_that_were_planned(world: PipelineWorld) -> None:
    to, now = somebody(), world.clock.now()
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        await tell(sender, reservation(now + timedelta(days=10), to=to, place="Bagh-e Babur"))
        moved = reservation(now + timedelta(days=5), to=to, kind="moved")
        moved["data"] = {"starts_at": moved["data"]["starts_at"]}
        await tell(sender, moved)
        await world.advance(days=15)

    [message] = world.received(to)
    assert "Bagh-e Babur" in (message.text or "")


async def test_an_older_event_that_comes_later_changes_nothing(world: PipelineWorld) -> None:
    to, now = somebody(), world.clock.now()
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        late = reservation(now + timedelta(days=10), to=to, time=(now - timedelta(hours=2)).isoformat())
        cancelled = reservation(
            now + timedelta(days=10), to=to, kind="cancelled", time=(now - timedelta(hours=1)).isoformat()
        )
        _, last = await tell(sender, cancelled, late)
        [line] = await fired(sender, last)
        moved = await tell(sender, reservation(now + timedelta(days=12), to=to, kind="moved"))
        [after] = await fired(sender, moved[0])
        none = await scheduled(sender)

    assert (line["result"], line["reason"]) == ("skipped", "out_of_order")
    assert (after["result"], after["reason"]) == ("skipped", "cancelled_before")
    assert none == []


async def test_a_reservation_for_tomorrow_is_reminded_of_at_once_and_once(world: PipelineWorld) -> None:
    to, now = somebody(), world.clock.now()
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        [first] = await tell(sender, reservation(now + timedelta(days=1), to=to))
        [second] = await tell(sender, reservation(now + timedelta(days=1), to=to, kind="moved"))
        [sent] = await fired(sender, first)
        [again] = await fired(sender, second)
        over = await tell(sender, reservation(now - timedelta(days=1), to=to, subject="another"))
        [late] = await fired(sender, over[0])

    assert len(world.received(to)) == 1
    assert (sent["result"], again["result"], again["reason"]) == ("sent", "skipped", "already_sent")
    assert (late["result"], late["reason"]) == ("skipped", "too_late")


async def test_a_message_that_waits_is_taken_back_when_the_thing_is_cancelled(world: PipelineWorld) -> None:
    to, now = somebody(), world.clock.now()
    async with world.sender(quiet_now(now)) as sender:
        await make_trigger(sender, **(CONFIRMATION | {"cancelled_by": ["reservation.cancelled"]}))
        [first] = await tell(sender, reservation(now + timedelta(days=10), to=to, guest=person(to)))
        [line] = await fired(sender, first)
        waiting = await sender.status(line["notification_id"])
        await tell(sender, reservation(now + timedelta(days=10), to=to, kind="cancelled"))
        over = await sender.status(line["notification_id"])
        [after] = await fired(sender, first)
        await world.advance(days=1)

    assert (waiting, over) == ("scheduled", "cancelled")
    assert (after["result"], after["reason"]) == ("obsolete", "cancelled_by")
    assert not world.received(to)


async def test_who_moves_to_another_zone_is_reminded_by_the_clocks_there(world: PipelineWorld) -> None:
    to = somebody()
    arrival = (world.clock.now() + timedelta(days=10)).replace(hour=10, minute=0, second=0)
    day = arrival - timedelta(days=2)
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        await tell(sender, reservation(arrival, to=to))
        [planned] = await scheduled(sender)
        await sender.choose(planned["recipient_id"], timezone="Asia/Tokyo")
        await world.settle()
        [east] = await scheduled(sender)
        await sender.choose(planned["recipient_id"], timezone="America/New_York")
        await world.settle()
        [west] = await scheduled(sender)
        await world.until(datetime.fromisoformat(west["run_after"]) - timedelta(seconds=1))
        before = len(world.received(to))
        await world.advance(seconds=1)

    nine = {
        name: datetime.fromisoformat(one["run_after"]) for name, one in {"east": east, "west": west}.items()
    }
    assert nine == {"east": day.replace(hour=0), "west": day.replace(hour=14)}
    assert (east["zone"], west["zone"]) == ("Asia/Tokyo", "America/New_York")
    assert (before, len(world.received(to))) == (0, 1)


async def test_an_erased_person_gets_nothing_that_was_planned(world: PipelineWorld) -> None:
    to = somebody()
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        [event_id] = await tell(sender, reservation(world.clock.now() + timedelta(days=10), to=to))
        [planned] = await scheduled(sender)
        erased = await sender.client.post(f"/api/v1/recipients/{planned['recipient_id']}/erase", json={})
        [row] = await sender.rows(
            "SELECT obsolete, obsolete_reason, payload_ciphertext FROM notification.notification_scheduled"
        )
        [line] = await fired(sender, event_id)
        await world.advance(days=12)

    assert erased.status_code in (200, 201), erased.text
    assert row == {"obsolete": True, "obsolete_reason": "erased", "payload_ciphertext": None}
    assert (line["result"], line["reason"]) == ("obsolete", "erased")
    assert not world.received(to)


async def test_what_can_not_be_ordered_fails_alone_is_seen_and_can_be_retried(world: PipelineWorld) -> None:
    to, other = somebody(), somebody()
    async with world.sender() as sender:
        broken = await make_trigger(sender, **(CONFIRMATION | {"variables": {"place": "$.data.place"}}))
        await make_trigger(sender, **(CONFIRMATION | {"template": "reservation_reminder"}))
        arrival = world.clock.now() + timedelta(days=10)
        nobody = reservation(arrival, to=other, guest={"addresses": [{"channel": "email", "address": "no"}]})
        first, second = await tell(sender, reservation(arrival, to=to), nobody)
        all_failed = await scheduled(sender, status="failed")
        [failed] = [one for one in all_failed if one["source_event_id"] == first]
        retried = await sender.client.post(f"/api/v1/scheduled/{failed['id']}/retry")
        await world.settle()
        again = (await sender.client.get(f"/api/v1/scheduled/{failed['id']}")).json()
        results = [one["result"] for one in await fired(sender, first)]
        cancelled = await sender.client.post(f"/api/v1/scheduled/{failed['id']}/cancel")
        of_nobody = [one["reason"] for one in await fired(sender, second)]

    assert len(world.received(to)) == 1
    assert (failed["trigger_id"], failed["last_error"]) == (broken["id"], "invalid_variables")
    assert len(all_failed) == 3
    assert of_nobody == ["bad_value:recipient"] * 2
    assert retried.json()["status"] == "planned"
    assert (again["status"], again["attempts"]) == ("failed", 1)
    assert sorted(results) == ["failed", "sent"]
    assert cancelled.json()["status"] == "obsolete"


async def test_two_triggers_of_one_template_send_it_once_for_an_event(world: PipelineWorld) -> None:
    to = somebody()
    async with world.sender() as sender:
        await make_trigger(sender, **CONFIRMATION)
        twin = await make_trigger(sender, **CONFIRMATION)
        [event_id] = await tell(sender, reservation(world.clock.now() + timedelta(days=10), to=to))
        lines = await fired(sender, event_id)

    assert len(world.received(to)) == 1
    assert sorted((one["result"], one["reason"]) for one in lines) == [
        ("sent", None),
        ("skipped", "duplicate"),
    ]
    assert "once for each event" in twin["warnings"][0]


async def test_events_of_the_platform_fire_nothing_and_hold_up_nobody(world: PipelineWorld) -> None:
    system = world.system
    async with system.db.platform() as tx:
        await system.kernel.outbox.append(
            tx,
            [
                new_event(
                    "template.published.v1",
                    {"template_id": TEMPLATE.new(world.clock.now())},
                    tenant_id=None,
                    ordering_key="otp",
                    source="/tests/platform",
                    clock=world.clock,
                )
            ],
        )
    for relay in world.relays:
        await relay.drain()
    await system.triggers.consumer.drain()
    async with system.db.worker() as tx:
        parked = await tx.connection.fetch(
            "SELECT last_error FROM kernel.bus_parked WHERE group_name = 'notify.triggers'"
        )
    assert parked == []


@pytest.mark.parametrize("how", ["disable", "delete", "customise"])
async def test_a_trigger_that_fires_no_more_still_takes_back_what_it_planned(
    world: PipelineWorld, how: str
) -> None:
    """It moves and clears what it has planned about a stay, and plans nothing about another."""
    to, now = somebody(), world.clock.now()
    async with world.sender() as sender, world.http.as_platform() as platform:
        if how == "customise":
            wish = REMINDER | {"event_type": "reservation.confirmed", "enabled": True}
            made = (await platform.post("/internal/v1/triggers", json=wish)).json()
        else:
            made = await make_trigger(sender, **REMINDER)
        path = f"{TRIGGERS}/{made['id']}"
        await tell(sender, reservation(now + timedelta(days=10), to=to))
        over = await (
            sender.client.delete(path, headers={"If-Match": '"v1"'})
            if how == "delete"
            else sender.client.post(f"{path}/{how}")
        )
        await world.clock.advance(timedelta(seconds=1))
        await tell(sender, reservation(now + timedelta(days=20), to=to, kind="moved"))
        mine = [one for one in await scheduled(sender) if one["trigger_id"] == made["id"]]
        other = somebody()
        await tell(sender, reservation(now + timedelta(days=20), to=other, kind="moved"))
        await tell(sender, reservation(now + timedelta(days=20), to=to, kind="cancelled"))
        left = [one for one in await scheduled(sender) if one["trigger_id"] == made["id"]]
        if how == "customise":
            await platform.delete(f"/internal/v1/triggers/{made['id']}")
        await world.advance(days=25)

    assert over.status_code < 300, over.text
    assert [one["status"] for one in mine] == ["obsolete", "planned"]
    assert [one["obsolete_reason"] for one in left] == ["replanned", "cancelled_by"]
    assert not world.received(to)


@pytest.mark.parametrize("ahead", [timedelta(days=300), None])
async def test_a_booking_from_the_future_or_without_a_time_can_be_cancelled(
    world: PipelineWorld, ahead: timedelta | None
) -> None:
    """Its sender's clock is wrong, or silent: the cancellation that comes after it counts."""
    to, now = somebody(), world.clock.now()
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        time = (now + ahead).isoformat() if ahead is not None else None
        await tell(sender, reservation(now + timedelta(days=10), to=to, time=time))
        # It happened before the booking had come, where that had no time.
        then = world.clock.now() + timedelta(seconds=1 if ahead else -1)
        gone = reservation(now + timedelta(days=10), to=to, kind="cancelled", time=then.isoformat())
        [event_id] = await tell(sender, gone)
        [line] = await fired(sender, event_id)
        [plan] = await scheduled(sender)

    assert (line["result"], line["reason"]) == ("cleared", None)
    assert plan["obsolete_reason"] == "cancelled_by"


async def test_more_than_a_message_may_be_given_is_skipped_and_told(world: PipelineWorld) -> None:
    to = somebody()
    async with world.sender() as sender:
        every = {f"v{n}": "$.data.lines[*]" for n in range(90)}
        await make_trigger(sender, **(CONFIRMATION | {"variables": VARIABLES | every}))
        event = reservation(world.clock.now() + timedelta(days=10), to=to, lines=["x" * 100] * 100)
        [event_id] = await tell(sender, event)
        [line] = await fired(sender, event_id)

    assert (line["result"], line["reason"]) == ("skipped", "variables_too_large")


async def test_an_event_is_known_again_for_as_long_as_its_plans_wait(world: PipelineWorld) -> None:
    to, now = somebody(), world.clock.now()
    async with world.sender() as sender:
        [event_id] = await tell(sender, reservation(now + LONGEST_PLAN, to=to))
        async with world.database.runtime() as db:
            await db.execute("SELECT set_config('app.tenant_id', $1, false)", sender.tenant_id)
            kept = await db.fetchval(
                "SELECT expires_at FROM notification.received_event_ledger WHERE event_id = $1", event_id
            )

    assert kept >= now + LONGEST_PLAN + timedelta(days=30)


async def test_an_event_that_is_no_longer_kept_makes_nothing_and_the_ledger_tells_it(
    world: PipelineWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dead letter was replayed too late."""
    to = somebody()
    async with world.sender() as sender:
        await make_trigger(sender, **CONFIRMATION)
        answer = await sender.client.post(
            "/api/v1/events", json=reservation(world.clock.now() + timedelta(days=10), to=to)
        )
        event_id = answer.json()["id"]
        async with world.unguarded("notification.received_events") as owner:
            await owner.execute("DELETE FROM notification.received_events WHERE id = $1", event_id)
        await world.settle()
        [line] = await fired(sender, event_id)

    assert world.received(to) == []
    assert (line["result"], line["reason"]) == ("failed", "event_gone")
    assert (line["event_type"], line["scheduled_id"]) == ("reservation.confirmed", None)
    # Where an earlier test has set logging up, it goes to stderr.
    assert "events_gone" in "".join(capsys.readouterr())


async def test_an_event_is_kept_for_longer_than_a_dead_letter_of_it(world: PipelineWorld) -> None:
    async with world.database.owner() as owner:
        kept = await owner.fetchval(
            "SELECT keep FROM kernel.partitioned_tables WHERE parent = 'notification.received_events'"
        )

    assert timedelta(days=kept) > KEEP_DEAD_LETTERS
