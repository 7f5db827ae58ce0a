"""Master and tenant keys are rotated while messages are accepted and sent: no request fails, no message does."""

import asyncio

import pytest

from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, person
from tidings.kernel.clock import SystemClock
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.kms import open_kms
from tidings.kernel.keys.rotation import rotate_master, rotate_tenant
from tidings.kernel.keys.status import key_status

pytestmark = pytest.mark.xdist_group("erasing")

_ROUNDS = 4
#: People who are known before, and written to again and again; everybody else is new.
_KNOWN = 10


async def test_nothing_fails_while_keys_are_rotated(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        known = [f"{unused()}@example.test" for _ in range(_KNOWN)]
        ids = [
            (await sender.client.post("/api/v1/recipients", json=person(mail))).json()["id"] for mail in known
        ]
        before = (await key_status(world.db, world.system.kernel.kms)).master_key_id
        over = asyncio.Event()
        sent: list[str] = []

        async def send(place: int) -> None:
            while not over.is_set():
                sent.append((await sender.send(recipient=ids[place % _KNOWN]))["id"])
                sent.append((await sender.send())["id"])
                place += 1

        async def work() -> None:
            while not over.is_set():
                await world.settle()
                await asyncio.sleep(0)

        async def rotate() -> None:
            # As the operator's command does: another process, with keys of its own.
            kms = open_kms(world.system.settings.kms_url())
            keyring = Keyring(kms, clock=SystemClock())
            try:
                for done in range(_ROUNDS):
                    while len(sent) < 8 * (done + 1):
                        await asyncio.sleep(0.01)
                    await rotate_tenant(world.db, keyring, sender.tenant_id)
                    await rotate_master(world.db, kms)
            finally:
                over.set()

        await asyncio.gather(send(0), send(5), work(), rotate())
        await world.settle()

        statuses = {await sender.status(notification_id) for notification_id in sent}
        assert statuses == {"delivered"}
        assert len(sent) >= 8 * _ROUNDS
        tried = await sender.rows("SELECT max(attempts) AS n FROM notification.dispatch_queue")
        assert tried[0]["n"] is None, "nothing waits, and no turn was tried again"
        versions = await sender.rows("SELECT DISTINCT tenant_key_version AS v FROM kernel.data_keys")
        assert [row["v"] for row in versions] == [_ROUNDS + 1]
        after = await key_status(world.db, world.system.kernel.kms)
        assert after.master_key_id != before
        assert set(after.by_master) == {after.master_key_id}
        # What was sealed before the first rotation opens after the last.
        body = await sender.client.get(f"/api/v1/notifications/{sent[0]}/body")
        assert (body.status_code, body.json()["exact"]) == (200, True)
    assert all(world.received(mail) for mail in known)
