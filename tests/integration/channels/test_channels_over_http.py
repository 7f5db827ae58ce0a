"""Channels: one resource, two sides, written together or not at all."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.people import PeopleWorld, rows
from tests.support.senders import any_sender
from tidings.contracts.tenants import NotificationPolicy
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId

EMAIL = "/api/v1/channels/email"


SMTP: dict[str, Any] = {"host": "mail.acme.test", "username": "acme", "password": "hunter2"}


def secret(
    world: PeopleWorld, tenant_id: TenantId, name: str, settings: dict[str, Any] | str | None = None
) -> str:
    """A secret of the tenant's own, and the reference to it."""
    folder = world.folder / tenant_id
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(settings if isinstance(settings, str) else json.dumps(settings or SMTP))
    return f"file://{name}"


def wanted(ref: str, **more: Any) -> dict[str, Any]:
    return {
        "vendor": "smtp",
        "sender": {"from_address": "hello@acme.test", "from_name": "Acme", "dkim_selector": "s1"},
        "rate_limit": {"per_second": 10},
        "accounts": {"smtp": {"secret_ref": ref, "per_second": 50}},
        **more,
    }


async def test_a_channel_is_set_up_changed_and_listed(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    first, second = secret(world, tenant.id, "one"), secret(world, tenant.id, "two")
    other = secret(world, tenant.id, "other", {"url": "https://sms.example/send"})
    async with world.http.as_tenant(tenant.id) as client:
        missing = await client.get(EMAIL)
        made = await client.put(EMAIL, json=wanted(first))
        blind = await client.put(EMAIL, json=wanted(first))
        shown = await client.get(EMAIL)
        rotated = await client.put(EMAIL, json=wanted(second), headers={"If-Match": made.headers["etag"]})
        plain = wanted(second)
        del plain["accounts"]
        same = await client.put(EMAIL, json=plain, headers={"If-Match": rotated.headers["etag"]})
        moved = await client.put(
            EMAIL,
            json=wanted(first, vendor="http", accounts={"http": {"secret_ref": other}}),
            headers={"If-Match": same.headers["etag"]},
        )
        listed = await client.get("/api/v1/channels")

    assert (missing.status_code, missing.json()["code"]) == (404, "channel_not_found")
    assert (made.status_code, made.headers["etag"], blind.status_code) == (200, '"v1"', 428)
    assert made.json() == shown.json()
    assert made.json()["accounts"] == [
        {
            "vendor": "smtp",
            "owner": "tenant",
            "handle": None,
            "per_second": 50,
            "per_day": None,
            "active": True,
        }
    ]
    assert [(c["secret_ref"], c["status"]) for c in rotated.json()["credentials"]] == [
        (second, "active"), (first, "superseded"),
    ]  # fmt: skip
    assert same.headers["etag"] == rotated.headers["etag"]
    assert [(c["vendor"], c["status"]) for c in moved.json()["credentials"]] == [
        ("http", "active"), ("smtp", "revoked"), ("smtp", "superseded"),
    ]  # fmt: skip
    assert [item["channel"] for item in listed.json()["items"]] == ["email"]
    configs = await rows(
        world.db,
        tenant.id,
        "SELECT provider, secret_ref FROM chan.channel_adapter_configs WHERE tenant_id = $1 ORDER BY provider",
        tenant.id,
    )
    assert configs == [
        {"provider": "http", "secret_ref": other},
        {"provider": "smtp", "secret_ref": second},
    ]
    audits = [
        await rows(world.db, tenant.id, f"SELECT entity_type, action FROM {schema}.audit ORDER BY seq")
        for schema in ("notification", "chan")
    ]
    assert [row["action"] for row in audits[0] if row["entity_type"] == "channel"] == [
        "created", "updated", "updated",
    ]  # fmt: skip
    assert [row["action"] for row in audits[1]] == ["created", "updated", "created"]
    assert "hunter2" not in moved.text


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"vendor": "pigeon"}, {"vendor", "accounts.smtp"}),
        ({"vendor": "inapp"}, {"vendor", "accounts.smtp"}),
        ({"fallback_vendor": "smtp"}, {"fallback_vendor"}),
        ({"fallback_vendor": "http"}, {"accounts.http"}),
        ({"sender": {}}, {"sender.from_address"}),
        ({"sender": {"from_address": "nobody", "reply_to": "x"}}, {"sender.from_address", "sender.reply_to"}),
        ({"sender": {"from_address": "hello@elsewhere.test"}}, {"sender.from_address"}),
        ({"rate_limit": {"per_second": 0}}, {"rate_limit.per_second"}),
        ({"status": "down"}, {"status"}),
        ({"colour": "red"}, {"colour"}),
        ({"accounts": {"smtp": {"secret_ref": "file://../other/secret"}}}, {"accounts.smtp.secret_ref"}),
        ({"accounts": {"smtp": {"secret_ref": "file:///etc/passwd"}}}, {"accounts.smtp.secret_ref"}),
        ({"accounts": {"smtp": {"secret_ref": "env://TIDINGS_SECRET_X"}}}, {"accounts.smtp.secret_ref"}),
        ({"accounts": {"smtp": {"secret_ref": "file://not-there"}}}, {"accounts.smtp.secret_ref"}),
        ({"accounts": {"smtp": {"secret_ref": "hunter2"}}}, {"accounts.smtp.secret_ref"}),
        ({"accounts": {}}, {"accounts.smtp"}),
    ],
)  # fmt: skip
async def test_bad_input_names_every_field_and_writes_nothing(
    world: PeopleWorld, change: dict[str, Any], fields: set[str]
) -> None:
    tenant = await world.tenant(NotificationPolicy(allowed_sender_domains=("acme.test", "*.acme.test")))
    body = wanted(secret(world, tenant.id, "one"), **change)
    async with world.http.as_tenant(tenant.id) as client:
        refused = await client.put(EMAIL, json=body)

    assert refused.status_code == 400
    assert {error["field"] for error in refused.json()["errors"]} == fields
    assert "hunter2" not in refused.text
    for table in ("notification.channels", "notification.channel_credentials"):
        assert await rows(world.db, tenant.id, f"SELECT id FROM {table}") == []
    configs = "SELECT id FROM chan.channel_adapter_configs WHERE tenant_id = $1"
    assert await rows(world.db, tenant.id, configs, tenant.id) == []


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ("hunter2", {"host": "is required"}),
        ({"hots": "hunter2", "port": "hunter2"}, {
            "host": "is required", "hots": "is not a known field; did you mean host?", "port": "must be a whole number or null",
        }),
        (
            {**SMTP, "ca_file": "/hunter2"},
            {
                "ca_file": "must be the path of a file of certificates in PEM that every process that sends can read; "
                "certificates that are kept with the secrets are named by ca_pem_ref"
            },
        ),
        (
            {**SMTP, "ca_file": "file://smtp/hunter2.pem"},
            {
                "ca_file": "must be a path and not a reference: certificates that are kept with the secrets are named by "
                "ca_pem_ref"
            },
        ),
        ({**SMTP, "ca_pem": "hunter2"}, {"ca_pem": "must hold certificates in PEM"}),
        ({"host": "mail.acme.test", "username": "acme", "password_ref": "file://gone"}, {
            "password_ref": "must name a secret of yours that is there and can be read",
        }),
        ('{"host": "hunter2', {"": "leads to a text that begins with { and is no JSON object"}),
    ],
)  # fmt: skip
async def test_settings_that_the_adapter_cant_read_are_refused_at_once(
    world: PeopleWorld, settings: dict[str, Any] | str, wrong: dict[str, str]
) -> None:
    """By PUT and by rotation, in the words of a look at the account; a value is never quoted."""
    tenant = await world.tenant()
    good, bad = secret(world, tenant.id, "good"), secret(world, tenant.id, "bad", settings)
    async with world.http.as_tenant(tenant.id) as client:
        refused = await client.put(EMAIL, json=wanted(bad))
        missing = await client.get(EMAIL)
        await client.put(EMAIL, json=wanted(good))
        rotated = await client.post(f"{EMAIL}/credentials/rotate", json={"secret_ref": bad, "check": False})
        # It was good when it was set up.
        secret(world, tenant.id, "good", settings)
        listed = (await client.get("/api/v1/router/adapters")).json()["items"]
        (account,) = [one for one in listed if one["owner"] == "tenant"]
        looked = (await client.post(f"/api/v1/router/adapters/{account['id']}/check")).json()

    for answer, at in ((refused, "accounts.smtp.secret_ref"), (rotated, "secret_ref")):
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_value")
        found = {error["field"]: error["remedy"] for error in answer.json()["errors"]}
        assert found == {f"{at}.{name}" if name else at: remedy for name, remedy in wrong.items()}
        assert "hunter2" not in answer.text
    assert missing.status_code == 404
    (step,) = [step for step in looked["steps"] if step["result"] == "failed"]
    assert all(f"{name or 'secret_ref'} {remedy}" in step["words"] for name, remedy in wrong.items())


