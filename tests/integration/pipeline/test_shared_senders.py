"""At the moment of sending: over an account that tenants share nothing goes out as a sender that is not granted."""

from typing import Any

import pytest

from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, Sender, person
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.tenants import NotificationPolicy
from tidings.kernel.ids import NotificationId

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.xdist_group("pipeline-sent")]

ACME = NotificationPolicy(allowed_sender_domains=("acme.test",), allowed_sender_ids=("ACME",))
_numbers = iter(range(100, 999))


def _phone() -> str:
    return f"+4915197{next(_numbers):06d}"


async def _shared(world: PipelineWorld, handle: str | None = None) -> str:
    """A platform's account that only this test uses: its vendor."""
    vendor = f"http_{unused()[:20]}"
    command = ConfigureAccount(vendor=vendor, secret_ref="file://http.json", handle=handle)
    async with world.db.platform() as tx:
        await world.system.adapter_configs.configure_platform(tx, [command], actor="test")
    return vendor


def _own(world: PipelineWorld, sender: Sender, vendor: str) -> dict[str, Any]:
    """An account of the tenant's own with the same vendor."""
    folder = world.folder / "secrets" / sender.tenant_id
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "own").write_text((world.folder / "secrets" / "http.json").read_text())
    (folder / "own").chmod(0o600)
    return {vendor: {"secret_ref": "file://own"}}


async def _send(world: PipelineWorld, sender: Sender, phone: str, **wish: Any) -> tuple[str | None, str]:
    """How its ladder ended, and why."""
    text = {"template": "otp", "variables": {"code": "482915"}, "channel": "sms", "use_case": "txn"}
    sent = await sender.send(recipient=person(phone), **(text | wish))
    await world.settle()
    async with world.db.tenant(sender.tenant_id) as tx:
        found = await world.system.history.of_notifications(tx, [NotificationId(sent["id"])])
    [execution] = found[NotificationId(sent["id"])]
    return execution.result, (await sender.explain(sent["id"]))["notification"]["reason"]


REFUSED = ("REFUSED_SENDER_UNAUTHORIZED", "sender_unauthorised")


async def test_a_grant_that_was_taken_away(world: PipelineWorld) -> None:
    first, second = _phone(), _phone()
    async with world.sender(ACME, channels=("sms",), grants=False) as sender:
        before = await _send(world, sender, first)
        await sender.policy(NotificationPolicy(), grants=False)
        after = await _send(world, sender, second)

    assert before[0] == "DELIVERED"
    assert after == REFUSED
    assert (len(world.received(first)), world.received(second)) == (1, [])


async def test_who_names_no_sender_comes_from_the_account_that_carries_it(world: PipelineWorld) -> None:
    first, second = _phone(), _phone()
    async with world.sender(channels=(), grants=False) as sender:
        one, other = await _shared(world, "+15550111"), await _shared(world, "+15550222")
        await sender.channel("sms", vendor=one, sender={})
        await _send(world, sender, first)
        # Two accounts, each with a sender of its own.
        await sender.channel("sms", vendor=other, fallback_vendor=one, sender={})
        await world.advance(seconds=2)
        await _send(world, sender, second)

    assert [shown.from_ for phone in (first, second) for shown in world.received(phone)] == [
        "+15550111",
        "+15550222",
    ]


async def test_an_own_account_that_is_off_makes_no_room_for_its_sender(world: PipelineWorld) -> None:
    """The platform's account with the same vendor takes over; it does not show what was never granted."""
    phone = _phone()
    async with world.sender(channels=(), grants=False) as sender:
        vendor = await _shared(world)
        await sender.channel(
            "sms", vendor=vendor, sender={"sender_id": "BANK"}, accounts=_own(world, sender, vendor)
        )
        listed = (await sender.client.get("/api/v1/router/adapters")).json()["items"]
        [own] = [one for one in listed if one["vendor"] == vendor and one["owner"] == "tenant"]
        off = await sender.client.patch(
            f"/api/v1/router/adapters/{own['id']}",
            json={"active": False},
            headers={"If-Match": f'"v{own["version"]}"'},
        )
        assert off.status_code == 200, off.text
        await world.advance(seconds=2)
        ended = await _send(world, sender, phone)

    assert ended == REFUSED
    assert world.received(phone) == []


async def test_a_policy_that_names_a_shared_vendor_is_no_way_around(world: PipelineWorld) -> None:
    """The channel has an account of the tenant's own; a step of its policy goes to another vendor."""
    phone = _phone()
    async with world.sender(channels=(), grants=False) as sender:
        mine, shared = f"http_{unused()[:20]}", await _shared(world)
        await sender.channel(
            "sms", vendor=mine, sender={"sender_id": "BANK"}, accounts=_own(world, sender, mine)
        )
        step = {"channel": "sms", "vendor": shared, "deadline_seconds": 60}
        made = await sender.client.post("/api/v1/router/policies", json={"use_case": "txn", "ladder": [step]})
        assert made.status_code == 201, made.text
        await world.advance(seconds=2)
        ended = await _send(world, sender, phone, channel="auto")

    assert ended == REFUSED
    assert world.received(phone) == []
