"""Over an account that tenants share a tenant appears as what the platform granted it, or as the account itself."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.channel_world import ChannelWorld
from tests.support.login_vendor import login_vendor
from tidings.contracts.tenants import NotificationPolicy
from tidings.kernel.db import Database

INSIDE = "/internal/v1/router/adapters"
EMAIL, SMS = "/api/v1/channels/email", "/api/v1/channels/sms"
OWN_ADDRESS = "post@house.test"


@pytest.fixture
async def alone(fresh_db: Database, tmp_path: Path) -> AsyncIterator[ChannelWorld]:
    """A database of its own: what is the platform's would be everybody's."""
    made = ChannelWorld(fresh_db, tmp_path)
    yield made
    await made.close()


async def share(world: ChannelWorld, vendor: str, content: str, handle: str | None = None) -> None:
    """An account of the platform's."""
    folder = world.folder / "secrets"
    folder.mkdir(exist_ok=True)
    (folder / vendor).write_text(content)
    wish = {"vendor": vendor, "secret_ref": f"file://{vendor}"} | ({"handle": handle} if handle else {})
    async with world.http.as_platform() as operator:
        made = await operator.post(INSIDE, json=wish)
    assert made.status_code == 201, made.text


def mail(address: str | None, **more: Any) -> dict[str, Any]:
    return {"vendor": "smtp", "sender": {"from_address": address} if address else {}} | more


async def put(client: httpx2.AsyncClient, body: dict[str, Any], path: str = EMAIL) -> httpx2.Response:
    known = await client.get(path)
    change = {"If-Match": known.headers["etag"]} if known.status_code == 200 else {}
    return await client.put(path, json=body, headers=change)


async def test_a_channel_shows_what_is_granted_or_the_accounts_own_sender(alone: ChannelWorld) -> None:
    tenant_id = await alone.tenant(NotificationPolicy(allowed_sender_domains=("acme.test",)), grants=False)
    async with login_vendor("one") as vendor, alone.http.as_tenant(tenant_id) as client:
        await share(alone, "smtp", vendor.account("one"), OWN_ADDRESS)
        refused = await put(client, mail("hello@bank.test"))
        missing = await client.get(EMAIL)
        granted = await put(client, mail("hello@acme.test"))
        named = await put(client, mail(OWN_ADDRESS.upper()))
        beside = await put(client, mail("other@house.test"))
        left_out = await put(client, mail(None))
        tried = await client.post(f"{EMAIL}/test", json={"to": "laila@tea.test"})

    (error,) = refused.json()["errors"]
    assert (refused.status_code, error["field"], missing.status_code) == (400, "sender.from_address", 404)
    assert error["remedy"] == (
        "must be of a domain that is granted to you, because the account with smtp is the platform's and tenants share it; "
        f"granted: acme.test; leave it out to send as {OWN_ADDRESS}. "
        f"The platform's operator grants one: `tidings tenant grant {tenant_id} --sender-domain bank.test`"
    )
    assert [one.status_code for one in (granted, named, beside, left_out)] == [200, 200, 400, 200]
    assert (tried.status_code, tried.json()["result"]) == (200, "accepted"), tried.text


async def test_an_empty_list_grants_nothing_and_a_star_everything(alone: ChannelWorld) -> None:
    none, anything = await alone.tenant(grants=False), await alone.tenant()
    body = {"vendor": "http", "sender": {"sender_id": "GRAND"}}
    await share(alone, "http", '{"url": "https://sms.example/send"}')
    async with alone.http.as_tenant(none) as client:
        refused = await put(client, body, SMS)
        left_out = await put(client, {"vendor": "http"}, SMS)
    async with alone.http.as_tenant(anything) as client:
        passed = await put(client, body, SMS)

    (error,) = refused.json()["errors"]
    assert (refused.status_code, error["field"]) == (400, "sender.sender_id")
    assert "granted: none so far. " in error["remedy"]
    assert error["remedy"].endswith(f"`tidings tenant grant {none} --sender-id GRAND`")
    assert left_out.json()["errors"] == [
        {"field": "sender.sender_id", "remedy": "is required: the number or name that people see"}
    ]
    assert passed.status_code == 200, passed.text


async def test_an_account_of_ones_own_shows_anything_but_not_over_a_shared_one_to_fall_back_to(
    alone: ChannelWorld,
) -> None:
    tenant_id = await alone.tenant(grants=False)
    async with login_vendor("one") as vendor, alone.http.as_tenant(tenant_id) as client:
        await share(alone, "smtp_backup", vendor.account("one"))
        own = {"smtp": {"secret_ref": alone.secret(tenant_id, "one", vendor.account("one"))}}
        passed = await put(client, mail("hello@acme.test", accounts=own))
        refused = await put(client, mail("hello@acme.test", fallback_vendor="smtp_backup"))

    assert passed.status_code == 200, passed.text
    (error,) = refused.json()["errors"]
    assert (refused.status_code, error["field"]) == (400, "sender.from_address")
    assert "the account with smtp_backup" in error["remedy"]


async def test_a_test_is_refused_over_the_vendor_that_may_not_show_the_sender(alone: ChannelWorld) -> None:
    """The grant was taken away after the channel was set up; the tenant's own account does not need one."""
    tenant_id = await alone.tenant(NotificationPolicy(allowed_sender_domains=("acme.test",)), grants=False)
    async with (
        login_vendor("one") as vendor,
        alone.http.as_tenant(tenant_id) as client,
        alone.http.as_platform() as operator,
    ):
        await share(alone, "smtp_backup", vendor.account("one"))
        own = {"smtp": {"secret_ref": alone.secret(tenant_id, "one", vendor.account("one"))}}
        made = await put(client, mail("hello@acme.test", fallback_vendor="smtp_backup", accounts=own))
        home = f"/internal/v1/tenants/{tenant_id}"
        known = await operator.get(home)
        taken = await operator.patch(
            home, json={"notification_policy": {}}, headers={"If-Match": known.headers["etag"]}
        )
        first = await client.post(f"{EMAIL}/test", json={"to": "laila@tea.test"})
        second = await client.post(f"{EMAIL}/test", json={"to": "laila@tea.test", "vendor": "smtp_backup"})

    assert (made.status_code, taken.status_code, first.status_code) == (200, 200, 200), first.text
    assert (second.status_code, second.json()["code"]) == (409, "sender_unauthorised")
    assert "the platform's operator" in second.json()["detail"]
    assert vendor.mails["one"] == 1


async def test_a_tenant_grants_itself_nothing(alone: ChannelWorld) -> None:
    """The lists are the platform's to write, also for a key that may do everything a tenant may."""
    tenant_id = await alone.tenant(grants=False)
    policy = {"notification_policy": {"allowed_sender_domains": ["*"], "allowed_sender_ids": ["*"]}}
    async with alone.http.as_tenant(tenant_id) as client:
        known = (await client.get("/api/v1/tenant")).json()["tenant"]
        match = {"If-Match": f'"v{known["version"]}"'}
        answers = [
            await client.patch(f"/internal/v1/tenants/{tenant_id}", json=policy, headers=match),
            await client.patch("/api/v1/tenant", json=policy, headers=match),
            await client.put("/api/v1/tenant", json=policy, headers=match),
        ]
        after = (await client.get("/api/v1/tenant")).json()["tenant"]
        wider = await client.post("/api/v1/api-keys", json={"name": "more", "scopes": ["tenants:write"]})

    assert [answer.status_code for answer in answers] == [403, 405, 405]
    assert wider.status_code in (400, 403), wider.text
    assert after["notification_policy"] == known["notification_policy"] == {}
