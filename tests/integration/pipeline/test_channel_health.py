"""What the router says of a vendor account is shown with the channels that go through it; what operators want stays theirs."""

from typing import Any

import pytest

from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, Sender
from tidings.contracts.channel_configs import ConfigureAccount

pytestmark = pytest.mark.xdist_group("pipeline-sent")

CIRCUITS = "router/circuits"


async def _hear(world: PipelineWorld) -> None:
    for relay in world.relays:
        await relay.drain()
    await world.system.consumers.channel_health.drain()


async def _shared(world: PipelineWorld) -> tuple[str, str]:
    """A platform's account that only this test uses: its vendor and id."""
    vendor = f"http_{unused().lower()[:20]}"
    command = ConfigureAccount(vendor=vendor, secret_ref="file://http.json")
    async with world.db.platform() as tx:
        made = await world.system.router.adapter_configs.configure_platform(tx, [command], actor="test")
    return vendor, made[vendor].id


async def _open(client: Any, root: str, account_id: str) -> None:
    wish = {"state": "OPEN", "reason": "the vendor is away"}
    answer = await client.post(f"{root}/{CIRCUITS}/{account_id}/override", json=wish)
    assert answer.status_code == 200, answer.text


async def _close(client: Any, root: str, account_id: str) -> None:
    wish = {"state": "CLOSED", "reason": "it is back"}
    answer = await client.post(f"{root}/{CIRCUITS}/{account_id}/override", json=wish)
    assert answer.status_code == 200, answer.text


async def _sms(sender: Sender) -> dict[str, Any]:
    answer = await sender.client.get("/api/v1/channels/sms")
    found: dict[str, Any] = answer.json()
    return found


def _own(world: PipelineWorld, sender: Sender) -> str:
    folder = world.folder / "secrets" / sender.tenant_id
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "own").write_text((world.folder / "secrets" / "http.json").read_text())
    (folder / "own").chmod(0o600)
    return "file://own"


async def test_a_platforms_account_that_is_away_is_shown_to_those_who_go_through_it(
    world: PipelineWorld,
) -> None:
    (first, first_id), (second, second_id) = await _shared(world), await _shared(world)
    async with (
        world.sender(channels=()) as sender,
        world.sender(channels=()) as other,
        world.http.as_platform() as platform,
    ):
        await sender.channel("sms", vendor=first, fallback_vendor=second)
        own = {first: {"secret_ref": _own(world, other)}}
        await other.channel("sms", vendor=first, accounts=own)
        before = await _sms(sender)

        await _open(platform, "/internal/v1", first_id)
        await _hear(world)
        degraded, listed = await _sms(sender), await sender.client.get("/api/v1/channels")
        untouched = await _sms(other)
        await _open(platform, "/internal/v1", second_id)
        await _hear(world)
        down = await _sms(sender)
        await _close(platform, "/internal/v1", first_id)
        await _hear(world)
        half = await _sms(sender)
        await _close(platform, "/internal/v1", second_id)
        await _hear(world)
        well = await _sms(sender)
    assert [one["status"] for one in (before, degraded, down, half, well)] == [
        "active", "degraded", "down", "degraded", "active",
    ]  # fmt: skip
    assert list(degraded["health"]) == list(listed.json()["items"][0]["health"]) == [first]
    assert degraded["health"][first]["account_id"] == first_id
    assert "of" not in degraded["health"][first]["reason"].split(), "nothing of what others send"
    assert (untouched["status"], untouched["health"]) == ("active", {}), "it has an account of its own"
    assert before["version"] == well["version"], "an ETag that an operator holds stays good"
    assert well["health"] == {}


async def test_an_account_of_ones_own_says_why_and_the_operators_wish_stays(world: PipelineWorld) -> None:
    vendor, _ = await _shared(world)
    async with world.sender(channels=()) as sender:
        own = {vendor: {"secret_ref": _own(world, sender)}}
        await sender.channel("sms", vendor=vendor, accounts=own)
        accounts = (await sender.client.get("/api/v1/router/adapters")).json()["items"]
        account_id = next(one["id"] for one in accounts if one["vendor"] == vendor)
        await _open(sender.client, "/api/v1", account_id)
        await _hear(world)
        down = await _sms(sender)
        await sender.channel("sms", vendor=vendor, status="disabled")
        disabled = await _sms(sender)
        await sender.channel("sms", vendor=vendor, status="active")
        again = await _sms(sender)
        await _close(sender.client, "/api/v1", account_id)
        await _hear(world)
        well = await _sms(sender)
    assert [one["status"] for one in (down, disabled, again, well)] == ["down", "disabled", "down", "active"]
    assert down["health"][vendor]["held"] is True


async def test_another_vendor_takes_the_trouble_of_the_first_along(world: PipelineWorld) -> None:
    (first, first_id), (second, _) = await _shared(world), await _shared(world)
    async with world.sender(channels=()) as sender, world.http.as_platform() as platform:
        await sender.channel("sms", vendor=first)
        await _open(platform, "/internal/v1", first_id)
        await _hear(world)
        down = await _sms(sender)
        await sender.channel("sms", vendor=second)
        moved = await _sms(sender)
    assert (down["status"], moved["status"], moved["health"]) == ("down", "active", {})
