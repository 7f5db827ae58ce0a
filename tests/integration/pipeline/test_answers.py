"""An answer within a conversation: to the address that it is with, from what was written to, through every gate."""

from typing import Any

import pytest

from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, Sender, person
from tidings.contracts.callback_forms import ReadInbound
from tidings.contracts.tenants import NotificationPolicy
from tidings.router.callbacks.raw_bodies import PLATFORM_PURPOSE
from tidings.router.conversations.keep_inbound import insert_inbound
from tidings.router.executions.model import moment

pytestmark = pytest.mark.xdist_group("pipeline-answers")

TEXT = "Tomorrow at ten is fine."
_numbers = iter(range(100, 999))


def _phone() -> str:
    return f"+4915198{next(_numbers):06d}"


async def _somebody(sender: Sender, *phones: str) -> str:
    """The first is their primary address."""
    made = await sender.client.post("/api/v1/recipients", json=person(*phones))
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def _write(world: PipelineWorld, sender: Sender, phone: str, ours: str) -> str:
    """They write to a number on the platform's account that an operator gave to this tenant; the conversation's id."""
    folder = world.folder / "secrets" / sender.tenant_id
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "inbound").write_text("whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ=")
    (folder / "inbound").chmod(0o600)
    async with world.db.tenant(sender.tenant_id) as tx:
        await world.system.conversations.changer.create(
            tx,
            ours,
            webhook_url="https://clinic.example/mo",
            secret_ref="file://inbound",
            platform=True,
            actor="test",
        )
    async with world.db.platform() as platform:
        account = await platform.connection.fetchval(
            "SELECT id FROM chan.channel_adapter_configs WHERE provider = 'http' AND tenant_id IS NULL"
        )
        read = ReadInbound(
            vendor_message_id=unused(),
            channel="sms",
            sender=phone,
            to=ours,
            text="Which day?",
            occurred_at=None,
        )
        key = await world.system.kernel.keyring.platform_key(platform, PLATFORM_PURPOSE)
        await insert_inbound(platform, "http", [(account, read)], key, moment(world.clock))
    await world.system.conversations.job.drain()
    [found] = (await sender.client.get("/api/v1/router/conversations")).json()["items"]
    return str(found["id"])


async def _answer(sender: Sender, conversation: str, status: int = 202) -> dict[str, Any]:
    answer = await sender.client.post(
        f"/api/v1/router/conversations/{conversation}/messages", json={"text": TEXT}
    )
    assert answer.status_code == status, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def test_it_goes_where_they_wrote_from_and_comes_from_where_they_wrote_to(world: PipelineWorld) -> None:
    ours, primary, theirs = _phone(), _phone(), _phone()
    async with world.sender(channels=("sms",)) as sender:
        await _somebody(sender, primary, theirs)
        conversation = await _write(world, sender, theirs, ours)
        answered = await _answer(sender, conversation)
        await world.settle()
        story = await sender.explain(answered["notification_id"])

    [arrived] = world.received(theirs)
    assert (arrived.from_, arrived.text) == (ours, TEXT)
    assert world.received(primary) == []
    assert story["notification"]["status"] == "delivered"
    assert theirs not in str(story)


async def test_a_vendor_that_does_not_have_the_number_says_who_writes_in_its_own_way(
    world: PipelineWorld,
) -> None:
    """The tenant's channel goes over another vendor by now: to the same address, from the channel's own sender."""
    ours, primary, theirs = _phone(), _phone(), _phone()
    async with world.sender(channels=("sms",)) as sender:
        await _somebody(sender, primary, theirs)
        conversation = await _write(world, sender, theirs, ours)
        async with world.db.tenant(sender.tenant_id) as tx:
            await tx.connection.execute(
                "UPDATE chan.conversations SET vendor = 'twilio', account_id = 'cac_of_another'"
            )
        await _answer(sender, conversation)
        await world.settle()

    [arrived] = world.received(theirs)
    assert arrived.from_ == "ACME"
    assert world.received(primary) == []


async def test_a_number_that_the_tenant_may_no_longer_show_is_not_shown(world: PipelineWorld) -> None:
    """An operator took it from the tenant after they wrote: to the same address, from the channel's own sender."""
    ours, theirs = _phone(), _phone()
    async with world.sender(channels=("sms",)) as sender:
        await _somebody(sender, theirs)
        conversation = await _write(world, sender, theirs, ours)
        await sender.policy(NotificationPolicy(allowed_sender_ids=("acme",)))
        await _answer(sender, conversation)
        await world.settle()

    [arrived] = world.received(theirs)
    assert arrived.from_ == "ACME"


async def test_a_stop_of_that_address_holds_although_the_primary_is_free(world: PipelineWorld) -> None:
    ours, primary, theirs = _phone(), _phone(), _phone()
    async with world.sender(channels=("sms",)) as sender:
        await _somebody(sender, primary, theirs)
        conversation = await _write(world, sender, theirs, ours)
        wish = {"channel": "sms", "address": theirs, "reason": "manual"}
        held = await sender.client.post("/api/v1/suppressions", json=wish)
        assert held.status_code == 201, held.text
        answered = await _answer(sender, conversation)
        await world.settle()
        story = await sender.explain(answered["notification_id"])

    assert story["notification"]["reason"] == "suppressed_by_tenant"
    assert world.received(theirs) == world.received(primary) == []


async def test_an_address_that_is_not_theirs_any_more_is_not_written_to(world: PipelineWorld) -> None:
    """Refused when it is asked for; and where it is removed a moment later, by the gate."""
    ours, primary, theirs = _phone(), _phone(), _phone()
    async with world.sender(channels=("sms",)) as sender:
        recipient = await _somebody(sender, primary, theirs)
        conversation = await _write(world, sender, theirs, ours)
        under_way = await _answer(sender, conversation)
        await _forget(sender, recipient)
        await world.settle()
        story = await sender.explain(under_way["notification_id"])
        refused = await _answer(sender, conversation, 409)

    assert (story["notification"]["status"], story["notification"]["reason"]) == ("failed", "address_gone")
    assert refused["code"] == "conversation_address_gone"
    assert "add it to them again" in refused["detail"]
    assert theirs not in str(refused)
    assert world.received(theirs) == world.received(primary) == []


async def test_a_guardian_who_is_written_to_instead_has_a_number_of_their_own(world: PipelineWorld) -> None:
    ours, mother, theirs = _phone(), _phone(), _phone()
    async with world.sender(channels=("sms",)) as sender:
        guardian, child = await _somebody(sender, mother), await _somebody(sender, theirs)
        await sender.choose(child, guardian_routing={"guardian_id": guardian, "mode": "instead"})
        conversation = await _write(world, sender, theirs, ours)
        await _answer(sender, conversation)
        await world.settle()

    [arrived] = world.received(mother)
    assert (arrived.from_, arrived.text) == ("ACME", TEXT)
    assert world.received(theirs) == []


async def _forget(sender: Sender, recipient: str) -> None:
    """Leave them their primary address alone."""
    path = f"/api/v1/recipients/{recipient}/addresses"
    for address in (await sender.client.get(path)).json()["items"]:
        if not address["primary"]:
            gone = await sender.client.delete(f"{path}/{address['id']}")
            assert gone.status_code in {200, 204}, gone.text