async def test_a_sender_that_is_anothers_is_refused_with_those_that_may_be_shown(world: PeopleWorld) -> None:
    """An operator says which numbers and names a tenant may appear as; over accounts that tenants share nobody else asks."""
    tenant = await world.tenant(NotificationPolicy(allowed_sender_ids=("+15550100", "ACME")))
    body = {"vendor": "http", "sender": {"sender_id": "+15550199"}}
    async with world.http.as_tenant(tenant.id) as client:
        refused = await client.put("/api/v1/channels/sms", json=body)
        missing = await client.get("/api/v1/channels/sms")

    errors = {error["field"]: error["remedy"] for error in refused.json()["errors"]}
    assert (refused.status_code, errors["sender.sender_id"]) == (
        400,
        "must be an allowed one: +15550100, ACME",
    )
    assert missing.status_code == 404


async def test_an_adapter_that_is_not_known_or_does_not_serve_the_channel_is_said(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    ref = secret(world, tenant.id, "one")
    async with world.http.as_tenant(tenant.id) as client:
        unknown = await client.put(
            EMAIL, json=wanted(ref, vendor="stmp", accounts={"stmp": {"secret_ref": ref}})
        )
        other = await client.put("/api/v1/channels/sms", json=wanted(ref, sender={"sender_id": "ACME"}))

    words = {
        name: answer.json()["errors"][0]["remedy"]
        for name, answer in (("unknown", unknown), ("other", other))
    }
    assert words == {
        "unknown": "must be an adapter that serves email: http, mailgun, postmark, sendgrid, ses, smtp, or one of these "
        "with a name of your own, such as http_backup; there is no adapter of this name, did you mean smtp?",
        "other": "must be an adapter that serves sms: http, smpp, twilio, vonage, or one of these with a name of your "
        "own, such as http_backup; smtp serves email",
    }


async def test_an_unknown_channel_is_named(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        refused = await client.get("/api/v1/channels/pigeon")

    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "channel")


async def test_a_secret_of_another_tenant_is_out_of_reach(world: PeopleWorld) -> None:
    one, two = await world.tenant(), await world.tenant()
    secret(world, two.id, "theirs")
    async with world.http.as_tenant(one.id) as client:
        refused = await client.put(EMAIL, json=wanted(f"file://{world.folder}/{two.id}/theirs"))

    assert refused.status_code == 400
    assert refused.json()["errors"][0]["field"] == "accounts.smtp.secret_ref"


async def test_the_platforms_account_serves_who_has_none(fresh_db: Database, tmp_path: Path) -> None:
    """In a database of its own: what the platform has, all tenants have."""
    world = PeopleWorld(fresh_db, tmp_path)
    tenant = await world.tenant(any_sender())
    async with world.db.platform() as tx:
        await tx.connection.execute(
            "INSERT INTO chan.channel_adapter_configs (id, provider, secret_ref, pricing_model)"
            " VALUES ($1, 'http', 'env://TIDINGS_SECRET_X', '{}')",
            f"adcfg_{tenant.id[4:]}",
        )
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.put(EMAIL, json=wanted("", vendor="http", accounts={}))

    assert made.json()["accounts"][0]["owner"] == "platform"
    assert "env://" not in made.text


async def test_of_many_who_set_it_up_at_once_one_wins(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    ref = secret(world, tenant.id, "one")
    async with world.http.as_tenant(tenant.id) as client:
        first = await asyncio.gather(*(client.put(EMAIL, json=wanted(ref)) for _ in range(5)))
        bodies = [wanted(ref, rate_limit={"per_second": n + 1}) for n in range(5)]
        second = await asyncio.gather(
            *(client.put(EMAIL, json=body, headers={"If-Match": '"v1"'}) for body in bodies)
        )

    assert sorted(answer.status_code for answer in first)[0] == 200
    assert {answer.status_code for answer in first} <= {200, 412, 428}
    assert sum(answer.status_code == 200 for answer in first) == 1
    assert sorted(answer.status_code for answer in second) == [200, 412, 412, 412, 412]
    count = "SELECT count(*) AS n FROM chan.channel_adapter_configs WHERE tenant_id = $1"
    assert await rows(world.db, tenant.id, count, tenant.id) == [{"n": 1}]


async def test_readers_read_and_write_nothing(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id, role="tenant.viewer") as viewer:
        refused = await viewer.put(EMAIL, json=wanted("file://one"))
        shown = await viewer.get("/api/v1/channels")

    assert (refused.status_code, shown.status_code) == (403, 200)
