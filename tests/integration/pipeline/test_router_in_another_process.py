"""Notifications arrive the same way when notify and the router exchange nothing but bytes."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support.kms import MemoryKms
from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, person
from tests.support.port_bytes import EncodedPreparer, EncodedRouter, RemoteRouter
from tidings.kernel.keys.keyring import Keyring

pytestmark = pytest.mark.xdist_group("pipeline-sent")


@pytest.mark.parametrize("apart", [EncodedRouter, RemoteRouter])
async def test_the_whole_way_through_bytes(
    world: PipelineWorld, monkeypatch: pytest.MonkeyPatch, apart: type[EncodedRouter]
) -> None:
    system = world.system
    preparer = EncodedPreparer(system.composition.gate)
    job = system.dispatch.job
    monkeypatch.setattr(job, "_dispatcher", replace(job._dispatcher, router=apart(system.executions.router)))
    advancer = system.executions.due._work_on_set.__self__  # type: ignore[union-attr]
    monkeypatch.setattr(system.executions.due, "_work_on_set", replace(advancer, preparer=preparer).advance)
    mail, phone = f"{unused()}@example.test", f"+49151234{79901 + issubclass(apart, RemoteRouter)}"
    code: dict[str, Any] = {"template": "otp", "variables": {"code": "482915"}, "channel": "auto"}
    files = [{"filename": "a.txt", "media_type": "text/plain", "content": "aGVsbG8="}]
    async with world.sender(channels=("email", "sms")) as sender:
        sent = await sender.send(mail, attachments=files, metadata={"order": {"id": 7, "tags": ["a", None]}})
        second = await sender.send(**code, recipient=person(phone))
        await world.settle()
        told = [await sender.explain(one["id"]) for one in (sent, second)]

    assert [one["notification"]["status"] for one in told] == ["delivered", "delivered"]
    attempts = [[step for step in one["timeline"] if step["kind"] == "attempt"] for one in told]
    assert [len(one) for one in attempts] == [1, 1]
    assert len(world.received(mail)) + len(world.received(phone)) == 2
    # Of the second one, the step for mail is skipped; from afar also first steps are asked for.
    assert preparer.asked == (3 if apart is RemoteRouter else 2)
    async with system.db.tenant(sender.tenant_id) as tx:
        kept = await tx.connection.fetch(
            "SELECT raw_payload_ref FROM chan.delivery_attempts WHERE provider IS NOT NULL"
        )
    # The vendors' answers are kept, sealed under a key that did not pass the port.
    assert len(kept) == 2
    assert all(row["raw_payload_ref"] for row in kept)


async def test_a_key_that_can_not_be_opened_loses_the_vendors_words_and_not_the_outcome(
    world: PipelineWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key service does not know the key when the vendor has taken the message: it must not be sent again for that."""
    system, router = world.system, world.system.executions.router
    without_keys = replace(router.caller, keyring=Keyring(MemoryKms(), clock=system.clock))
    router = replace(router, caller=without_keys)
    job = system.dispatch.job
    monkeypatch.setattr(job, "_dispatcher", replace(job._dispatcher, router=EncodedRouter(router)))
    to = f"{unused()}@example.test"
    async with world.sender() as sender:
        sent = await sender.send(to)
        await world.settle()
        assert await sender.status(sent["id"]) == "delivered"
    async with system.db.tenant(sender.tenant_id) as tx:
        attempts = await tx.connection.fetch("SELECT status, raw_payload_ref FROM chan.delivery_attempts")
    assert [row["raw_payload_ref"] for row in attempts] == [None]
    assert len(world.received(to)) == 1
