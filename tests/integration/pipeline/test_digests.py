"""Digests, from the first item to the one message: who is gathered, when it comes, and what is left out of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from tests.support.people import unused
from tests.support.pipeline import HOME, PipelineWorld, Sender, person
from tidings.contracts.tenants import DigestChoice, NotificationPolicy

pytestmark = pytest.mark.xdist_group("pipeline-digests")

#: A digest every day at six in the evening.
EVENING = {"academic": {"every": "day", "at": "18:00"}}


async def somebody(sender: Sender, *, schedule: Any = None, **facts: Any) -> tuple[str, str]:
    """A recipient who wants a digest, and their address."""
    to = f"{unused()}@example.test"
    made = await sender.client.post("/api/v1/recipients", json=person(to, **facts))
    recipient_id = made.json()["id"]
    await sender.choose(recipient_id, digest_schedule=EVENING if schedule is None else schedule)
    return recipient_id, to


async def ordered(sender: Sender, recipient_id: str, number: str = "A-1", **wish: Any) -> str:
    """A message about an order."""
    variables = {
        "order_number": number,
        "total": {"amount_micros": 1_000_000, "currency": "USD"},
        "items": [{"name": "Tea", "quantity": 1}],
    }
    wish = {"category": "academic", "variables": variables} | wish
    sent = await sender.send(recipient=recipient_id, **wish)
    return str(sent["id"])


async def gathered(world: PipelineWorld, sender: Sender, recipient_id: str, *numbers: str) -> list[str]:
    """So many of them, which wait."""
    ids = [await ordered(sender, recipient_id, number) for number in numbers]
    await world.settle()
    assert [await sender.status(id_) for id_ in ids] == ["scheduled"] * len(ids)
    return ids


async def windows(sender: Sender, **query: str) -> list[dict[str, Any]]:
    answer = await sender.client.get("/api/v1/digests", params=query)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def evening(world: PipelineWorld) -> datetime:
    """The next six o'clock."""
    now = world.clock.now()
    at = now.replace(hour=18, minute=0, second=0, microsecond=0)
    return at if at > now else at + timedelta(days=1)


