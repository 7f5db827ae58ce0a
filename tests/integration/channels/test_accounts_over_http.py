"""Vendor accounts are made, changed, switched off and on: of the platform, for all tenants, and of a tenant's own."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest

from tests.support.channel_world import ChannelWorld, put_channel
from tests.support.login_vendor import login_vendor
from tests.support.vendors import messages
from tidings.contracts.messages import Accepted, Outcome, TryLater
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId

HOME = "/api/v1/router/adapters"
INSIDE = "/internal/v1/router/adapters"


@pytest.fixture
async def alone(fresh_db: Database, tmp_path: Path) -> AsyncIterator[ChannelWorld]:
    """A database of its own: what is the platform's would be everybody's."""
    made = ChannelWorld(fresh_db, tmp_path)
    yield made
    await made.close()


def of_platform(world: ChannelWorld, name: str, content: str) -> str:
    """A secret of the platform's, and the reference to it."""
    folder = world.folder / "secrets"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(content)
    return f"file://{name}"


async def send(world: ChannelWorld, tenant_id: TenantId, vendor: str = "smtp") -> Outcome:
    """One message, as a ladder hands it over."""
    sent = await world.system.vendors.vendors.send(tenant_id, vendor, messages(1))
    return sent.outcomes[0]


async def patch(
    client: httpx2.AsyncClient, home: str, account: dict[str, object], **body: object
) -> httpx2.Response:
    """From the version that it has."""
    return await client.patch(
        f"{home}/{account['id']}", json=body, headers={"If-Match": f'"v{account["version"]}"'}
    )


async def test_an_account_of_the_platform_serves_every_tenant(alone: ChannelWorld) -> None:
    """Made by one call; a tenant sets up its channel with it, sends, and may not change it."""
    tenant_id = await alone.tenant()
    async with (
        login_vendor("one") as vendor,
        alone.http.as_platform() as operator,
        alone.http.as_tenant(tenant_id) as tenant,
    ):
        ref = of_platform(alone, "smtp.json", vendor.account("one"))
        made = await operator.post(INSIDE, json={"vendor": "smtp", "secret_ref": ref, "per_second": 50})
        again = await operator.post(INSIDE, json={"vendor": "smtp", "secret_ref": ref})
        await put_channel(tenant, None)
        sent = await send(alone, tenant_id)
        seen = (await tenant.get(HOME)).json()["items"]
        refused = await patch(tenant, HOME, made.json(), active=False)
        async with alone.system.db.platform() as tx:
            audit = await alone.system.kernel.router_audit.read_recent(tx, entity_type="adapter_config")

    assert made.status_code == 201, made.text
    account = made.json()
    assert (account["owner"], account["active"], account["per_second"]) == ("platform", True, 50)
    assert made.headers["etag"] == '"v1"'
    assert ref not in made.text
    assert (again.status_code, again.json()["code"]) == (409, "adapter_exists")
    assert account["id"] in again.json()["detail"]
    assert isinstance(sent, Accepted)
    assert [one["id"] for one in seen] == [account["id"]]
    assert (refused.status_code, refused.json()["code"]) == (403, "platform_account")
    assert [row.action for row in audit] == ["created"]


async def test_what_can_not_be_used_is_refused_before_it_is_written(alone: ChannelWorld) -> None:
    """An unknown kind, a reference that leads nowhere, settings that the adapter can't read: each by its field."""
    ref = of_platform(alone, "smtp.json", '{"host": "127.0.0.1", "port": "none", "colour": "red"}')
    tenant_id = await alone.tenant()
    wishes = [
        {"vendor": "pigeon", "secret_ref": ref},
        {"vendor": "smtp", "secret_ref": "file://nowhere.json"},
        {"vendor": "smtp", "secret_ref": ref},
    ]
    async with alone.http.as_platform() as operator, alone.http.as_tenant(tenant_id) as tenant:
        answers = [await operator.post(INSIDE, json=wish) for wish in wishes]
        # The platform's file is not a tenant's.
        theirs = await tenant.post(HOME, json=wishes[2])
        listed = (await operator.get(INSIDE)).json()["items"]

    assert [one.status_code for one in (*answers, theirs)] == [400] * 4
    fields = [{e["field"] for e in one.json()["errors"]} for one in answers]
    assert fields[0] == {"vendor"}
    assert "smtp" in answers[0].json()["errors"][0]["remedy"]
    assert fields[1] == {"secret_ref"}
    assert all(field.startswith("secret_ref.") for field in fields[2])
    assert {e["field"] for e in theirs.json()["errors"]} == {"secret_ref"}
    assert listed == []


async def test_switched_off_and_on_again(alone: ChannelWorld) -> None:
    """From the version that one has seen; off, nothing is handed over, and it is still shown and checked."""
    tenant_id = await alone.tenant()
    async with login_vendor("one") as vendor, alone.http.as_platform() as operator:
        ref = of_platform(alone, "smtp.json", vendor.account("one"))
        made = (await operator.post(INSIDE, json={"vendor": "smtp", "secret_ref": ref})).json()
        blind = await operator.patch(f"{INSIDE}/{made['id']}", json={"active": False})
        off = await patch(operator, INSIDE, made, active=False)
        stale = await patch(operator, INSIDE, made, active=True)
        asleep = await send(alone, tenant_id)
        listed = (await operator.get(INSIDE)).json()["items"]
        checked = await operator.post(f"{INSIDE}/{made['id']}/check")
        on = await patch(operator, INSIDE, off.json(), active=True)
        await alone.clock.advance(timedelta(seconds=2))
        awake = await send(alone, tenant_id)
        async with alone.system.db.platform() as tx:
            audit = await alone.system.kernel.router_audit.read_recent(tx, entity_type="adapter_config")

    assert (blind.status_code, stale.status_code) == (428, 412)
    assert (off.status_code, off.json()["active"], off.json()["version"]) == (200, False, 2)
    assert isinstance(asleep, TryLater)
    assert asleep.code == "account_off"
    assert [(one["id"], one["active"]) for one in listed] == [(made["id"], False)]
    assert checked.json()["ok"]
    assert on.json()["active"]
    assert isinstance(awake, Accepted)
    assert sorted(row.action for row in audit) == ["created", "disabled", "enabled"]


async def test_a_tenants_own_is_made_changed_and_switched_off(alone: ChannelWorld) -> None:
    tenant_id = await alone.tenant()
    async with login_vendor("one", "two") as vendor, alone.http.as_tenant(tenant_id) as tenant:
        ref = alone.secret(tenant_id, "account", vendor.account("one"))
        made = (await tenant.post(HOME, json={"vendor": "smtp_own", "secret_ref": ref})).json()
        await send(alone, tenant_id, "smtp_own")
        alone.secret(tenant_id, "account", vendor.account("two"))
        same = await patch(tenant, HOME, made, secret_ref=ref)
        lost = await patch(tenant, HOME, same.json(), secret_ref="file://gone")
        await alone.clock.advance(timedelta(seconds=2))
        await send(alone, tenant_id, "smtp_own")

    assert (made["owner"], made["adapter"]) == ("tenant", "smtp")
    assert (same.status_code, same.json()["version"]) == (200, 2)
    assert (lost.status_code, lost.json()["errors"][0]["field"]) == (400, "secret_ref")
    # The same reference again: everybody reads what it leads to now.
    assert vendor.mails == {"one": 1, "two": 1}
