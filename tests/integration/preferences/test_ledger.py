"""The ledger of consent: every yes and no, kept as it was told; and what a tenant lets people hear before they chose."""

import asyncio

import asyncpg
import pytest

from tests.integration.preferences.visitors import visitor
from tests.support.pipeline import PipelineWorld
from tidings.contracts.tenants import NotificationPolicy
from tidings.notify.recipients import consent_store
from tidings.sandbox.faults import FaultSpec

pytestmark = pytest.mark.xdist_group("preferences-ledger")


async def test_every_yes_and_no_leaves_a_line(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        yes = {"granted": True, "source": "signup_form", "evidence": "form 7", "at": "2026-11-01T10:00:00Z"}
        await sender.choose(laila.recipient_id, marketing_consent=yes)
        await sender.choose(laila.recipient_id, marketing_consent=yes)
        await sender.choose(laila.recipient_id, timezone="Asia/Kabul")
        await sender.choose(laila.recipient_id, channels={"sms": {"allow": False}})
        await sender.choose(laila.recipient_id, channels={})
        await sender.choose(laila.recipient_id, marketing_consent={"granted": False})
        lines = await laila.consents()
        path = f"/api/v1/recipients/{laila.recipient_id}/consents"
        first = (await sender.client.get(path, params={"limit": 3})).json()
        rest = (await sender.client.get(path, params={"cursor": first["next_cursor"]})).json()
        odd = await sender.client.get(path, params={"kind": "x"})
        nobody = await sender.client.get(path.replace(laila.recipient_id, f"rcp_{'0' * 26}"))
        async with world.sender() as other:
            foreign = await other.client.get(path)
    assert [(line["kind"], line["channel"], line["source"], line["evidence"]) for line in lines] == [
        ("consent_granted", None, "signup_form", "form 7"),
        ("opted_out", "sms", "api", None),
        ("opted_in", "sms", "api", None),
        ("consent_withdrawn", None, "api", None),
    ]
    assert lines[0]["occurred_at"] == "2026-11-01T10:00:00Z"
    assert [line["preferences_version"] for line in lines] == [1, 3, 4, 5]
    assert all(line["actor"].startswith("key_") for line in lines)
    pages = [*first["items"], *rest["items"]]
    assert [line["id"] for line in pages] == sorted((line["id"] for line in lines), reverse=True)
    assert (odd.status_code, nobody.status_code, foreign.status_code) == (400, 404, 404)


async def test_a_line_can_be_neither_changed_nor_removed(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender, category="marketing")
        await sender.choose(
            laila.recipient_id,
            marketing_consent={"granted": True, "source": "call", "evidence": "recording 12"},
        )
        before = await laila.consents()
        async with world.unguarded("notification.consent_events") as owner:
            for statement in (
                "UPDATE notification.consent_events SET kind = 'opted_in'",
                "UPDATE notification.consent_events SET evidence = 'other'",
                "UPDATE notification.consent_events SET evidence = NULL, source = 'x'",
                "DELETE FROM notification.consent_events",
                "TRUNCATE notification.consent_events",
            ):
                with pytest.raises(asyncpg.RestrictViolationError):
                    async with owner.transaction():
                        await owner.execute(statement)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await sender.rows("DELETE FROM notification.consent_events")
        assert await laila.consents() == before
        async with world.db.tenant(sender.tenant_id) as tx:
            assert await consent_store.forget_evidence(tx, laila.recipient_id) == 1
        after = await laila.consents()
    assert [line | {"evidence": None} for line in before] == after


async def test_consent_that_is_withdrawn_counts_for_the_very_next_step(world: PipelineWorld) -> None:
    """Accepted while they agreed, and even handed over: what is not sent yet is not sent."""
    async with world.sender() as sender:
        laila = await visitor(world, sender, category="marketing")
        world.sandbox.store.clear()
        waiting = await sender.send(recipient=laila.recipient_id, category="marketing")
        await sender.choose(laila.recipient_id, marketing_consent={"granted": False})
        await world.settle()
        assert await sender.status(waiting["id"]) == "suppressed"
        assert world.received(laila.to) == []


async def test_it_counts_between_two_tries_too(world: PipelineWorld) -> None:
    """The vendor put it off, and meanwhile they said no by its own link."""
    async with world.sender() as sender:
        laila = await visitor(world, sender, category="marketing")
        world.sandbox.store.clear()
        world.sandbox.faults.set(FaultSpec(adapter="smtp", mode="reject_temporary", count=1))
        put_off = await sender.send(recipient=laila.recipient_id, category="marketing")
        await world.settle()
        assert await sender.status(put_off["id"]) == "dispatched"
        assert (await laila.browser.post(f"/u/{laila.token}")).status_code == 200
        await world.advance(minutes=10)
        told = await sender.explain(put_off["id"])
        assert "category_declined" in str(told)
        assert world.received(laila.to) == []


async def test_of_two_writers_of_one_row_one_is_told(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        path = f"/api/v1/recipients/{laila.recipient_id}/preferences"
        for _ in range(3):
            tag = {"If-Match": (await sender.client.get(path)).headers["etag"]}
            bodies = [
                {"channels": {channel: {"allow": False}}, "timezone": f"Etc/GMT+{n}"}
                for n, channel in enumerate(("email", "sms"))
            ]
            answers = await asyncio.gather(
                *(sender.client.put(path, json=body, headers=tag) for body in bodies)
            )
            assert sorted(answer.status_code for answer in answers) == [200, 412]
            stands = (await sender.client.get(path)).json()
            [winner] = [answer.json() for answer in answers if answer.status_code == 200]
            assert stands == winner
            await sender.choose(laila.recipient_id, channels={}, timezone=None)


async def test_a_tenants_defaults_hold_for_those_who_have_not_said(world: PipelineWorld) -> None:
    policy = NotificationPolicy(preference_defaults={"social": {"email": False}, "reminder": {"sms": False}})
    async with world.sender(policy) as sender:
        laila = await visitor(world, sender)
        quiet = await sender.send(recipient=laila.recipient_id, category="social")
        await world.settle()
        told = await sender.explain(quiet["id"])
        assert "off_by_default" in str(told), told
        assert await sender.status(quiet["id"]) == "suppressed"
        page = await laila.browser.get(f"/p/{laila.token}")
        assert 'name="hear" value="social:email">' in page.text
        assert 'value="reminder:email" checked>' in page.text
        await laila.save("reminder:email", "social:email", "academic:email", "operational:email")
        assert (await laila.choices())["channels"] == {"email": {"categories": {"social": True}}}
        wanted = await sender.send(recipient=laila.recipient_id, category="social")
        await world.settle()
        assert await sender.status(wanted["id"]) == "delivered"
