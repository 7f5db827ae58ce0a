"""Digests on channels of a chat, and what goes by itself because no digest could carry it over its channel."""

from itertools import count
from typing import Any

import pytest

from tests.integration.pipeline.test_digests import EVENING, evening, windows
from tests.support.people import unused
from tests.support.pipeline import HOME, PipelineWorld, Sender

pytestmark = pytest.mark.xdist_group("pipeline-digests")

#: Any text, on each channel that answers are written over.
TEXT = {"template": "conversation_reply", "category": "academic"}

#: Numbers that no other test has.
_numbers = count(4915123491000)


def number() -> str:
    return f"+{next(_numbers)}"


async def somebody(sender: Sender, **addresses: str) -> str:
    """A recipient with these addresses, who wants a digest in the evening."""
    wish = [{"channel": channel, "address": address} for channel, address in addresses.items()]
    made = await sender.client.post("/api/v1/recipients", json={"addresses": wish})
    assert made.status_code == 201, made.text
    recipient_id = str(made.json()["id"])
    await sender.choose(recipient_id, digest_schedule=EVENING)
    return recipient_id


async def send(sender: Sender, recipient_id: str, text: str, **wish: Any) -> str:
    body = TEXT | {"recipient": recipient_id, "variables": {"text": text}} | wish
    answer = await sender.client.post(HOME, json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def own_digest(sender: Sender, channel: str, body: str, key: str = "digest") -> None:
    """A digest of the tenant's own."""
    path = f"/api/v1/templates/{key}/{channel}/versions"
    wish = {
        "semver": "1.0.0",
        "category": "operational",
        "variables_schema": {"type": "object"},
        "locales": {"en": {"body": body}},
        "preview_samples": {"usual": {"count": 2, "items": [{"title": "A"}]}},
    }
    made = await sender.client.post(path, json=wish)
    assert made.status_code == 201, made.text
    published = await sender.client.post(f"{path}/1.0.0/publish")
    assert published.status_code == 200, published.text


@pytest.mark.parametrize("channel", ["telegram", "viber"])
async def test_what_is_gathered_comes_as_one_list(world: PipelineWorld, channel: str) -> None:
    async with world.sender(channels=(channel,)) as sender:
        to = unused()
        laila = await somebody(sender, **{channel: to})
        ids = [await send(sender, laila, f"Letter {n}", channel=channel) for n in range(3)]
        await world.settle()
        assert [await sender.status(id_) for id_ in ids] == ["scheduled"] * 3

        await world.until(evening(world))

        [message] = world.received(to)
        heading, gap, *items = (message.text or "").splitlines()
        assert (heading, gap) == ("3 updates for you from Acme:", "")
        assert sorted(items) == ["• Letter 0", "• Letter 1", "• Letter 2"]
        assert [await sender.status(id_) for id_ in ids] == ["superseded"] * 3


async def test_of_many_long_ones_a_chat_is_told_as_many_as_it_takes(world: PipelineWorld) -> None:
    """Telegram refuses more than 4,096 characters, and the digest with all of its items would be lost."""
    async with world.sender(channels=("telegram",)) as sender:
        to = unused()
        laila = await somebody(sender, telegram=to)
        for n in range(30):
            await send(sender, laila, f"{n} " + "ی" * 400, channel="telegram")
        await world.settle()

        await world.until(evening(world))

        [message] = world.received(to)
        text = message.text or ""
        assert 1_000 < len(text) < 4_096
        assert f"and {30 - text.count('•')} more" in text


async def test_what_no_digest_can_carry_goes_at_once(world: PipelineWorld) -> None:
    """The platform has no digest for WhatsApp: it would wait for the evening, only to go by itself."""
    async with world.sender(channels=("whatsapp",)) as sender:
        to = number()
        laila = await somebody(sender, whatsapp=to)
        body = TEXT | {"recipient": laila, "variables": {"text": "Now"}, "channel": "whatsapp"}
        simulated = (await sender.client.post(f"{HOME}/simulate", json=body)).json()
        assert simulated["would"] == "send"
        id_ = await send(sender, laila, "Now", channel="whatsapp")
        await world.settle()

        assert await sender.status(id_) == "delivered"
        assert [message.text for message in world.received(to)] == ["Now"]
        told = await sender.explain(id_)
        [line] = [line for line in told["decision"] if line["gate"] == "digest"]
        assert (line["verdict"], line["reason"]) == ("pass", "digest_but_no_template")
        assert await windows(sender) == []


async def test_a_tenants_own_digest_adds_a_channel(world: PipelineWorld) -> None:
    async with world.sender(channels=("whatsapp",)) as sender:
        await own_digest(sender, "whatsapp", "{{count}} letters", key="digest.academic")
        to = number()
        laila = await somebody(sender, whatsapp=to)
        for n in range(2):
            await send(sender, laila, f"Letter {n}", channel="whatsapp")
        await world.settle()
        assert [window["channel"] for window in await windows(sender)] == ["whatsapp"]

        await world.until(evening(world))

        assert [message.text for message in world.received(to)] == ["2 letters"]


async def test_with_auto_a_digest_has_to_have_words_for_every_channel(world: PipelineWorld) -> None:
    """Who is reached by WhatsApp alone would never see a digest that knows the other channels only."""
    async with world.sender(channels=("sms", "whatsapp")) as sender:
        laila = await somebody(sender, whatsapp=number())
        first = await send(sender, laila, "Letter 1", channel="auto")
        await world.settle()
        assert await sender.status(first) == "delivered"

        await own_digest(sender, "whatsapp", "{{count}} letters")
        world.system.notify.templates.invalidate()
        second = await send(sender, laila, "Letter 2", channel="auto")
        await world.settle()
        assert await sender.status(second) == "scheduled"


async def test_with_auto_a_channel_that_is_not_set_up_does_not_count(world: PipelineWorld) -> None:
    async with world.sender(channels=("sms", "viber")) as sender:
        to = unused()
        laila = await somebody(sender, viber=to)
        ids = [await send(sender, laila, f"Letter {n}", channel="auto") for n in range(2)]
        await world.settle()
        assert [await sender.status(id_) for id_ in ids] == ["scheduled"] * 2

        await world.until(evening(world))

        assert [(message.text or "")[:9] for message in world.received(to)] == ["2 updates"]
