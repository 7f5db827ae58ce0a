"""Credentials that are replaced while mail goes out."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

from tests.support.channel_world import ChannelWorld, put_channel
from tests.support.login_vendor import login_vendor
from tests.support.people import rows, told
from tests.support.vendors import MESSAGE, messages
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.messages import Accepted, Outcome, TryLater
from tidings.kernel.db import Database
from tidings.kernel.durable.sweepers import SweepJob
from tidings.kernel.ids import TenantId
from tidings.notify.channels.channel_test import ROTATE_LIMIT

ROTATE = "/api/v1/channels/email/credentials/rotate"


class Load:
    """Sets that are sent one after the other by several at once, until they are told to stop."""

    def __init__(self, world: ChannelWorld, tenant_id: TenantId, *, senders: int = 4) -> None:
        self.outcomes: list[Outcome] = []
        self._world = world
        self._tenant_id = tenant_id
        self._stop = asyncio.Event()
        self._tasks = [asyncio.create_task(self._send()) for _ in range(senders)]

    async def _send(self) -> None:
        while not self._stop.is_set():
            sent = await self._world.system.vendors.vendors.send(self._tenant_id, "smtp", messages(5))
            self.outcomes += sent.outcomes

    async def until(self, done: Callable[[], bool]) -> None:
        """Go on until that is so."""
        async with asyncio.timeout(20):
            while not done():
                await asyncio.sleep(0.005)

    async def end(self) -> None:
        self._stop.set()
        await asyncio.gather(*self._tasks)


async def sweep(world: ChannelWorld) -> None:
    job = world.system.jobs()["sweepers"]
    assert isinstance(job, SweepJob)
    await job.run_once()


async def test_no_send_is_lost_while_credentials_rotate(channels: ChannelWorld) -> None:
    """Each password is deleted at the vendor as soon as its row says that it may be."""
    tenant_id = await channels.tenant()
    names = ["one", "two", "three", "four"]
    async with login_vendor("one") as vendor, channels.http.as_tenant(tenant_id) as client:
        refs = {n: channels.secret(tenant_id, n, vendor.account(n)) for n in names}
        await put_channel(client, refs["one"])
        load = Load(channels, tenant_id)
        await load.until(lambda: vendor.mails["one"] > 20)
        for old, new in pairwise(names):
            vendor.passwords.add(new)
            answer = await client.post(ROTATE, json={"secret_ref": refs[new]})
            assert answer.status_code == 200, answer.text
            assert answer.json()["check"] == {"result": "accepted"}
            await channels.clock.advance(timedelta(seconds=2))
            # What was under way has ended with the old one, long before its grace is over.
            await load.until(lambda old=old, new=new: vendor.mails[new] > 20 and not vendor.open[old])  # type: ignore[misc]
            await channels.clock.advance(timedelta(minutes=11))
            await sweep(channels)
            shown = (await client.get("/api/v1/channels/email")).json()
            assert {c["secret_ref"]: c["status"] for c in shown["credentials"]}[refs[old]] == "revoked"
            vendor.passwords.remove(old)
        await load.end()

    assert len(load.outcomes) == sum(vendor.mails.values()) > 80
    assert {type(outcome) for outcome in load.outcomes} == {Accepted}
    assert vendor.refused == 0
    assert {c["secret_ref"]: (c["status"], c["revoked_at"] is None) for c in shown["credentials"]} == {
        refs[name]: ("active", True) if name == "four" else ("revoked", False) for name in names
    }
    assert len(await told(channels.system.db, tenant_id, "channel.credential_rotated")) == 3
    audits = await rows(
        channels.system.db,
        tenant_id,
        "SELECT action, after FROM notification.audit WHERE entity_type = 'channel'",
    )
    assert [row["action"] for row in audits].count("credential_rotated") == 3
    assert "four" not in str(audits)


async def test_other_content_under_the_same_name_is_picked_up(channels: ChannelWorld) -> None:
    """Beside the sends, within the age that the settings name; no send waits and none is lost."""
    tenant_id = await channels.tenant()
    async with login_vendor("one", "two") as vendor, channels.http.as_tenant(tenant_id) as client:
        await put_channel(client, channels.secret(tenant_id, "account", vendor.account("one")))
        load = Load(channels, tenant_id, senders=2)
        await load.until(lambda: vendor.mails["one"] > 10)
        channels.secret(tenant_id, "account", vendor.account("two"))
        await channels.clock.advance(timedelta(seconds=31))
        await load.until(lambda: vendor.mails["two"] > 10)
        await load.end()

    assert {type(outcome) for outcome in load.outcomes} == {Accepted}


async def test_after_a_pause_nothing_goes_out_with_an_old_secret(channels: ChannelWorld) -> None:
    tenant_id = await channels.tenant()
    async with login_vendor("one") as vendor, channels.http.as_tenant(tenant_id) as client:
        await put_channel(client, channels.secret(tenant_id, "account", vendor.account("one")))
        first = await send(channels, tenant_id)
        channels.secret(tenant_id, "account", vendor.account("two"))
        vendor.passwords = {"two"}
        await channels.clock.advance(timedelta(hours=1))
        second = await send(channels, tenant_id)

    assert isinstance(first, Accepted)
    assert isinstance(second, Accepted)
    assert vendor.refused == 0


async def test_a_password_that_is_refused_is_read_again_at_once(channels: ChannelWorld) -> None:
    """Changed at the vendor first: one set comes back, to be tried later; the next goes out."""
    tenant_id = await channels.tenant()
    async with login_vendor("one") as vendor, channels.http.as_tenant(tenant_id) as client:
        account = vendor.account("one", messages_per_connection=1)
        await put_channel(client, channels.secret(tenant_id, "account", account))
        await send(channels, tenant_id)
        vendor.passwords = {"two"}
        channels.secret(tenant_id, "account", vendor.account("two"))
        await channels.clock.advance(timedelta(seconds=5))
        refused = await send(channels, tenant_id)
        taken = await send(channels, tenant_id)

    assert isinstance(refused, TryLater)
    assert refused.code == "5.7.8"
    assert isinstance(taken, Accepted)


async def test_a_half_written_secret_changes_nothing_and_a_deleted_one_ends_it(
    channels: ChannelWorld,
) -> None:
    tenant_id = await channels.tenant()
    async with login_vendor("one") as vendor, channels.http.as_tenant(tenant_id) as client:
        await put_channel(client, channels.secret(tenant_id, "account", vendor.account("one")))
        await send(channels, tenant_id)
        channels.secret(tenant_id, "account", '{"host": "127.0')
        await channels.clock.advance(timedelta(hours=1))
        kept = await send(channels, tenant_id)
        (channels.folder / "secrets" / tenant_id / "account").unlink()
        await channels.clock.advance(timedelta(hours=1))
        gone = await send(channels, tenant_id)
        channels.secret(tenant_id, "account", vendor.account("one"))
        await channels.clock.advance(timedelta(seconds=2))
        back = await send(channels, tenant_id)

    assert isinstance(kept, Accepted)
    assert isinstance(gone, TryLater)
    assert gone.code == "account_secret"
    assert isinstance(back, Accepted)


async def test_a_credential_that_the_vendor_refuses_is_not_used(channels: ChannelWorld) -> None:
    tenant_id = await channels.tenant()
    async with login_vendor("one") as vendor, channels.http.as_tenant(tenant_id) as client:
        await put_channel(client, channels.secret(tenant_id, "one", vendor.account("one")))
        wrong = channels.secret(tenant_id, "wrong", vendor.account("hunter22"))
        garbage = channels.secret(tenant_id, "garbage", '{"host": 5}')
        gone = channels.secret(tenant_id, "gone", vendor.account("one", port=1))
        answers = [
            await client.post(ROTATE, json={"secret_ref": ref, **more})
            for ref, more in [
                (wrong, {}),
                (garbage, {}),
                (gone, {}),
                ("file://nowhere", {}),
                ("env://TIDINGS_SECRET_X", {}),
                (wrong, {"vendor": "http"}),
                (wrong, {"password": "hunter22"}),
            ]
        ]
        shown = (await client.get("/api/v1/channels/email")).json()
        unchecked = await client.post(ROTATE, json={"secret_ref": gone, "check": False})

    assert [(a.status_code, a.json()["code"]) for a in answers] == [
        (409, "credential_refused"), (400, "bad_value"), (503, "vendor_not_reached"), (400, "bad_value"),
        (400, "bad_value"), (400, "bad_value"), (400, "bad_value"),
    ]  # fmt: skip
    assert "5.7.8" in answers[0].json()["detail"]
    assert {error["field"] for error in answers[1].json()["errors"]} == {"secret_ref.host"}
    assert not any("hunter22" in a.text for a in answers[:3])
    assert [(c["secret_ref"], c["status"]) for c in shown["credentials"]] == [("file://one", "active")]
    assert unchecked.json()["check"] == {"result": "skipped"}
    assert unchecked.json()["channel"]["version"] == shown["version"] + 1


async def test_the_same_reference_again_makes_everybody_read_it(channels: ChannelWorld) -> None:
    tenant_id = await channels.tenant()
    async with login_vendor("one", "two") as vendor, channels.http.as_tenant(tenant_id) as client:
        ref = channels.secret(tenant_id, "account", vendor.account("one"))
        await put_channel(client, ref)
        await send(channels, tenant_id)
        channels.secret(tenant_id, "account", vendor.account("two"))
        answer = await client.post(ROTATE, json={"secret_ref": ref})
        await channels.clock.advance(timedelta(seconds=2))
        await send(channels, tenant_id)

    assert [c["status"] for c in answer.json()["channel"]["credentials"]] == ["active"]
    assert vendor.mails == {"one": 1, "two": 1}


async def test_channels_that_share_an_account_change_together(channels: ChannelWorld) -> None:
    tenant_id = await channels.tenant()
    async with channels.http.as_tenant(tenant_id) as client:
        settings = '{"url": "http://127.0.0.1:1/send"}'
        one, two = (channels.secret(tenant_id, name, settings) for name in ("one", "two"))
        await put_channel(client, one, "sms", "http")
        await put_channel(client, None, "voice", "http")
        answer = await client.post("/api/v1/channels/voice/credentials/rotate", json={"secret_ref": two})
        listed = (await client.get("/api/v1/channels")).json()["items"]

    assert answer.json()["check"] == {"result": "not_asked"}
    assert {c["channel"]: {k["secret_ref"]: k["status"] for k in c["credentials"]} for c in listed} == {
        "sms": {two: "active", one: "superseded"},
        "voice": {two: "active"},
    }


async def test_a_channel_that_is_not_there_and_one_over_the_platforms_account(
    fresh_db: Database, tmp_path: Path
) -> None:
    """In a database of its own: what the platform has, all tenants have."""
    world = ChannelWorld(fresh_db, tmp_path)
    tenant_id = await world.tenant()
    async with fresh_db.platform() as tx:
        command = ConfigureAccount(vendor="http", secret_ref="file://platform.json")
        await world.system.router.adapter_configs.configure_platform(tx, [command], actor="test")
    async with world.http.as_tenant(tenant_id) as client:
        ref = world.secret(tenant_id, "one", "{}")
        missing = await client.post(ROTATE, json={"secret_ref": ref})
        await put_channel(client, None, "sms", "http")
        theirs = await client.post("/api/v1/channels/sms/credentials/rotate", json={"secret_ref": ref})

    assert (missing.status_code, missing.json()["code"]) == (404, "channel_not_found")
    assert (theirs.status_code, theirs.json()["code"]) == (409, "no_own_account")


async def test_a_tenants_account_leads_nowhere_private_unless_it_was_opened(channels: ChannelWorld) -> None:
    """The same account, under an operator who has opened no network."""
    closed = ChannelWorld(channels.system.db, channels.folder, TIDINGS_TENANT_NETWORKS="10.0.0.0/8")
    tenant_id = await channels.tenant()
    async with login_vendor("one") as vendor, channels.http.as_tenant(tenant_id) as client:
        await put_channel(client, channels.secret(tenant_id, "one", vendor.account("one")))
        outcomes = [await send(world, tenant_id) for world in (channels, closed)]
    await closed.close()

    assert isinstance(outcomes[0], Accepted)
    assert isinstance(outcomes[1], TryLater)
    assert outcomes[1].code == "address"


async def send(world: ChannelWorld, tenant_id: TenantId) -> Outcome:
    """One message through the tenant's account."""
    sent = await world.system.vendors.vendors.send(tenant_id, "smtp", [MESSAGE])
    return sent.outcomes[0]


