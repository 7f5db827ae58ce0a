"""Ways to fill in-app inboxes and to visit them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import msgspec

from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, Sender, person

HOME = "/api/v1/inbox"
#: A document for the channel, whose words come with the notification.
DOCUMENT: dict[str, Any] = {
    "title": "{{title}}",
    "body": "Hello {{@recipient.name}}, **{{title}}** is on its way.",
    "body_format": "markdown",
    "link": "https://shop.example/orders/{{title}}",
    "picture": "https://shop.example/parcel.png",
    "actions": [
        {"name": "accept", "label": "Accept"},
        {"name": "look", "label": "Look", "url": "https://shop.example/look"},
    ],
    "tags": ["orders", "parcels"],
    "data": {"kind": "parcel"},
}


async def publish(
    client: httpx2.AsyncClient,
    key: str = "parcel",
    *,
    channel: str = "inapp",
    document: dict[str, Any] | None = None,
    category: str = "transactional",
    source: dict[str, Any] | None = None,
) -> None:
    """Publish a template with one variable, `title`."""
    body = msgspec.json.encode(document or DOCUMENT).decode()
    text = source or {"format": "json", "body": body}
    path = f"/api/v1/templates/{key}/{channel}"
    draft = {
        "semver": "1.0.0",
        "category": category,
        "variables_schema": {
            "type": "object",
            "properties": {"title": {"type": "string"}},
            "required": ["title"],
        },
        "locales": {"en": text},
        "preview_samples": {"usual": {"title": "A-1"}},
    }
    drafted = await client.post(f"{path}/versions", json=draft)
    assert drafted.status_code == 201, drafted.text
    published = await client.post(f"{path}/versions/1.0.0/publish")
    assert published.status_code == 200, published.text


async def send(sender: Sender, recipient: Any, title: str = "A-1001", **wish: Any) -> str:
    """Send one to an inbox; its notification's id."""
    asked = {
        "recipient": recipient,
        "template": "parcel",
        "channel": "inapp",
        "variables": {"title": title},
    } | wish
    answer = await sender.client.post("/api/v1/notifications", json=asked)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def somebody(sender: Sender, *addresses: str) -> str:
    """A new recipient's id."""
    made = await sender.client.post("/api/v1/recipients", json=person(*addresses))
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


@asynccontextmanager
async def visitor(sender: Sender, recipient_id: str, **wish: Any) -> AsyncIterator[httpx2.AsyncClient]:
    """The recipient, with a token that their tenant's key has made."""
    made = await sender.client.post(f"/api/v1/recipients/{recipient_id}/inbox-tokens", json=wish)
    assert made.status_code == 201, made.text
    async with sender.world.http.client(made.json()["token"]) as client:
        yield client


async def feed(client: httpx2.AsyncClient, **query: Any) -> dict[str, Any]:
    """A page of the feed."""
    answer = await client.get(HOME, params=query)
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    return page


async def settle(world: PipelineWorld) -> None:
    """Do all that can be done now, and let what was read in the application be heard."""
    while True:
        await world.settle()
        done = await world.system.executions.read_in_app.drain()
        done += await world.system.consumers.receipts.drain()
        if not done:
            return


def unique(prefix: str) -> str:
    """A name that no other test has."""
    return f"{prefix}-{unused()}"
