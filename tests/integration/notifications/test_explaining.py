"""`explain` over HTTP: why somebody did, or did not, get this."""

from datetime import timedelta
from typing import Any

import pytest

from tests.integration.notifications.world import HOME, SentWorld
from tests.integration.templates.drafts import draft
from tests.support.people import rows, unused
from tests.support.system import announce
from tidings.contracts.tenants import NotificationPolicy, QuietHours
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import time_of
from tidings_client.calls import explain as explain_call

ALL_DAYS: Any = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
PASSED = "t+;e+;r+;c+;q+;1.s+;1.e+;1.t+;1.r+;1.h+;1.a+;1.p+;1.f+;1.q+"
SNAPSHOT = '{"locale":"fa-AF","time_zone":"Asia/Kabul","direction":"rtl","digest":"sha256:x","bytes":9}'


async def test_one_that_waits_tells_what_comes_next(world: SentWorld) -> None:
    later = SystemClock().now() + timedelta(hours=2)
    async with world.sender() as sender:
        queued = (await sender.get(f"/{await sender.send()}/explain")).json()
        scheduled = (
            await sender.get(f"/{await sender.send(scheduled_for=later.isoformat())}/explain")
        ).json()

    assert (queued["phase"], queued["next"]["what"], queued["next"]["at"]) == ("queued", "decide", None)
    assert queued["decision"] == queued["attempts"] == []
    assert [line["kind"] for line in queued["timeline"]] == ["accepted"]
    assert [line["kind"] for line in scheduled["timeline"]] == ["accepted", "scheduled"]
    assert (scheduled["phase"], scheduled["next"]["at"][:16]) == ("waiting", later.isoformat()[:16])
    assert scheduled["summary"].startswith("It was not sent yet. The gates are asked on ")
    assert scheduled["summary"].endswith("That is when it was asked to be sent.")


async def test_a_delivery_is_explained_from_every_side(world: SentWorld) -> None:
    async with world.sender() as sender:
        id_ = await sender.send()
        one = (await sender.get(f"/{id_}")).json()
        at = time_of(id_) + timedelta(seconds=1)
        execution, attempt = await world.ended(sender.tenant_id, id_, one["recipient_id"], at=at)
        await world.arrange(
            sender.tenant_id,
            id_,
            status="delivered",
            dispatched_at=time_of(id_),
            delivered_at=at,
            delivery_evidence="accepted",
            final_channel="email",
            decision_trace=PASSED,
            preference_version=0,
            locale="fa-AF",
            render_snapshot=SNAPSHOT,
        )
        answer = await sender.get(f"/{id_}/explain")
        attempts = await sender.get(f"/{id_}/attempts")

    found = answer.json()
    assert found["summary"].startswith("Delivered by email on ")
    assert (found["phase"], found["next"], found["possibly_repeated"]) == (None, None, False)
    assert [line["kind"] for line in found["timeline"]] == [
        "accepted",
        "decided",
        "dispatched",
        "attempt",
        "outcome",
        "delivered",
    ]
    assert all(line["verdict"] == "pass" and line["explanation"] for line in found["decision"])
    assert (found["decision"][0]["step"], found["decision"][-1]["step"]) == (None, 1)
    assert (found["template"]["locale"], found["template"]["direction"]) == ("fa-AF", "rtl")
    assert (found["template"]["owner"], found["template"]["rendered"]) == ("tenant", True)
    assert (found["preferences"]["version_decided_by"], found["preferences"]["version_now"]) == (0, 0)
    assert found["preferences"]["now"]["timezone"] == "Asia/Kabul"
    assert found["policy"]["name"] == "default ladder"
    (route,) = found["policy"]["routes"]
    assert (route["step"], route["channel"], route["vendor"]) == (1, "email", "smtp")
    assert (route["success"], route["deadline_seconds"], route["probability"]) == ("accepted", None, None)
    assert found["policy"]["frozen"] is True
    assert [(a["id"], a["status"], a["vendor"]) for a in found["attempts"]] == [(attempt, "accepted", "smtp")]
    assert attempts.json() == {"items": found["attempts"], "next_cursor": None}
    # No address, no name, nothing of the message.
    assert "@" not in answer.text.replace("@context", "")
    assert "Laila" not in answer.text
    assert execution not in answer.text


async def test_the_client_reads_it(world: SentWorld) -> None:
    async with world.sender() as sender:
        id_ = await sender.send()
        read = explain_call(id_).read((await sender.get(f"/{id_}/explain")).content)

    assert (read.notification.id, read.notification.template.key) == (id_, "welcome")  # type: ignore[union-attr]
    assert [(one.kind, "text" in one.facts) for one in read.timeline] == [("accepted", True)]


