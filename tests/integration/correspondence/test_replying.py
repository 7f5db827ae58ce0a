"""Answers within a conversation: notifications like any other, and an opt-out that the next one tells of."""

from dataclasses import replace

import pytest

from tests.integration.correspondence.conftest import correspondents
from tests.integration.correspondence.test_correspondents import CONVERSATION, NUMBER, wish
from tests.integration.notifications.world import SentWorld, publish_replies
from tests.support.people import rows
from tests.support.system import announce
from tidings.cli.explanation_format import explanation_lines
from tidings.contracts.correspondence import ConversationReply, ReplyKey, ReplyResult
from tidings.contracts.ids import RecipientAddressId, RecipientId
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import InvalidError, KeyReusedError
from tidings.notify.correspondence.replies import NotificationReplier
from tidings_client.calls import explain as explain_call

ROW = (
    "SELECT use_case, category, priority, channel, correlation_id, recipient_id, is_test "
    "FROM notification.notifications WHERE id = $1"
)


#: Whether it is theirs is asked when it is sent.
ADDRESS = RecipientAddressId("rad_01M7FH87G06QQE67ATFGNQ1BJ2")

KEY = ReplyKey(conversation_id=CONVERSATION, idempotency_key="k-1")


async def _address(world: SentWorld, tenant_id: TenantId, person: RecipientId) -> RecipientAddressId:
    async with world.db.tenant(tenant_id) as tx:
        address_hash = (await world.system.kernel.keyring.pepper(tx)).hash(NUMBER)
        found = await correspondents(world).address_of(tx, person, channel="sms", address_hash=address_hash)
    assert found is not None
    return found


def _reply(
    person: RecipientId,
    key: str = "k-1",
    text: str = "We have found it.",
    address: RecipientAddressId = ADDRESS,
) -> ConversationReply:
    return ConversationReply(
        conversation_id=CONVERSATION,
        recipient_id=person,
        channel="sms",
        address_id=address,
        text=text,
        idempotency_key=key,
        actor="key:support",
    )


def _replier(world: SentWorld) -> NotificationReplier:
    return NotificationReplier(world.system.accept.acceptor)


async def _published(world: SentWorld, tenant_id: TenantId) -> None:
    async with world.http.as_tenant(tenant_id) as client:
        await publish_replies(client)


async def test_a_reply_is_a_notification_and_is_ordered_once(world: SentWorld) -> None:
    tenant = await world.tenant()
    await world.channel(tenant.id, "sms")
    await _published(world, tenant.id)
    person = await world.recipient(tenant.id, ("sms", NUMBER))
    replier = _replier(world)

    first = await replier.reply(tenant.id, _reply(person))
    again = await replier.reply(tenant.id, _reply(person))
    known = await replier.replied(tenant.id, key=KEY, text="We have found it.")
    never = await replier.replied(
        tenant.id, key=replace(KEY, idempotency_key="k-2"), text="We have found it."
    )
    other = await replier.reply(tenant.id, _reply(person, "k-2"))
    with pytest.raises(KeyReusedError):
        await replier.replied(tenant.id, key=KEY, text="Something else.")
    with pytest.raises(KeyReusedError):
        await replier.reply(tenant.id, _reply(person, text="Something else."))
    with pytest.raises(InvalidError, match="text must have"):
        await replier.reply(tenant.id, _reply(person, "k-3", " "))

    assert first == ReplyResult(notification_id=first.notification_id, created=True, status="queued")
    assert (
        again == known == ReplyResult(notification_id=first.notification_id, created=False, status="queued")
    )
    assert never is None
    assert other.notification_id != first.notification_id
    assert await rows(world.db, tenant.id, ROW, first.notification_id) == [
        {
            "use_case": "conversational",
            "category": "transactional",
            "priority": "high",
            "channel": "sms",
            "correlation_id": CONVERSATION,
            "recipient_id": person,
            "is_test": False,
        }
    ]


async def test_the_next_attempt_tells_of_the_opt_out(alone: SentWorld) -> None:
    """STOP in Hausa: since when, why, and where it was said; and no address."""
    tenant = await alone.tenant()
    await alone.channel(tenant.id, "sms")
    await _published(alone, tenant.id)
    person = await alone.recipient(tenant.id, ("sms", NUMBER))
    async with alone.db.tenant(tenant.id) as tx:
        await correspondents(alone).stop(tx, [wish(person, channel="sms")])

    address = await _address(alone, tenant.id, person)
    done = await _replier(alone).reply(tenant.id, _reply(person, address=address))
    await announce(alone.system)
    await alone.hand_over()
    await alone.system.executions.due.drain()
    for relay in (alone.system.kernel.bus.relay("chan"), alone.system.kernel.bus.relay("notification")):
        await relay.drain()
    await alone.system.consumers.outcomes.drain()
    async with alone.http.as_tenant(tenant.id) as client:
        answer = await client.get(f"/api/v1/notifications/{done.notification_id}/explain")

    found = answer.json()
    assert (found["notification"]["status"], found["notification"]["reason"]) == (
        "suppressed",
        "suppressed_by_tenant",
    )
    [line] = [line for line in found["decision"] if line["verdict"] == "stop"]
    asked = f"TSAYA, in Hausa, conversation {CONVERSATION}"
    assert line["explanation"].startswith("The address is suppressed since ")
    assert line["explanation"].endswith(f": its owner wants no more messages (opt_out; {asked}).")
    assert (line["suppression"]["reason"], line["suppression"]["asked"]) == ("opt_out", asked)
    assert line["suppression"]["since"] is not None
    assert asked in found["summary"]
    assert NUMBER not in answer.text
    printed = "\n".join(
        text.plain for text in explanation_lines(explain_call(str(done.notification_id)).read(answer.content))
    )
    assert asked in printed