async def test_new_credentials_are_looked_at_so_often_and_no_more(channels: ChannelWorld) -> None:
    """Each look calls a host of the tenant's choice."""
    tenant_id = await channels.tenant()
    async with login_vendor("one") as vendor, channels.http.as_tenant(tenant_id) as client:
        reference = channels.secret(tenant_id, "one", vendor.account("one"))
        await put_channel(client, reference)
        answers = [
            await client.post(ROTATE, json={"secret_ref": reference}) for _ in range(ROTATE_LIMIT.limit + 1)
        ]

    assert {answer.status_code for answer in answers[:-1]} == {200}
    assert answers[-1].json()["code"] == "too_many_tests"


async def test_setting_the_same_account_again_makes_everybody_read_it(channels: ChannelWorld) -> None:
    """As `rotate` does; what a check says of the new content and what a send does are the same."""
    tenant_id = await channels.tenant()
    async with login_vendor("one", "two") as vendor, channels.http.as_tenant(tenant_id) as client:
        ref = channels.secret(tenant_id, "account", vendor.account("one"))
        await put_channel(client, ref)
        await send(channels, tenant_id)
        channels.secret(tenant_id, "account", vendor.account("two"))
        seen = (await client.get("/api/v1/channels/email")).headers["etag"]
        body = {
            "vendor": "smtp",
            "sender": {"from_address": "hello@acme.test"},
            "accounts": {"smtp": {"secret_ref": ref}},
        }
        answer = await client.put("/api/v1/channels/email", json=body, headers={"If-Match": seen})
        await channels.clock.advance(timedelta(seconds=2))
        await send(channels, tenant_id)

    assert answer.status_code == 200, answer.text
    assert vendor.mails == {"one": 1, "two": 1}
