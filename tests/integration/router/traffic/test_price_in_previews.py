"""The preview of an SMS says what it costs through the tenant's vendor, where that is known."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2

from tests.integration.templates.drafts import draft
from tests.support.channel_world import ChannelWorld
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.prices import PriceModel
from tidings.kernel.db import Database

SMS = "/api/v1/templates/welcome/sms/versions"


async def previewed(client: httpx2.AsyncClient) -> dict[str, Any]:
    found: dict[str, Any] = (await client.post(f"{SMS}/1.0.0/preview")).json()["sms"]
    return found


async def test_what_it_costs_where_a_price_is_known(db: Database, tmp_path: Path) -> None:
    world = ChannelWorld(db, tmp_path)
    tenant = await world.tenant()
    folder = tmp_path / "secrets" / tenant
    folder.mkdir(parents=True)
    (folder / "one").write_text('{"url": "https://acme.example/send"}')
    account = ConfigureAccount(
        vendor="http_acme",
        secret_ref="file://one",
        prices=PriceModel(currency="USD", base_micros=100, per_segment_micros=7500),
    )
    channel = {"vendor": "http_acme", "sender": {"sender_id": "ACME"}}
    async with world.http.as_tenant(tenant) as client:
        await client.post(SMS, json=draft(locales={"en": {"body": "{{name}} " + "x" * 200}}))
        without_channel = await previewed(client)
        await client.put(
            "/api/v1/channels/sms",
            json={**channel, "accounts": {"http_acme": {"secret_ref": "file://one"}}},
        )
        without_price = await previewed(client)
        async with db.tenant(tenant) as tx:
            await world.system.router.adapter_configs.configure(tx, [account], actor="test")
        await world.clock.advance(timedelta(seconds=2))
        priced = await previewed(client)
    await world.system.notify.renderer.close()
    await world.system.notify.authoring.close()

    assert (without_channel["cost_micros"], without_price["cost_micros"]) == (None, None)
    assert (priced["segments"], priced["cost_micros"], priced["currency"]) == (2, 15_100, "USD")
