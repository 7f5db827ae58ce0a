"""A test message through a channel as it is set up."""

import json
from datetime import timedelta

import pytest

from tests.support.channel_world import ChannelWorld, put_channel
from tests.support.login_vendor import login_vendor
from tests.support.people import rows
from tests.support.played_http import answer, played_http
from tidings.contracts.tenants import NotificationPolicy, TenantUpdated
from tidings.notify.channels.channel_test import LIMIT

TEST = "/api/v1/channels/email/test"
TO = {"to": "laila.unmistakable@example.test"}


async def test_the_vendors_own_words_come_back(channels: ChannelWorld) -> None:
    tenant_id = await channels.tenant()
    async with login_vendor("one") as vendor, channels.http.as_tenant(tenant_id) as client:
        await put_channel(client, channels.secret(tenant_id, "one", vendor.account("one")))
        taken = await client.post(TEST, json=TO)
        channels.secret(tenant_id, "two", vendor.account("two"))
        await client.post(
            "/api/v1/channels/email/credentials/rotate", json={"secret_ref": "file://two", "check": False}
        )
        await channels.clock.advance(timedelta(seconds=2))
        wrong = await client.post(TEST, json=TO)

    assert (taken.status_code, taken.json()) == (
        200,
        {
            "vendor": "smtp",
            "result": "accepted",
            "code": None,
            "reason": None,
            "provider_message_id": "4XyZabCdEf",
        },
    )
    assert (wrong.json()["result"], wrong.json()["code"]) == ("try_later", "5.7.8")
    audits = await rows(
        channels.system.db,
        tenant_id,
        "SELECT actor, after FROM notification.audit WHERE action = 'test_sent' ORDER BY seq",
    )
    assert len(audits) == 2
    assert "unmistakable" not in str(audits)


async def test_an_sms_through_a_vendor_over_http(channels: ChannelWorld) -> None:
    tenant_id = await channels.tenant()
    async with (
        played_http(answer("400 Bad Request", b'{"code": 21211}')) as played,
        channels.http.as_tenant(tenant_id) as client,
    ):
        account = {"url": f"http://127.0.0.1:{played.port}/send", "error_code_path": "code"}
        ref = channels.secret(tenant_id, "sms", json.dumps(account))
        await put_channel(client, ref, "sms", "http")
        refused = await client.post("/api/v1/channels/sms/test", json={"to": "+93 70 123 4567"})

    assert (refused.json()["result"], refused.json()["code"]) == ("refused", "21211")
    assert json.loads(played.heard[0][1])["to"] == "+93701234567"


async def test_keys_of_the_test_environment_reach_no_vendor(channels: ChannelWorld) -> None:
    tenant_id = await channels.tenant()
    async with (
        login_vendor("one") as vendor,
        channels.http.as_tenant(tenant_id) as client,
        channels.http.as_tenant(tenant_id, environment="test") as tester,
    ):
        await put_channel(client, channels.secret(tenant_id, "one", vendor.account("one")))
        tried = await tester.post(TEST, json=TO)

    assert (tried.json()["vendor"], tried.json()["result"]) == ("simulated", "accepted")
    assert not vendor.mails


@pytest.mark.parametrize("held_by", ["address", "mail_domain"])
async def test_who_is_suppressed_gets_no_test_either(channels: ChannelWorld, held_by: str) -> None:
    tenant_id = await channels.tenant()
    async with login_vendor("one") as vendor, channels.http.as_tenant(tenant_id) as client:
        await put_channel(client, channels.secret(tenant_id, "one", vendor.account("one")))
        whom = TO["to"] if held_by == "address" else TO["to"].partition("@")[2]
        held = {"channel": "email", held_by: whom, "reason": "complaint"}
        made = await client.post("/api/v1/suppressions", json=held)
        refused = await client.post(TEST, json={"to": TO["to"].upper()})

    assert made.status_code in (200, 201), made.text
    assert (refused.status_code, refused.json()["code"]) == (409, "address_suppressed")
    assert not vendor.mails


async def test_a_sender_that_is_no_longer_allowed(channels: ChannelWorld) -> None:
    """The list of domains became shorter after the channel was set up."""
    tenant_id = await channels.tenant()
    async with login_vendor("one") as vendor, channels.http.as_tenant(tenant_id) as client:
        await put_channel(client, channels.secret(tenant_id, "one", vendor.account("one")))
        async with channels.system.db.platform() as tx:
            await channels.system.access.tenants.change(
                tx,
                tenant_id,
                lambda known: TenantUpdated(
                    tenant_id=known.id,
                    version=known.version + 1,
                    notification_policy=NotificationPolicy(allowed_sender_domains=("other.test",)),
                ),
                actor="test",
            )
        refused = await client.post(TEST, json=TO)

    assert (refused.status_code, refused.json()["code"]) == (409, "sender_unauthorised")
    assert not vendor.mails


async def test_there_are_only_so_many_in_an_hour(channels: ChannelWorld) -> None:
    tenant_id = await channels.tenant()
    async with login_vendor("one") as vendor, channels.http.as_tenant(tenant_id) as client:
        await put_channel(client, channels.secret(tenant_id, "one", vendor.account("one")))
        codes = [(await client.post(TEST, json=TO)).status_code for _ in range(LIMIT.limit + 1)]

    assert codes == [200] * LIMIT.limit + [429]
    assert vendor.mails["one"] == LIMIT.limit


@pytest.mark.parametrize("body", [{}, {"to": "nobody"}, {**TO, "vendor": "http"}, {**TO, "subject": "x"}])
async def test_what_can_not_be_tried(channels: ChannelWorld, body: dict[str, str]) -> None:
    tenant_id = await channels.tenant()
    async with channels.http.as_tenant(tenant_id) as client:
        missing = await client.post(TEST, json=TO)
        await put_channel(client, channels.secret(tenant_id, "one", '{"host": "127.0.0.1"}'))
        answer = await client.post(TEST, json=body)

    assert (missing.status_code, missing.json()["code"]) == (404, "channel_not_found")
    assert answer.status_code == 400
    assert "nobody" not in answer.text


async def test_reading_does_not_allow_it(channels: ChannelWorld) -> None:
    tenant_id = await channels.tenant()
    async with channels.http.as_tenant(tenant_id, scopes=["channels:read"]) as client:
        for path in (TEST, "/api/v1/channels/email/credentials/rotate"):
            assert (await client.post(path, json=TO)).status_code == 403
