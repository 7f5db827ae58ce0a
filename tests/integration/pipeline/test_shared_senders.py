"""At the moment of sending: over an account that tenants share nothing goes out as a sender that is not granted."""

import json
from typing import Any

import pytest

from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, Sender, person
from tidings.cli.tenant_senders import not_granted
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.ids import NotificationId
from tidings.contracts.tenants import NotificationPolicy
from tidings.notify.tenants.store import find_tenant

pytestmark = pytest.mark.xdist_group("pipeline-sent")

ACME = NotificationPolicy(allowed_sender_domains=("acme.test",), allowed_sender_ids=("ACME",))
_numbers = iter(range(100, 999))


def _phone() -> str:
    return f"+4915197{next(_numbers):06d}"


async def _shared(
    world: PipelineWorld, handle: str | None = None, *, kind: str = "http", secret: str = "http.json"
) -> str:
    """A platform's account that only this test uses: its vendor."""
    vendor = f"{kind}_{unused()[:12]}"
    command = ConfigureAccount(vendor=vendor, secret_ref=f"file://{secret}", handle=handle)
    async with world.db.platform() as tx:
        await world.system.router.adapter_configs.configure_platform(tx, [command], actor="test")
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
    sent = await sender.send(**(text | {"recipient": person(phone)} | wish))
    await world.settle()
    async with world.db.tenant(sender.tenant_id) as tx:
        found = await world.system.router.history.of_notifications(tx, [NotificationId(sent["id"])])
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
    numbers = NotificationPolicy(allowed_sender_ids=("+15550111", "+15550222"))
    async with world.sender(numbers, channels=(), grants=False) as sender:
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


async def test_nobody_gets_answers_to_a_number_that_was_not_granted(world: PipelineWorld) -> None:
    """The attack: name a sender of one's own on an account that sends as its own number whatever is named, write to a
    person whom another tenant wrote to, and be the one whom the person answers."""
    number = "100000000000001"
    secret = world.folder / "secrets" / "shared-whatsapp.json"
    secret.write_text(
        json.dumps(
            {
                "api_url": f"{world.sandbox.url}/whatsapp_cloud",
                "phone_number_id": number,
                "access_token": "sandbox-access-token",
                "app_secret": "the-secret-of-the-app",
                "verify_token": "the-word-of-the-app",
            }
        )
    )
    secret.chmod(0o600)
    vendor = await _shared(world, kind="whatsapp_cloud", secret=secret.name)
    phone = _phone()
    people = {"recipient": person(phone) | {"addresses": [{"channel": "whatsapp", "address": phone}]}}
    acmes = NotificationPolicy(allowed_sender_ids=(number,))
    betas = NotificationPolicy(allowed_sender_ids=("BetaOnly",))
    async with (
        world.sender(acmes, channels=(), grants=False) as acme,
        world.sender(betas, channels=(), grants=False) as beta,
    ):
        await acme.channel("whatsapp", vendor=vendor, sender={"sender_id": number})
        await beta.channel("whatsapp", vendor=vendor, sender={"sender_id": "BetaOnly"})
        wished = await _send(world, acme, phone, channel="whatsapp", **people)
        tried = await _send(world, beta, phone, channel="whatsapp", **people)
        tested = await beta.client.post("/api/v1/channels/whatsapp/test", json={"to": phone})
        whom = [
            (await one.client.get("/api/v1/router/conversations")).json()["items"] for one in (acme, beta)
        ]
        async with world.db.platform() as tx:
            found = [await find_tenant(tx, tenant_id=one.tenant_id) for one in (acme, beta)]
        listed = await not_granted(world.system, [one for one in found if one is not None])

    assert wished[0] == "DELIVERED"
    assert tried == REFUSED
    assert (tested.json()["result"], tested.json()["code"]) == ("try_later", "sender_unauthorised")
    assert [shown.from_ for shown in world.received(phone)] == [number]
    assert [(one["tenant"], one["sender"]) for one in listed] == [(found[1].slug, number)]  # type: ignore[union-attr]
    # A person's answer goes to the conversation that is open with them on the number.
    assert [len(found) for found in whom] == [1, 0]


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
