"""What was learned about reaching somebody is shown to them, with everything else that is held about them."""

import io
import json
import zipfile
from typing import Any

import pytest

from tests.integration.erasure.somebody import Somebody
from tests.support.pipeline import PipelineWorld, Sender
from tidings.contracts.ids import RECIPIENT
from tidings.router.profiles.facts import SealedId, sealing_purpose
from tidings.router.profiles.model import Observation, TriState
from tidings.router.profiles.store import learn

pytestmark = pytest.mark.xdist_group("erasing")


async def _export(sender: Sender, recipient_id: str) -> zipfile.ZipFile:
    answer = await sender.client.post(f"/api/v1/recipients/{recipient_id}/export")
    assert answer.status_code == 200, answer.text
    return zipfile.ZipFile(io.BytesIO(answer.content))


async def test_an_export_holds_it_in_the_clear(world: PipelineWorld) -> None:
    """Also an id that nobody else gets to see, and who changed something by hand."""
    async with world.sender() as sender:
        recipient_id = RECIPIENT.parse(await Somebody().known_to(sender))
        now = world.system.clock.now()
        async with world.system.db.tenant(sender.tenant_id) as tx:
            key = await world.system.kernel.keyring.data_key(tx, recipient_id)
            chat = SealedId("sha256:" + "a" * 64, key.seal(b"chat-4711", sealing_purpose("telegram_chat_id")))
            seen = Observation(
                recipient_id=recipient_id,
                channel="sms",
                delivered=True,
                at=now,
                fields={"telegram_chat_id": chat, "has_whatsapp_business": TriState.KNOWN_NO},
            )
            await learn(tx, [seen], now=now)
        changed = await sender.client.patch(
            f"/api/v1/router/profiles/{recipient_id}", json={"email_verified": True}
        )
        assert "chat-4711" not in changed.text

        archive = await _export(sender, recipient_id)

        told: dict[str, Any] = json.loads(archive.read("reaching.json"))
        assert [(one["channel"], one["score"]) for one in told["channels"]] == [("sms", 0.6667)]
        assert told["telegram_chat_id"] == "chat-4711"
        assert (told["has_whatsapp_business"], told["email_verified"]) == ("KNOWN_NO", True)
        assert "reaching.json" in archive.read("README.txt").decode()
        changes = [json.loads(line) for line in archive.read("audit.jsonl").splitlines()]
        assert ("profile", "told") in {(one["about"], one["action"]) for one in changes}


async def test_of_whom_nothing_was_learned_there_is_no_such_file(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        recipient_id = await Somebody().known_to(sender)

        archive = await _export(sender, recipient_id)

        assert "reaching.json" not in archive.namelist()