async def test_what_is_gathered_comes_once_with_a_line_for_each(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        ids = await gathered(world, sender, laila, "A-0", "A-1", "A-2")
        assert world.received(to) == []

        await world.until(evening(world))

        [mail] = world.received(to)
        assert "3 updates for you" in (mail.subject or "")
        assert all(f"A-{n}" in (mail.text or "") for n in range(3))
        assert [await sender.status(id_) for id_ in ids] == ["superseded"] * 3
        await world.advance(days=2)
        assert len(world.received(to)) == 1


async def test_a_digest_is_in_the_persons_language(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender, locale="fr")
        await gathered(world, sender, laila, "A-0", "A-1")

        await world.until(evening(world))

        [mail] = world.received(to)
        assert "2 nouveautés pour vous" in (mail.subject or "")
        assert "commande A-0" in (mail.text or "")


async def test_an_explanation_tells_which_digest_took_it_and_of_a_digest_what_it_took(
    world: PipelineWorld,
) -> None:
    async with world.sender() as sender:
        laila, _ = await somebody(sender)
        ids = await gathered(world, sender, laila, "A-0", "A-1")

        told = await sender.explain(ids[0])
        [window] = await windows(sender)
        assert told["phase"] == "waiting"
        assert told["next"]["at"] == window["flush_at"]
        assert told["digest"]["window_id"] == window["id"]
        assert told["digest"]["state"] == "open"
        [line] = [line for line in told["decision"] if line["gate"] == "digest"]
        assert (line["verdict"], line["until"]) == ("defer", window["flush_at"])
        assert window["id"] in line["explanation"]

        await world.until(evening(world))

        took = await sender.explain(ids[0])
        digest_id = took["digest"]["digest_notification_id"]
        assert digest_id in took["summary"]
        digest = await sender.explain(digest_id)
        assert digest["notification"]["status"] == "delivered"
        assert digest["digest"] | {"flush_at": None} == {
            "role": "digest",
            "window_id": window["id"],
            "state": "flushed",
            "flush_at": None,
            "digest_notification_id": digest_id,
            "items": sorted(ids),
            "more_items": False,
            "repeats": None,
        }


async def test_one_alone_goes_by_itself(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        [id_] = await gathered(world, sender, laila, "A-7")

        await world.until(evening(world))

        [mail] = world.received(to)
        assert "A-7" in (mail.subject or "")
        assert "update" not in (mail.subject or "")
        assert await sender.status(id_) == "delivered"
        told = await sender.explain(id_)
        assert "digest_of_one" in [line["reason"] for line in told["decision"]]
        [window] = await windows(sender, state="flushed")
        assert (window["result"], window["digest_notification_id"]) == ("single", None)


async def test_a_window_whose_items_were_cancelled_sends_nothing(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        ids = await gathered(world, sender, laila, "A-0", "A-1")
        for id_ in ids:
            assert (await sender.client.post(f"{HOME}/{id_}/cancel")).status_code == 200
        assert [window["item_count"] for window in await windows(sender)] == [0]

        await world.until(evening(world))

        assert world.received(to) == []
        assert [await sender.status(id_) for id_ in ids] == ["cancelled"] * 2
        assert [window["result"] for window in await windows(sender, state="flushed")] == ["empty"]


async def test_one_that_was_cancelled_is_left_out(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        ids = await gathered(world, sender, laila, "A-0", "A-1", "A-2")
        await sender.client.post(f"{HOME}/{ids[1]}/cancel")

        await world.until(evening(world))

        [mail] = world.received(to)
        assert "2 updates" in (mail.subject or "")
        assert "A-1" not in (mail.text or "")


async def test_one_that_is_released_leaves_its_digest_and_goes_now(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        ids = await gathered(world, sender, laila, "A-0", "A-1", "A-2")

        assert (await sender.client.post(f"{HOME}/{ids[0]}/release")).status_code == 200
        await world.settle()

        assert await sender.status(ids[0]) == "delivered"
        await world.until(evening(world))
        assert [len(world.received(to)), await sender.status(ids[1])] == [2, "superseded"]


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        ({"priority": "critical"}, "digest_but_critical"),
        ({"use_case": "otp"}, "digest_but_security"),
        (
            {"attachments": [{"filename": "a.txt", "media_type": "text/plain", "content": "YQ=="}]},
            "digest_but_whole",
        ),
    ],
)
async def test_what_waits_for_no_digest(world: PipelineWorld, wish: dict[str, Any], reason: str) -> None:
    async with world.sender() as sender:
        laila, _ = await somebody(sender)
        id_ = await ordered(sender, laila, **wish)
        await world.settle()

        assert await sender.status(id_) == "delivered"
        assert reason in [line["reason"] for line in (await sender.explain(id_))["decision"]]


async def test_one_that_would_expire_before_its_digest_goes_by_itself(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, _ = await somebody(sender)
        soon = (world.clock.now() + timedelta(minutes=20)).isoformat()
        id_ = await ordered(sender, laila, expires_at=soon)
        await world.settle()

        assert await sender.status(id_) == "delivered"
        told = await sender.explain(id_)
        assert "expires_before_digest" in [line["reason"] for line in told["decision"]]


async def test_a_sliding_window_is_flushed_before_the_first_of_its_items_expires(
    world: PipelineWorld,
) -> None:
    async with world.sender() as sender:
        schedule = {"academic": {"every": "pause", "minutes": 10, "at_most_minutes": 600}}
        laila, to = await somebody(sender, schedule=schedule)
        now = world.clock.now()
        await ordered(sender, laila, "A-0", expires_at=(now + timedelta(minutes=30)).isoformat())
        await world.settle()
        for minute in (8, 16, 24):
            await world.until(now + timedelta(minutes=minute))
            await ordered(sender, laila, f"A-{minute}")
            await world.settle()
        assert world.received(to) == []

        await world.until(now + timedelta(minutes=29))

        [mail] = world.received(to)
        assert "4 updates" in (mail.subject or "")


async def test_items_that_expired_while_no_flusher_ran_are_expired(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        at = evening(world)
        old = await ordered(sender, laila, "A-0", expires_at=(at + timedelta(minutes=2)).isoformat())
        new = [await ordered(sender, laila, f"A-{n}") for n in (1, 2)]
        await world.settle()

        await world.clock.advance(at + timedelta(minutes=5) - world.clock.now())
        await world.settle()

        assert await sender.status(old) == "expired"
        assert [await sender.status(id_) for id_ in new] == ["superseded"] * 2
        [mail] = world.received(to)
        assert "2 updates" in (mail.subject or "")


async def test_keys_and_channels_have_digests_of_their_own(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        for key in ("thread-1", "thread-2"):
            for n in range(2):
                await ordered(sender, laila, f"{key}-{n}", digest_key=key)
        await world.settle()
        assert sorted(window["digest_key"] for window in await windows(sender)) == ["thread-1", "thread-2"]

        await world.until(evening(world))

        mails = [mail.text or "" for mail in world.received(to)]
        assert len(mails) == 2
        assert all(("thread-1-0" in text) != ("thread-2-0" in text) for text in mails)


async def test_a_digest_that_is_switched_off_is_sent_now(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        await gathered(world, sender, laila, "A-0", "A-1")

        await sender.choose(laila, digest_schedule={})
        await world.settle()

        assert len(world.received(to)) == 1
        id_ = await ordered(sender, laila, "A-2")
        await world.settle()
        assert await sender.status(id_) == "delivered"


async def test_another_hour_and_another_zone_move_the_flush(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        await gathered(world, sender, laila, "A-0", "A-1")
        now = world.clock.now()
        tomorrow = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)

        await sender.choose(laila, digest_schedule={"academic": {"every": "day", "at": "23:00"}})
        [window] = await windows(sender)
        assert datetime.fromisoformat(window["flush_at"]) == tomorrow - timedelta(hours=1)

        # Kabul is four and a half hours ahead.
        await sender.choose(laila, timezone="Asia/Kabul")
        [window] = await windows(sender)
        expected = tomorrow - timedelta(hours=5, minutes=30)
        expected = expected if expected > now else expected + timedelta(days=1)
        assert datetime.fromisoformat(window["flush_at"]) == expected

        await world.until(expected)
        assert len(world.received(to)) == 1


async def test_a_zone_that_comes_with_an_order_moves_the_flush(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, _ = await somebody(sender)
        await gathered(world, sender, laila, "A-0")
        [before] = await windows(sender)

        moved = await sender.client.post(
            "/api/v1/recipients", json={"id": laila, "timezone": "Asia/Kabul", "addresses": []}
        )

        assert moved.status_code == 200, moved.text
        [after] = await windows(sender)
        assert after["flush_at"] != before["flush_at"]


async def test_the_tenants_schedule_holds_for_those_who_have_not_chosen(world: PipelineWorld) -> None:
    usual = NotificationPolicy(digest_schedule={"academic": DigestChoice(every="day", at="18:00")})
    async with world.sender(usual) as sender:
        laila, to = await somebody(sender, schedule={})
        omar, his = await somebody(sender, schedule={"academic": {"every": "never"}})
        await gathered(world, sender, laila, "A-0", "A-1")
        id_ = await ordered(sender, omar, "A-2")
        await world.settle()
        assert (await sender.status(id_), len(world.received(his))) == ("delivered", 1)

        await sender.policy(NotificationPolicy())
        for relay in world.relays:
            await relay.drain()
        await world.system.digests.replanning.drain()
        await world.settle()

        assert len(world.received(to)) == 1


async def test_a_digest_can_be_flushed_now_and_what_follows_is_gathered_anew(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        await gathered(world, sender, laila, "A-0", "A-1")
        [window] = await windows(sender, recipient=laila, category="academic", channel="email")
        assert (window["item_count"], window["state"]) == (2, "open")

        answer = await sender.client.post(f"/api/v1/digests/{window['id']}/flush")
        assert answer.status_code == 200, answer.text
        await world.settle()
        assert len(world.received(to)) == 1
        again = await sender.client.post(f"/api/v1/digests/{window['id']}/flush")
        assert (again.status_code, again.json()["code"]) == (409, "digest_not_open")

        [later] = await gathered(world, sender, laila, "A-2")
        [other] = await windows(sender)
        assert other["id"] != window["id"]
        shown = (await sender.client.get(f"/api/v1/digests/{other['id']}")).json()
        assert shown["items"] == [{"id": later, "status": "scheduled"}]


async def test_a_test_stays_a_test(world: PipelineWorld) -> None:
    async with world.sender() as sender, world.http.as_tenant(sender.tenant_id, environment="test") as client:
        laila, to = await somebody(sender)
        rehearsed = Sender(world=world, tenant_id=sender.tenant_id, client=client)
        for sending in (sender, rehearsed):
            for n in range(2):
                await ordered(sending, laila, f"A-{n}")
        await world.settle()
        assert sorted(window["is_test"] for window in await windows(sender)) == [False, True]
        [hers] = await windows(rehearsed)
        assert hers["is_test"] is True

        await world.until(evening(world))

        assert len(world.received(to)) == 1
        [tested] = await windows(rehearsed, state="flushed")
        answer = await client.get(f"{HOME}/{tested['digest_notification_id']}")
        assert answer.json()["is_test"] is True


async def test_nothing_is_gathered_for_somebody_who_was_erased(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        ids = await gathered(world, sender, laila, "A-0", "A-1")
        erased = await sender.client.post(f"/api/v1/recipients/{laila}/erase", json={"reason": "asked"})
        assert erased.status_code == 200, erased.text

        await world.until(evening(world))

        assert world.received(to) == []
        assert [await sender.status(id_) for id_ in ids] == ["suppressed"] * 2
        assert [window["result"] for window in await windows(sender, state="flushed")] == ["empty"]


async def test_where_there_is_no_template_each_goes_by_itself(world: PipelineWorld) -> None:
    async with world.sender(channels=("sms",)) as sender:
        made = await sender.client.post("/api/v1/recipients", json=person("+14155550101"))
        laila = made.json()["id"]
        await sender.choose(laila, digest_schedule=EVENING)
        body = {
            "recipient": laila,
            "template": "reservation_reminder",
            "channel": "sms",
            "category": "academic",
            "variables": {
                "reservation_number": "R-1",
                "place": "Bagh",
                "starts_at": "2027-01-01T00:00:00Z",
            },
        }
        ids = [(await sender.client.post(HOME, json=body)).json()["id"] for _ in range(2)]
        await world.settle()
        async with world.unguarded("notification.digest_windows") as owner:
            # A channel that no template of digests is for.
            await owner.execute(
                "UPDATE notification.digest_windows SET channel = 'voice' WHERE recipient_id = $1", laila
            )

        await world.until(evening(world))

        assert [await sender.status(id_) for id_ in ids] == ["delivered"] * 2
        assert [window["result"] for window in await windows(sender, state="flushed")] == ["apart"]


@pytest.mark.parametrize(
    ("schedule", "field"),
    [
        ({"transactional": {"every": "day"}}, "digest_schedule.transactional"),
        ({"academic": {"every": "week"}}, "digest_schedule.academic"),
        ({"academic": {"every": "minutes"}}, "digest_schedule.academic.minutes"),
        ({"academic": {"every": "pause", "minutes": 9}}, "digest_schedule.academic.at_most_minutes"),
        ({"academic": {"every": "hour", "at": "09:00"}}, "digest_schedule.academic.at"),
        ({"nothing_known": {"every": "day"}}, "digest_schedule.nothing_known"),
    ],
)
async def test_a_schedule_that_could_not_act_is_refused(
    world: PipelineWorld, schedule: dict[str, Any], field: str
) -> None:
    async with world.sender() as sender:
        laila, _ = await somebody(sender)
        path = f"/api/v1/recipients/{laila}/preferences"
        known = await sender.client.get(path)

        answer = await sender.client.patch(
            path, json={"digest_schedule": schedule}, headers={"If-Match": known.headers["etag"]}
        )

        assert answer.status_code == 400, answer.text
        assert [error["field"] for error in answer.json()["errors"]] == [field]


async def test_simulating_tells_of_the_digest(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, _ = await somebody(sender)
        body = {
            "recipient": laila,
            "template": "order_confirmation",
            "channel": "email",
            "category": "academic",
            "variables": {
                "order_number": "A-1",
                "total": {"amount_micros": 1, "currency": "USD"},
                "items": [{"name": "Tea", "quantity": 1}],
            },
        }
        answer = await sender.client.post(f"{HOME}/simulate", json=body)

        told = answer.json()
        assert (told["would"], told["reason"]) == ("defer", "digest")
        assert datetime.fromisoformat(told["until"]).astimezone(UTC) == evening(world)
        assert await windows(sender) == []


async def test_events_tell_which_digest_took_the_place_of_which_message(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, _ = await somebody(sender)
        ids = await gathered(world, sender, laila, "A-0", "A-1")

        await world.until(evening(world))

        [window] = await windows(sender, state="flushed")
        async with world.unguarded("kernel.bus_events") as owner:
            told = [
                msgspec.json.decode(row["payload"])
                for row in await owner.fetch(
                    "SELECT payload FROM kernel.bus_events WHERE tenant_id = $1 AND subject = $2",
                    sender.tenant_id,
                    "notification.superseded.v1",
                )
            ]
        assert sorted(event["notification_id"] for event in told) == sorted(ids)
        assert {event["digest_notification_id"] for event in told} == {window["digest_notification_id"]}
