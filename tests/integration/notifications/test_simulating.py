"""A rehearsal decides and renders exactly as in earnest, and writes nothing."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.integration.notifications.world import HOME, Sender, SentWorld, order, publish
from tests.support.people import rows, told, unused
from tidings.contracts.addresses import normalise
from tidings.contracts.ids import RECIPIENT
from tidings.contracts.tenants import NotificationPolicy, QuietHours, SendingLimits
from tidings.kernel.clock import SystemClock
from tidings.notify.channels.model import RateLimit
from tidings.notify.suppressions.model import SuppressionReason, SuppressionSpec

ALL_DAYS: Any = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
NIGHT = QuietHours(days=ALL_DAYS, start="00:00", end="23:59", timezone="UTC")
TABLES = (
    "notification.notifications",
    "notification.dispatch_queue",
    "notification.recipients",
    "notification.recipient_addresses",
    "notification.counters",
    "notification.idempotency_keys",
    "notification.audit",
    "kernel.data_keys",
    "kernel.hot_limits",
)


async def simulate(sender: Sender, **wish: Any) -> httpx2.Response:
    return await sender.client.post(f"{HOME}/simulate", json=order(**wish))


async def everything(world: SentWorld, sender: Sender) -> dict[str, int]:
    """How many rows there are of everything that sending would write."""
    found: dict[str, int] = {"events": len(await told(world.db, sender.tenant_id, ""))}
    for table in TABLES:
        counted = await rows(world.db, sender.tenant_id, f"SELECT count(*) AS n FROM {table}")
        found[table] = counted[0]["n"]
    return found


async def test_a_stranger_is_imagined_and_nothing_is_written(world: SentWorld) -> None:
    async with world.sender() as sender:
        before = await everything(world, sender)
        answer = await simulate(sender)
        after = await everything(world, sender)

    found = answer.json()
    assert answer.status_code == 200, answer.text
    assert before == after
    assert (found["would"], found["until"], found["reason"]) == ("send", None, None)
    assert found["steps"] == [
        {
            "step": 1,
            "channel": "email",
            "vendor": "smtp",
            "verdict": "pass",
            "reason": None,
            "explanation": "It would be sent.",
            "until": None,
        }
    ]
    assert {line["verdict"] for line in found["decision"]} == {"pass"}
    assert (found["message"]["subject"], found["message"]["direction"]) == ("سلام Laila", "rtl")
    assert found["preferences"] == {"recipient_id": None, "version": 0}
    assert found["summary"] == "It would be sent by email."
    assert found["notes"] == []


async def test_somebody_known_is_read_as_they_are(world: SentWorld) -> None:
    async with world.sender() as sender:
        person = await world.recipient(
            sender.tenant_id, ("email", f"k-{unused()}@example.test"), display_name="Zahra", locale="en"
        )
        answer = await simulate(sender, recipient=person)
        asked = await simulate(sender, recipient=person, locale="fa-AF")
        unknown = await simulate(sender, recipient=RECIPIENT.new(SystemClock().now()))

    assert answer.json()["preferences"]["recipient_id"] == person
    assert answer.json()["message"]["locale"] == "en"
    assert asked.json()["message"]["locale"] == "fa-AF"
    assert (unknown.status_code, unknown.json()["code"]) == (404, "recipient_not_found")


async def test_an_inline_wish_counts_on_paper_only(world: SentWorld) -> None:
    """A known person with another language and a first address in the request: both count, neither is kept."""
    async with world.sender() as sender:
        person = await world.recipient(sender.tenant_id, locale="en")
        before = await everything(world, sender)
        without = await simulate(sender, recipient=person)
        wished = await simulate(
            sender,
            recipient={
                "id": person,
                "locale": "fa-AF",
                "addresses": [{"channel": "email", "address": "new@example.test"}],
            },
        )
        after = await everything(world, sender)

    assert (without.json()["would"], without.json()["reason"]) == ("stop", "no_address")
    assert without.json()["message"] is None
    assert (wished.json()["would"], wished.json()["message"]["locale"]) == ("send", "fa-AF")
    assert before == after


async def test_quiet_hours_put_it_off_and_critical_passes(world: SentWorld) -> None:
    async with world.sender(NotificationPolicy(quiet_hours=(NIGHT,))) as sender:
        quiet = (await simulate(sender)).json()
        critical = (await simulate(sender, priority="critical")).json()

    assert (quiet["would"], quiet["reason"], quiet["message"]) == ("defer", "quiet_hours", None)
    assert quiet["until"] is not None
    assert quiet["decision"][-1]["verdict"] == "defer"
    assert critical["would"] == "send"
    assert "quiet_but_critical" in [line["reason"] for line in critical["decision"]]


async def test_what_needs_consent_is_stopped_without_it(world: SentWorld) -> None:
    async with world.sender() as sender:
        found = (await simulate(sender, category="marketing")).json()

    assert (found["would"], found["reason"], found["steps"]) == ("stop", "consent_missing", [])
    assert found["summary"].startswith("It would not be sent. The category needs consent")


async def test_a_suppressed_address_is_seen_though_nobody_has_it_yet(world: SentWorld) -> None:
    address = f"held-{unused()}@example.test"
    async with world.sender() as sender:
        async with world.db.tenant(sender.tenant_id) as tx:
            wish = SuppressionSpec(
                channel="email", address=normalise("email", address), reason=SuppressionReason.COMPLAINT
            )
            await world.suppressor.add(tx, [wish], actor="test")
        found = (
            await simulate(sender, recipient={"addresses": [{"channel": "email", "address": address}]})
        ).json()

    assert (found["would"], found["reason"]) == ("stop", "suppressed_by_tenant")


async def test_limits_are_not_taken_from_and_that_is_said(world: SentWorld) -> None:
    policy = NotificationPolicy(limits=SendingLimits(per_day=1))
    async with world.sender(policy, channels=()) as sender:
        await world.channel(sender.tenant_id, "email", rate_limit=RateLimit(per_minute=1))
        found = [(await simulate(sender)).json() for _ in range(3)]

    assert [one["would"] for one in found] == ["send"] * 3
    asked = {line["gate"]: line["verdict"] for line in found[0]["decision"]}
    assert (asked["rate_limits"], asked["channel_limit"]) == ("not_asked", "not_asked")
    assert found[0]["notes"][0].startswith("Rate limits are not taken from")


async def test_a_channel_that_is_not_set_up_says_so(world: SentWorld) -> None:
    async with world.sender(channels=()) as sender:
        by_name = (await simulate(sender)).json()
        by_ladder = (await simulate(sender, channel="auto")).json()

    assert (by_name["would"], by_name["reason"]) == ("stop", "channel_not_set_up")
    assert (by_name["steps"], by_name["decision"][-1]["gate"]) == ([], "channel_allowed")
    assert (by_ladder["would"], by_ladder["reason"], by_ladder["steps"]) == ("stop", "no_channel", [])


async def test_auto_shows_the_whole_ladder(world: SentWorld) -> None:
    """Mail is not possible for somebody without a mail address; the text message after it is."""
    async with world.sender(channels=("email", "sms")) as sender:
        text = {"en": {"format": "text", "body": "Hello {{name}}"}}
        await publish(sender.client, channel="sms", locales=text)
        somebody = {"addresses": [{"channel": "sms", "address": "+93700123456"}]}
        found = (await simulate(sender, channel="auto", recipient=somebody)).json()

    assert found["would"] == "send"
    assert [(s["channel"], s["verdict"], s["reason"]) for s in found["steps"]] == [
        ("email", "stop", "no_address"),
        ("sms", "pass", None),
    ]
    assert found["message"] == {
        "channel": "sms",
        "subject": None,
        "text": "Hello Laila",
        "html": None,
        "locale": "en",
        "direction": "ltr",
    }


async def test_files_that_a_channel_cannot_carry_are_refused_or_said_to_be_left_out(world: SentWorld) -> None:
    async with world.sender(channels=("email", "sms")) as sender:
        text = {"en": {"format": "text", "body": "Hello {{name}}"}}
        await publish(sender.client, channel="sms", locales=text)
        await publish(sender.client, key="texts_alone", channel="sms", locales=text)
        somebody = {"addresses": [{"channel": "sms", "address": "+93700123456"}]}
        wish = {
            "recipient": somebody,
            "attachments": [{"filename": "a.txt", "media_type": "text/plain", "content": "YQ=="}],
        }
        by_sms = await simulate(sender, channel="sms", **wish)
        nowhere = await simulate(sender, channel="auto", template="texts_alone", **wish)
        by_ladder = (await simulate(sender, channel="auto", **wish)).json()

    assert (by_sms.status_code, by_sms.json()["errors"]) == (
        400,
        [
            {
                "field": "attachments",
                "remedy": "can't go by sms; channels that carry files: email. Choose one of them or auto, or leave them out",
            }
        ],
    )
    assert nowhere.json()["errors"][0]["remedy"] == (
        "can go by email alone, and the template is for sms; publish it for email, or leave them out"
    )
    assert by_ladder["summary"] == (
        "It would be sent by sms. The attached files were left out: this channel can't carry them."
    )
    assert [(s["channel"], s["verdict"], s["reason"]) for s in by_ladder["steps"]] == [
        ("email", "stop", "no_address"),
        ("sms", "pass", "files_left_out"),
    ]


async def test_a_scheduled_one_is_decided_for_its_own_time(world: SentWorld) -> None:
    now = SystemClock().now()
    half_day = QuietHours(
        days=ALL_DAYS,
        start=(now - timedelta(hours=1)).strftime("%H:%M"),
        end=(now + timedelta(hours=1)).strftime("%H:%M"),
        timezone="UTC",
    )
    later = now + timedelta(hours=3)
    async with world.sender(NotificationPolicy(quiet_hours=(half_day,))) as sender:
        at_once = (await simulate(sender)).json()
        scheduled = (await simulate(sender, scheduled_for=later.isoformat())).json()

    assert at_once["would"] == "defer"
    assert (scheduled["would"], scheduled["at"][:16]) == ("send", later.isoformat()[:16])


async def test_a_guardian_is_written_to_instead(world: SentWorld) -> None:
    async with world.sender() as sender:
        mother = await world.recipient(
            sender.tenant_id, ("email", f"m-{unused()}@example.test"), locale="en", display_name="Mina"
        )
        child = await world.recipient(sender.tenant_id, locale="fa-AF")
        routing = {"guardian_routing": {"guardian_id": mother, "mode": "instead"}}
        chose = await sender.client.put(
            f"/api/v1/recipients/{child}/preferences", json=routing, headers={"If-Match": "*"}
        )
        found = (await simulate(sender, recipient=child)).json()

    assert chose.status_code == 200, chose.text
    assert (found["would"], found["preferences"]["recipient_id"]) == ("send", mother)
    assert found["message"]["locale"] == "en"
    assert "guardian_instead" in [line["reason"] for line in found["decision"]]


@pytest.mark.parametrize(
    ("wish", "code", "field"),
    [
        ({"template": "nobody_wrote_it"}, "bad_value", "template"),
        ({"variables": {}}, "invalid_variables", "variables.name"),
        ({"recipient": {"addresses": [{"channel": "email", "address": "nobody"}]}}, "bad_value", None),
        ({"scheduled_for": "2020-01-01T00:00:00Z"}, "bad_value", "scheduled_for"),
        ({"colour": "red"}, "bad_value", "colour"),
    ],
)
async def test_what_sending_would_refuse_is_refused(
    world: SentWorld, wish: dict[str, Any], code: str, field: str | None
) -> None:
    async with world.sender() as sender:
        refused = await simulate(sender, **wish)
        in_earnest = await sender.client.post(HOME, json=order(**wish))

    assert refused.json()["code"] == in_earnest.json()["code"] == code
    assert refused.status_code == in_earnest.status_code
    if field is not None:
        assert refused.json()["errors"][0]["field"] == field


async def test_a_frozen_tenant_may_rehearse(world: SentWorld) -> None:
    async with world.sender() as sender:
        async with world.http.as_platform() as platform:
            frozen = await platform.post(
                f"/internal/v1/tenants/{sender.tenant_id}/freeze", json={"reason": "x"}
            )
        rehearsed = await simulate(sender)

    assert frozen.status_code == 200, frozen.text
    assert rehearsed.status_code == 200