@pytest.mark.parametrize(
    ("trace", "status", "gate", "reason"),
    [
        ("t+;e+;r+;c-consent_missing", "suppressed", "category_allowed", "consent_missing"),
        ("t+;e-expired", "expired", "not_expired", "expired"),
        ("t+;e+;r-recipient_unknown", "failed", "recipient_known", "recipient_unknown"),
        ("t-tenant_deleting", "cancelled", "tenant_active", "tenant_deleting"),
    ],
)
async def test_a_stop_is_explained(world: SentWorld, trace: str, status: str, gate: str, reason: str) -> None:
    async with world.sender() as sender:
        id_ = await sender.send()
        columns = {"status": status, "decision_trace": trace, f"{status}_at": SystemClock().now()}
        await world.arrange(sender.tenant_id, id_, **columns)
        found = (await sender.get(f"/{id_}/explain")).json()

    decided = next(line for line in found["timeline"] if line["kind"] == "decided")
    assert (decided["verdict"], decided["gate"], decided["reason"]) == ("stop", gate, reason)
    assert found["decision"][-1]["explanation"] in found["summary"]


async def test_a_deferral_says_until_when_and_what_the_preferences_are_now(world: SentWorld) -> None:
    hours = QuietHours(days=ALL_DAYS, start="00:00", end="23:59", timezone="UTC")
    until = (SystemClock().now() + timedelta(hours=5)).replace(microsecond=0)
    async with world.sender(NotificationPolicy(quiet_hours=(hours,))) as sender:
        id_ = await sender.send()
        await world.arrange(
            sender.tenant_id,
            id_,
            status="scheduled",
            decision_trace=f"t+;e+;r+;c+;q~quiet_hours@{int(until.timestamp())}",
            preference_version=0,
        )
        async with world.db.tenant(sender.tenant_id) as tx:
            await tx.connection.execute(
                """INSERT INTO notification.notification_scheduled
                       (tenant_id, id, kind, notification_id, run_after) VALUES ($1, $2, 'quiet_hours', $3, $4)""",
                sender.tenant_id,
                f"sch_{id_[-26:]}",
                id_,
                until,
            )
        found = (await sender.get(f"/{id_}/explain")).json()

    put_off = found["timeline"][-1]
    assert (put_off["kind"], put_off["reason"], "approximate" in put_off) == (
        "deferred",
        "quiet_hours",
        False,
    )
    assert found["next"]["at"] == put_off["until"] == until.isoformat().replace("+00:00", "Z")
    assert found["phase"] == "waiting"
    now = found["preferences"]["now"]
    assert (now["quiet_hours_of"], now["quiet_hours"][0]["start"]) == ("tenant", "00:00")


async def test_explaining_writes_nothing(world: SentWorld) -> None:
    async with world.sender() as sender:
        id_ = await sender.send()
        before = await rows(world.db, sender.tenant_id, "SELECT * FROM notification.notifications")
        await sender.client.get(f"{HOME}/{id_}/explain")
        after = await rows(world.db, sender.tenant_id, "SELECT * FROM notification.notifications")

    assert before == after


async def test_a_real_turn_is_told_from_acceptance_to_the_vendors_answer(alone: SentWorld) -> None:
    """Decided, put into words and sent to a stand-in for a vendor; the body shown afterwards is proven."""
    async with alone.sender(environment="test") as sender:
        id_ = await sender.send()
        await alone.hand_over()
        found = (await sender.get(f"/{id_}/explain")).json()
        body = (await sender.get(f"/{id_}/body")).json()

    assert [line["kind"] for line in found["timeline"]] == [
        "accepted",
        "decided",
        "dispatched",
        "attempt",
        "outcome",
        "delivered",
    ]
    assert (found["notification"]["status"], found["phase"], found["next"]) == ("delivered", None, None)
    assert found["timeline"][-2]["result"] == "DELIVERED"
    gates = [(line["gate"], line["step"]) for line in found["decision"]]
    assert gates[0] == ("tenant_active", None)
    assert ("sender_authorised", 1) in gates
    assert (body["exact"], body["direction"]) == (True, "rtl")


async def test_a_real_stop_and_a_real_deferral_are_told(alone: SentWorld) -> None:
    hours = QuietHours(days=ALL_DAYS, start="00:00", end="23:59", timezone="UTC")
    async with alone.sender(NotificationPolicy(quiet_hours=(hours,)), environment="test") as sender:
        stopped = await sender.send(category="marketing")
        put_off = await sender.send()
        await alone.hand_over()
        no = (await sender.get(f"/{stopped}/explain")).json()
        later = (await sender.get(f"/{put_off}/explain")).json()
        cancelled = await sender.client.post(f"{HOME}/{put_off}/cancel")

    assert (no["notification"]["status"], no["decision"][-1]["reason"]) == ("suppressed", "consent_missing")
    assert no["summary"].startswith("Not sent: suppressed on ")
    assert (later["notification"]["status"], later["phase"]) == ("scheduled", "waiting")
    assert later["timeline"][-1]["until"][:16] == later["next"]["at"][:16]
    assert "approximate" not in later["timeline"][-1]
    assert cancelled.json()["status"] == "cancelled"


