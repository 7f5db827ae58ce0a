"""A tenant enters an account's settings over the API: sealed, read by its accounts at once, shown to nobody."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.channel_world import ChannelWorld
from tests.support.login_vendor import login_vendor
from tests.support.people import rows
from tests.support.postgres import TestDatabase
from tests.support.vendors import messages
from tidings.contracts.messages import Accepted, Outcome
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.pool import PoolSettings
from tidings.kernel.secrets import SecretNotFoundError
from tidings.router.channel_configs.configure import AccountChange

SECRETS = "/api/v1/router/secrets"
HOME = "/api/v1/router/adapters"
ROUTES = "/api/v1/router/inbound-routes"


@pytest.fixture
async def alone(fresh_db: Database, tmp_path: Path) -> AsyncIterator[ChannelWorld]:
    made = ChannelWorld(fresh_db, tmp_path)
    yield made
    await made.close()


async def send(world: ChannelWorld, tenant_id: TenantId | None, vendor: str = "smtp") -> Outcome:
    assert tenant_id is not None
    sent = await world.system.vendors.vendors.send(tenant_id, vendor, messages(1))
    return sent.outcomes[0]


async def test_an_account_reads_what_was_entered(alone: ChannelWorld) -> None:
    tenant_id = await alone.tenant()
    async with login_vendor("swordfish") as vendor, alone.http.as_tenant(tenant_id) as tenant:
        settings = json.loads(vendor.account("swordfish"))
        entered = await tenant.put(f"{SECRETS}/smtp", json={"value": settings})
        made = await tenant.post(HOME, json={"vendor": "smtp", "secret_ref": "sealed://smtp"})
        sent = await send(alone, tenant_id)
        listed = await tenant.get(SECRETS)
        [stored] = await rows(alone.system.db, tenant_id, "SELECT * FROM chan.account_secrets")
        audit = await rows(
            alone.system.db,
            tenant_id,
            "SELECT action, after::text FROM chan.audit WHERE entity_type = 'account_secret'",
        )

    assert entered.status_code == 200, entered.text
    assert entered.json()["ref"] == "sealed://smtp"
    assert made.status_code == 201, made.text
    assert isinstance(sent, Accepted)
    assert [(one["name"], one["version"], one["used_by"]) for one in listed.json()["items"]] == [
        ("smtp", 1, [made.json()["id"]])
    ]
    for text in (entered.text, listed.text, repr(dict(stored)), repr([dict(row) for row in audit])):
        assert "swordfish" not in text, "what was entered is nowhere to be read"


async def test_another_password_counts_at_once_and_a_useless_one_changes_nothing(alone: ChannelWorld) -> None:
    tenant_id = await alone.tenant()
    async with login_vendor("old") as vendor, alone.http.as_tenant(tenant_id) as tenant:
        old = json.loads(vendor.account("old"))
        await tenant.put(f"{SECRETS}/smtp", json={"value": old})
        await tenant.post(HOME, json={"vendor": "smtp", "secret_ref": "sealed://smtp"})
        first = await send(alone, tenant_id)
        vendor.passwords = {"new"}
        wrong = await tenant.put(f"{SECRETS}/smtp", json={"value": {"password": "new"}})
        changed = await tenant.put(f"{SECRETS}/smtp", json={"value": {**old, "password": "new"}})
        await alone.clock.advance(timedelta(seconds=2))
        second = await send(alone, tenant_id)

    assert isinstance(first, Accepted)
    assert wrong.status_code == 400
    assert any(error["field"].startswith("value") for error in wrong.json()["errors"])
    assert "new" not in wrong.text
    assert changed.json()["version"] == 2
    assert isinstance(second, Accepted)
    assert vendor.mails == {"old": 1, "new": 1}


async def test_it_is_the_owners_alone(alone: ChannelWorld) -> None:
    mine, other = await alone.tenant(), await alone.tenant()
    async with alone.http.as_tenant(mine) as tenant, alone.http.as_platform() as operator:
        await tenant.put(f"{SECRETS}/smtp", json={"value": "mine"})
        of_platform = await operator.put("/internal/v1/router/secrets/smtp", json={"value": "ours"})
    secrets = alone.system.kernel.secrets

    assert of_platform.status_code == 200
    assert (await secrets.resolve("sealed://smtp", tenant_id=mine)).reveal() == "mine"
    assert (await secrets.resolve("sealed://smtp")).reveal() == "ours"
    with pytest.raises(SecretNotFoundError):
        await secrets.resolve("sealed://smtp", tenant_id=other)


async def test_what_can_not_be_opened_is_entered_again(alone: ChannelWorld) -> None:
    """Such as a row that was moved there from another name: its box is bound to the one that it was entered under."""
    tenant_id = await alone.tenant()
    async with alone.http.as_tenant(tenant_id) as tenant:
        for name in ("a", "b"):
            await tenant.put(f"{SECRETS}/{name}", json={"value": f"this is {name}"})
        async with alone.system.db.tenant(tenant_id) as tx:
            await tx.connection.execute(
                "UPDATE chan.account_secrets SET box = (SELECT box FROM chan.account_secrets WHERE name = 'a') WHERE name = 'b'"
            )
        with pytest.raises(SecretNotFoundError, match="enter it again"):
            await alone.system.kernel.secrets.resolve("sealed://b", tenant_id=tenant_id)
        again = await tenant.put(f"{SECRETS}/b", json={"value": "anew"})

    assert again.status_code == 200, again.text
    assert (await alone.system.kernel.secrets.resolve("sealed://b", tenant_id=tenant_id)).reveal() == "anew"


async def test_removing_waits_until_nobody_reads_it(alone: ChannelWorld) -> None:
    tenant_id = await alone.tenant()
    async with login_vendor("one") as vendor, alone.http.as_tenant(tenant_id) as tenant:
        await tenant.put(f"{SECRETS}/a", json={"value": json.loads(vendor.account("one"))})
        await tenant.put(f"{SECRETS}/b", json={"value": "unused"})
        await tenant.post(HOME, json={"vendor": "smtp", "secret_ref": "sealed://a"})
        refused = await tenant.delete(f"{SECRETS}/a")
        gone = await tenant.delete(f"{SECRETS}/b")
        unknown = await tenant.delete(f"{SECRETS}/b")
        again = await tenant.put(f"{SECRETS}/b", json={"value": "back"})
        found = await alone.system.kernel.secrets.resolve("sealed://b", tenant_id=tenant_id)

    assert (refused.status_code, refused.json()["code"]) == (409, "secret_in_use")
    assert gone.status_code == 204
    assert (unknown.status_code, unknown.json()["code"]) == (404, "secret_unknown")
    assert again.status_code == 200, again.text
    assert found.reveal() == "back", "under a new key: the old one was destroyed"


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [("Smtp", "x", "name"), ("a" * 64, "x", "name"), ("smtp", "", "value"), ("smtp", "x" * 70_000, "value")],
)
async def test_what_can_not_be_entered_is_named(
    alone: ChannelWorld, name: str, value: str, field: str
) -> None:
    async with alone.http.as_tenant(await alone.tenant()) as tenant:
        answer = await tenant.put(f"{SECRETS}/{name}", json={"value": value})

    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def route(name: str) -> dict[str, str]:
    return {"inbound": "*", "webhook_url": "http://hooks.example/mo", "secret_ref": f"sealed://{name}"}


async def test_a_webhook_signs_with_it_until_its_number_is_let_go(alone: ChannelWorld) -> None:
    async with alone.http.as_tenant(await alone.tenant()) as tenant:
        await tenant.put(f"{SECRETS}/hook", json={"value": "a-long-enough-secret"})
        made = await tenant.post(ROUTES, json=route("hook"))
        home = f"{ROUTES}/{made.json()['id']}"
        useless = await tenant.put(f"{SECRETS}/hook", json={"value": "whsec_no base64"})
        other = await tenant.put(f"{SECRETS}/hook", json={"value": "another-long-secret"})
        used = await tenant.delete(f"{SECRETS}/hook")
        await tenant.delete(home, params={"grace_seconds": 0}, headers={"If-Match": "*"})
        listed = await tenant.get(SECRETS)
        gone = await tenant.delete(f"{SECRETS}/hook")

    assert made.status_code == 201, made.text
    assert [error["field"] for error in useless.json()["errors"]] == ["value"]
    assert made.json()["id"] in useless.text
    assert "no base64" not in useless.text
    assert (other.status_code, other.json()["version"]) == (200, 2)
    assert (used.status_code, used.json()["code"]) == (409, "secret_in_use")
    assert [one["used_by"] for one in listed.json()["items"]] == [[]]
    assert gone.status_code == 204, gone.text


async def test_no_connection_is_held_while_a_secret_is_read(
    fresh_database: TestDatabase, tmp_path: Path
) -> None:
    """Where each of many requests held one and wanted another, all of them would wait for each other."""
    pool = PoolSettings(min_size=1, max_size=1, acquire_timeout=timedelta(seconds=2))
    db = Database(fresh_database.runtime_url, pool)
    await db.open()
    world = ChannelWorld(db, tmp_path)
    await world.system.access.key_ledger.seals.get_ready()
    await world.system.kernel.origins.get_ready()
    try:
        async with world.http.as_tenant(await world.tenant()) as tenant:
            for name in ("one", "two"):
                await tenant.put(f"{SECRETS}/{name}", json={"value": f"a-long-enough-secret-{name}"})
            made = await tenant.post(ROUTES, json=route("one"))
            changed = await tenant.put(
                f"{ROUTES}/{made.json().get('id')}", json=route("two"), headers={"If-Match": "*"}
            )
    finally:
        await world.close()
        await db.close()

    assert made.status_code == 201, made.text
    assert changed.status_code == 200, changed.text


async def test_an_account_that_is_led_elsewhere_meanwhile_stays_there(alone: ChannelWorld) -> None:
    tenant_id = await alone.tenant()
    async with login_vendor("one") as vendor, alone.http.as_tenant(tenant_id) as tenant:
        settings = vendor.account("one")
        await tenant.put(f"{SECRETS}/smtp", json={"value": json.loads(settings)})
        made = await tenant.post(HOME, json={"vendor": "smtp", "secret_ref": "sealed://smtp"})
        elsewhere = alone.secret(tenant_id, "smtp.json", settings)
        async with alone.system.db.tenant(tenant_id) as tx:
            await alone.system.router.adapter_configs.change(
                tx,
                made.json()["id"],
                AccountChange(secret_ref=elsewhere),
                expect=lambda _: None,
                actor="test",
            )
            entering = asyncio.create_task(
                tenant.put(f"{SECRETS}/smtp", json={"value": json.loads(settings)})
            )
            waiting = (
                "SELECT count(*) FROM pg_locks JOIN pg_database ON oid = database "
                "WHERE NOT granted AND datname = current_database()"
            )
            while not entering.done() and not await tx.connection.fetchval(waiting):
                await asyncio.sleep(0.01)
        entered = await entering
        [stored] = await rows(
            alone.system.db,
            tenant_id,
            "SELECT secret_ref FROM chan.channel_adapter_configs WHERE tenant_id IS NOT NULL",
        )

    assert entered.status_code == 200, entered.text
    assert stored["secret_ref"] == elsewhere
