"""A channel whose account is in Vault, through the whole application."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.channel_world import ChannelWorld, put_channel
from tests.support.login_vendor import login_vendor
from tests.support.vault import TOKEN, PlayedVault, played_vault
from tests.support.vendors import MESSAGE
from tidings.contracts.messages import Accepted, Outcome, TryLater
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId


@pytest.fixture
def vault() -> Iterator[PlayedVault]:
    with played_vault() as played:
        yield played


def world_with(db: Database, folder: Path, vault: PlayedVault) -> ChannelWorld:
    return ChannelWorld(
        db,
        folder,
        TIDINGS_VAULT_URL=vault.url,
        TIDINGS_VAULT_TOKEN=TOKEN,
        TIDINGS_VAULT_MOUNT="kv",
        TIDINGS_VAULT_TENANTS="customers",
    )


def settings(port: int, password: str) -> dict[str, Any]:
    return {
        "host": "127.0.0.1", "port": port, "security": "none", "auth_without_tls": True, "username": "post",
        "password": password,
    }  # fmt: skip


async def send(world: ChannelWorld, tenant_id: TenantId) -> Outcome:
    return (await world.system.vendors.vendors.send(tenant_id, "smtp", [MESSAGE])).outcomes[0]


async def test_sent_rotated_and_sent_on_while_vault_is_away(
    db: Database, tmp_path: Path, vault: PlayedVault
) -> None:
    world = world_with(db, tmp_path, vault)
    tenant_id = await world.tenant()
    home = f"kv/customers/{tenant_id}"
    async with login_vendor("one", "two") as vendor, world.http.as_tenant(tenant_id) as client:
        vault.secrets[f"{home}/smtp"] = settings(vendor.port, "one")
        await put_channel(client, "vault://smtp")
        outcomes = [await send(world, tenant_id)]
        vault.secrets[f"{home}/smtp"] = settings(vendor.port, "two")
        await world.clock.advance(timedelta(hours=1))
        outcomes.append(await send(world, tenant_id))
        vault.status = 503
        await world.clock.advance(timedelta(hours=1))
        outcomes.append(await send(world, tenant_id))
        away = await client.post(
            "/api/v1/channels/email/credentials/rotate", json={"secret_ref": "vault://smtp"}
        )
        vault.status = None
        vault.secrets[f"{home}/smtp"] = None
        await world.clock.advance(timedelta(hours=1))
        gone = await send(world, tenant_id)
    await world.close()

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 3
    assert vendor.mails == {"one": 1, "two": 2}
    assert (away.status_code, away.json()["code"]) == (503, "secrets_unavailable")
    assert "sealed" in away.json()["detail"]
    assert isinstance(gone, TryLater)
    assert gone.code == "account_secret"


async def test_a_start_while_vault_is_away_loses_nothing(
    db: Database, tmp_path: Path, vault: PlayedVault
) -> None:
    world = world_with(db, tmp_path, vault)
    tenant_id = await world.tenant()
    async with login_vendor("one") as vendor, world.http.as_tenant(tenant_id) as client:
        vault.secrets[f"kv/customers/{tenant_id}/smtp"] = settings(vendor.port, "one")
        await put_channel(client, "vault://smtp")
        vault.status = 503
        fresh = world_with(db, tmp_path, vault)
        waits = await send(fresh, tenant_id)
        vault.status = None
        await fresh.clock.advance(timedelta(seconds=2))
        goes = await send(fresh, tenant_id)
        await fresh.close()
    await world.close()

    assert isinstance(waits, TryLater)
    assert waits.code == "secret_store"
    assert isinstance(goes, Accepted)


async def test_what_a_tenant_names_must_be_there(db: Database, tmp_path: Path, vault: PlayedVault) -> None:
    world = world_with(db, tmp_path, vault)
    tenant_id, other = await world.tenant(), await world.tenant()
    vault.secrets[f"kv/customers/{other}/smtp"] = {"value": "hunter22"}
    async with world.http.as_tenant(tenant_id) as client:
        for ref in ("vault://smtp", f"vault://../{other}/smtp", f"vault://customers/{other}/smtp"):
            body = {
                "vendor": "smtp",
                "sender": {"from_address": "hello@acme.test"},
                "accounts": {"smtp": {"secret_ref": ref}},
            }
            refused = await client.put("/api/v1/channels/email", json=body)
            assert refused.status_code == 400
            assert refused.json()["errors"][0]["field"] == "accounts.smtp.secret_ref"
            assert "hunter22" not in refused.text


def test_a_worker_keeps_the_token_alive(db: Database, tmp_path: Path, vault: PlayedVault) -> None:
    assert "vault" in world_with(db, tmp_path, vault).system.jobs()
