"""One adapter, several vendors: accounts under names of their own."""

from pathlib import Path

import msgspec

from tests.integration.router.traffic.world import TrafficWorld
from tests.support.channel_world import ChannelWorld
from tidings.kernel.db import Database


async def test_accounts_of_one_adapter_stand_side_by_side(world: TrafficWorld) -> None:
    await world.with_accounts("http")

    assert _own(world) == ["http", "http_a", "http_b"]
    assert len({world.accounts[vendor].id for vendor in _own(world)}) == 3


async def test_an_account_whose_adapter_is_gone_is_passed_over(world: TrafficWorld) -> None:
    await world.with_accounts("pigeon_post")

    assert _own(world) == ["http_a", "http_b"]


async def test_a_channel_takes_two_vendors_of_one_adapter(db: Database, tmp_path: Path) -> None:
    world = ChannelWorld(db, tmp_path)
    tenant = await world.tenant()
    folder = tmp_path / "secrets" / tenant
    folder.mkdir(parents=True)
    settings = {"url": "https://vendor.example/messages", "body": {"to": "{to}"}}
    (folder / "one.json").write_bytes(msgspec.json.encode(settings))
    wish = {
        "vendor": "http_acme",
        "fallback_vendor": "http_backup",
        "sender": {"sender_id": "ACME"},
        "accounts": {
            "http_acme": {"secret_ref": "file://one.json"},
            "http_backup": {"secret_ref": "file://one.json"},
        },
    }
    async with world.http.as_tenant(tenant) as client:
        done = await client.put("/api/v1/channels/sms", json=wish)
        wrong = await client.put(
            "/api/v1/channels/viber", json={**wish, "vendor": "httpacme", "accounts": {}}
        )

    assert done.status_code == 200, done.text
    assert sorted(account["vendor"] for account in done.json()["accounts"]) == ["http_acme", "http_backup"]
    assert wrong.json()["errors"][0]["field"] == "vendor"
    assert "http_backup" in wrong.text


def _own(world: TrafficWorld) -> list[str]:
    """Vendors that the tenant has accounts of its own with; the platform's are those of all tests."""
    return sorted(vendor for vendor, account in world.accounts.items() if not account.platform)
