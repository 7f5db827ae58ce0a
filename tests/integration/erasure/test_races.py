"""An erasure among requests that name the same person: each is taken whole before it, or refused after it."""

import asyncio

import pytest

from tests.integration.erasure.scanning import decryptable, in_the_clear
from tests.integration.erasure.somebody import Somebody, erase
from tests.support.pipeline import HOME, PipelineWorld
from tidings.notify.notifications.model import FINAL

pytestmark = pytest.mark.xdist_group("erasing")

_ROUNDS = 3
_OVER = {status.value for status in FINAL}


async def test_requests_meanwhile_leave_nothing_behind(world: PipelineWorld) -> None:
    for _ in range(_ROUNDS):
        them = Somebody()
        async with world.sender() as sender:
            recipient_id = await them.known_to(sender)
            wish = {"template": "order_confirmation", "channel": "email"} | them.message(recipient_id)
            taken: list[str] = []

            async def send(client=sender.client, wish=wish, taken=taken) -> None:  # type: ignore[no-untyped-def]
                for _ in range(5):
                    answer = await client.post(HOME, json=wish)
                    assert answer.status_code in (202, 409), answer.text
                    if answer.status_code == 202:
                        taken.append(answer.json()["id"])

            async def change(client=sender.client, them=them, recipient_id=recipient_id) -> None:  # type: ignore[no-untyped-def]
                for n in range(5):
                    answer = await client.post(
                        "/api/v1/recipients",
                        json={"id": recipient_id, "tags": [f"tag-{them.word}", f"n{n}"]},
                    )
                    assert answer.status_code in (200, 409), answer.text

            async def work() -> None:
                for _ in range(3):
                    await world.settle()

            await asyncio.gather(send(), send(), change(), work(), erase(sender, recipient_id))
            # Erased once more for the callers' words beside what was being accepted at that moment.
            await erase(sender, recipient_id)
            await world.settle()

            everything = [*them.sealed, *them.plain]
            assert await decryptable(world, everything) == {}
            assert await in_the_clear(world, everything) == {}
            for notification_id in taken:
                assert await sender.status(notification_id) in _OVER
            waiting = await sender.rows("SELECT FROM notification.dispatch_queue")
            assert waiting == []


async def test_two_at_once_give_one_receipt(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        recipient_id = await Somebody().known_to(sender)
        receipts = await asyncio.gather(*(erase(sender, recipient_id) for _ in range(4)))
        assert all(receipt == receipts[0] for receipt in receipts)


async def test_a_key_that_is_gone_before_its_row_says_so(world: PipelineWorld) -> None:
    """Between finding a person and their key an erasure may commit: refused as erased, others of the set are not."""
    them, other = Somebody(), Somebody()
    async with world.sender() as sender:
        gone, stays = await them.known_to(sender), await other.known_to(sender)
        async with world.db.tenant(sender.tenant_id) as tx:
            await world.system.kernel.keyring.destroy(tx, [gone])
        wish = {"template": "order_confirmation", "channel": "email"}
        answer = await sender.client.post(
            f"{HOME}/bulk",
            json={"notifications": [wish | them.message(gone), wish | other.message(stays)]},
        )
        items = answer.json()
        assert answer.status_code < 300, items
        told = str(items)
        assert "recipient_erased" in told
        assert stays in told
