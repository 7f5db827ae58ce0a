"""What vendors told about somebody's messages, word for word, is destroyed when they are erased."""

from typing import cast

import pytest

from tests.integration.erasure.somebody import erase
from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, Sender, person
from tidings.contracts.callback_forms import ReadEvent
from tidings.kernel.db import Row
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.postgres_bus.consumer import Consumer
from tidings.router.callbacks.dead_letters import DeadCallbacks
from tidings.router.callbacks.errors import CallbackBodyGoneError
from tidings.router.callbacks.intake import CallbackGroupCommit, IncomingCallback
from tidings.router.conversations.keep_inbound import InboundKeeper
from tidings.router.ids import INBOUND_WEBHOOK

pytestmark = pytest.mark.xdist_group("erasing")


async def _sent(world: PipelineWorld, sender: Sender, word: str) -> tuple[str, Row]:
    """Somebody who was sent a text, and the call that did it."""
    made = await sender.client.post(
        "/api/v1/recipients",
        json=person(f"{word}@example.test", f"+9370{int(unused(), 36) % 10_000_000:07}"),
    )
    assert made.status_code == 201, made.text
    message = await sender.send(
        recipient=made.json()["id"], channel="sms", template="otp", variables={"code": "482915"}
    )
    await world.settle()
    assert await sender.status(message["id"]) in {"sent", "delivered"}
    async with world.db.tenant(sender.tenant_id) as tx:
        row = await tx.connection.fetchrow(
            "SELECT provider, adapter_config_id, provider_message_id FROM chan.delivery_attempts "
            "WHERE execution_id IN (SELECT id FROM chan.executions_live WHERE notification_id = $1 "
            "UNION ALL SELECT id FROM chan.fallback_executions WHERE notification_id = $1)",
            message["id"],
        )
    assert row is not None
    return str(made.json()["id"]), cast("Row", row)


async def _tell(world: PipelineWorld, call: Row, body: bytes) -> str:
    """The vendor tells that it arrived; the id of the request."""
    system = world.system
    intake = CallbackGroupCommit(
        system.db,
        blobs=lambda: system.kernel.blobs,
        keyring=system.kernel.keyring,
        clock=system.clock,
        wakeup=Wakeup(),
        wrote=InboundKeeper(Wakeup()),
    )
    read = ReadEvent(
        vendor_message_id=call["provider_message_id"],
        word="delivered",
        status="delivered",
        occurred_at=None,
        discriminator=unused(),
    )
    told = IncomingCallback(
        account_id=call["adapter_config_id"],
        signature_valid=True,
        status="received",
        reason=None,
        body=body,
        events=[read],
    )
    await intake.take(call["provider"], told)
    await system.callbacks.job.drain()
    async with system.db.worker() as tx:
        return str(
            await tx.connection.fetchval(
                "SELECT webhook_inbound_id FROM chan.webhook_inbound_events WHERE vendor_message_id = $1 "
                "ORDER BY received_at DESC, id DESC LIMIT 1",
                call["provider_message_id"],
            )
        )


async def _body(world: PipelineWorld, request_id: str) -> bytes:
    system = world.system
    dead = system.router.parts.get(DeadCallbacks)
    async with system.db.platform() as tx:
        wanted = INBOUND_WEBHOOK.parse(request_id)
        return await dead.body_of_request(tx, system.kernel.blobs, wanted, actor="test")


async def test_they_go_with_the_person_and_the_receipt_counts_them(world: PipelineWorld) -> None:
    """As soon as the erasure is heard of; those of others stay."""
    consumer = cast("Consumer", world.system.jobs()["erased_callbacks"])
    async with world.sender() as sender:
        hers, her_call = await _sent(world, sender, unused())
        _, his_call = await _sent(world, sender, unused())
        about_her = await _tell(world, her_call, b"delivered to her")
        about_him = await _tell(world, his_call, b"delivered to him")
        assert await _body(world, about_her) == b"delivered to her"

        receipt = await erase(sender, hers)
        await world.settle()
        await consumer.drain()

        assert receipt["statement"]["destroyed"]["raw_callbacks"] == 1
        with pytest.raises(CallbackBodyGoneError):
            await _body(world, about_her)
        assert await _body(world, about_him) == b"delivered to him"
        again = await erase(sender, hers)
        assert again == receipt