async def test_a_text_that_fails_is_named_with_its_expression_file_and_line(alone: SentWorld) -> None:
    """The link's value is wrong, and stays out of what is told."""
    locales = {
        "en": {
            "format": "html",
            "subject": "Hello {{name}}",
            "body": '<p>Hello {{name}}</p>\n<p><a href="{{url}}">Go</a></p>',
        }
    }
    samples = {"usual": {"name": "Laila", "url": "https://example.test/"}}
    await announce(alone.system)
    async with alone.sender(environment="test") as sender:
        path = "/api/v1/templates/linked/email/versions"
        async with alone.http.as_tenant(sender.tenant_id) as author:
            made = await author.post(path, json=draft(locales=locales, preview_samples=samples))
            assert made.status_code == 201, made.text
            await author.post(f"{path}/1.0.0/publish")
        id_ = await sender.send(template="linked", variables={"name": "Laila", "url": "javascript:secret"})
        await alone.hand_over()
        await alone.system.executions.due.drain()
        found = (await sender.get(f"/{id_}/explain")).json()

    [stop] = [line for line in found["decision"] if line["verdict"] == "stop"]
    assert (stop["gate"], stop["reason"]) == ("render", "render_link_not_allowed")
    assert "{{url}} in templates/linked/email/en/body.html:2" in stop["explanation"]
    assert "secret" not in str(found)


async def test_the_version_shown_is_that_of_the_channel_it_went_by(alone: SentWorld) -> None:
    """Two channels of a key have versions of their own."""
    text = {"en": {"body": "Hello {{name}}"}}
    async with alone.sender(environment="test", channels=("email", "sms")) as sender:
        path = "/api/v1/templates/welcome/sms/versions"
        async with alone.http.as_tenant(sender.tenant_id) as author:
            await author.post(path, json=draft("2.3.4", locales=text))
            published = await author.post(f"{path}/2.3.4/publish")
        assert published.status_code == 200, published.text
        id_ = await sender.send(channel="auto")
        before = (await sender.get(f"/{id_}")).json()["template"]
        await alone.arrange(sender.tenant_id, id_, final_channel="sms", status="delivered")
        shown = (await sender.get(f"/{id_}")).json()["template"]
        explained = (await sender.get(f"/{id_}/explain")).json()["template"]
        [listed] = (await sender.get()).json()["items"]

    assert before["version"] == "1.0.0"
    assert (shown["version"], explained["version"], listed["template"]["version"]) == ("2.3.4",) * 3
    assert shown["version_id"] == published.json()["id"] == explained["version_id"]


@pytest.mark.parametrize(("mode", "said"), [("instead", "is written to instead."), ("copy", "gets one too.")])
async def test_a_guardian_is_named_and_by_name_for_whoever_may_see_people(
    alone: SentWorld, mode: str, said: str
) -> None:
    async with alone.sender() as sender:
        address = ("email", f"m-{unused()}@example.test")
        mother = await alone.recipient(sender.tenant_id, address, locale="en", display_name="Mina")
        child = await alone.recipient(sender.tenant_id, ("email", f"c-{unused()}@example.test"))
        chose = await sender.client.put(
            f"/api/v1/recipients/{child}/preferences",
            json={"guardian_routing": {"guardian_id": mother, "mode": mode}},
            headers={"If-Match": "*"},
        )
        id_ = await sender.send(recipient=child)
        await alone.hand_over()
        found = (await sender.get(f"/{id_}/explain")).json()
        async with alone.http.as_tenant(sender.tenant_id, scopes=["notifications:read"]) as client:
            barely = (await client.get(f"{HOME}/{id_}/explain")).json()

    assert chose.status_code == 200, chose.text
    (line,) = [one for one in found["decision"] if one["guardian"] is not None]
    assert line["guardian"] == {"recipient_id": mother, "display_name": "Mina"}
    assert line["explanation"] == f"The recipient's guardian Mina ({mother}) {said}"
    assert line["explanation"] in next(one["text"] for one in found["timeline"] if one["kind"] == "decided")
    (bare,) = [one for one in barely["decision"] if one["guardian"] is not None]
    assert bare["guardian"] == {"recipient_id": mother, "display_name": None}
    assert bare["explanation"] == f"The recipient's guardian {mother} {said}"
    assert "Mina" not in str(barely)
