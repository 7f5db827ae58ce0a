"""Somebody's phone is gone and their other one is not: the message arrives, and the one that is gone is not tried again."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.integration.templates.drafts import draft
from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, Sender, person
from tests.support.played_http import answer
from tests.support.push import service_account
from tidings.contracts.channel_configs import ConfigureAccount

pytestmark = pytest.mark.xdist_group("pipeline-sent")

VENDOR = "fcm_devices"
TOKEN = answer("200 OK", b'{"access_token":"ya29.played","token_type":"Bearer","expires_in":3600}')
TAKEN = answer("200 OK", b'{"name":"projects/green-shop/messages/0:1500415314455276"}')
# firebase.google.com/docs/cloud-messaging/error-codes
GONE = answer(
    "404 Not Found",
    b'{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND","details":'
    b'[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}',
)


class PlayedFcm:
    """Knows which devices there are no longer, and remembers which were tried."""

    def __init__(self) -> None:
        self.gone: set[str] = set()
        self.tried: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                size = int(head.partition("content-length:")[2].partition("\r\n")[0])
                body = await reader.readexactly(size)
                writer.write(TOKEN if head.startswith("post /token") else self._answer(body))
        writer.close()

    def _answer(self, body: bytes) -> bytes:
        device = json.loads(body)["message"]["token"]
        self.tried.append(device)
        return GONE if device in self.gone else TAKEN


@asynccontextmanager
async def fcm(world: PipelineWorld) -> AsyncIterator[PlayedFcm]:
    """The platform's account with it."""
    played = PlayedFcm()
    server = await asyncio.start_server(played.serve, "127.0.0.1", 0)
    place = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    secret = world.folder / "secrets" / f"{VENDOR}.json"
    secret.touch(mode=0o600)
    secret.write_text(json.dumps(service_account(api_url=place, token_uri=f"{place}/token")))
    async with world.db.platform() as tx:
        command = ConfigureAccount(vendor=VENDOR, secret_ref=f"file://{VENDOR}.json")
        await world.system.router.adapter_configs.configure_platform(tx, [command], actor="test")
    try:
        yield played
    finally:
        server.close()


async def somebody_with_devices(sender: Sender, *tokens: str) -> str:
    """A channel and a text for it, and somebody with these devices; their id."""
    await sender.channel("push", vendor=VENDOR, sender={})
    path = "/api/v1/templates/ping/push/versions"
    locales = {"en": {"format": "text", "subject": "Ping", "body": "Hello {{name}}"}}
    made = await sender.client.post(path, json=draft(locales=locales))
    assert made.status_code == 201, made.text
    await sender.client.post(f"{path}/1.0.0/publish")
    devices = [{"channel": "push", "address": one} for one in tokens]
    made = await sender.client.post("/api/v1/recipients", json=person(addresses=devices))
    return str(made.json()["id"])


async def push(sender: Sender, recipient: object) -> str:
    """One message to all devices; its id."""
    sent = await sender.send(
        recipient=recipient, template="ping", channel="push", variables={"name": "Laila"}
    )
    await sender.world.settle()
    return str(sent["id"])


async def test_a_dead_device_beside_a_living_one_is_not_tried_again(world: PipelineWorld) -> None:
    dead, alive, also_dead = (f"{name}-{unused()}" for name in ("dead", "alive", "also-dead"))
    async with fcm(world) as played, world.sender(channels=()) as sender:
        whom = await somebody_with_devices(sender, dead, alive, also_dead)
        played.gone = {dead, also_dead}

        first = await push(sender, whom)
        tried, played.tried = sorted(played.tried), []
        second = await push(sender, whom)

        assert [await sender.status(one) for one in (first, second)] == ["delivered", "delivered"]
        held = await sender.rows(
            "SELECT channel, reason, source_notification_id AS source FROM notification.suppressions"
        )
        kept = await sender.rows("SELECT to_jsonb(e)::text AS text FROM chan.fallback_executions AS e")
    assert tried == sorted([dead, alive, also_dead])
    assert played.tried == [alive]
    assert held == [{"channel": "push", "reason": "invalid_address", "source": first}] * 2
    told = ["invalid_address" in one["text"] for one in kept]
    assert sorted(told) == [False, True], "by the first message, with the names of the addresses"
    assert not any(device in one["text"] for device in (dead, alive, also_dead) for one in kept)
