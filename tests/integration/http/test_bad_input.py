"""Bad input gets a clear problem that names the field and says what to do; nothing is half-written."""

from typing import Any

import pytest

from tests.support.http import HttpWorld

KEYS, TENANTS = "/api/v1/api-keys", "/internal/v1/tenants"
ID = "tnt_01M7FCWEYJ9BT7FZN9XC66BV19"
TENANT: dict[str, Any] = {"name": "Acme", "slug": "acme-bad-input"}
KEY: dict[str, Any] = {"name": "x", "role": "tenant.viewer"}

#: Who calls, method, path, body, the field that is named, a part of the remedy.
CASES: list[tuple[str, str, str, Any, str, str]] = [
    ("tenant", "POST", KEYS, {}, "name", "is required"),
    ("tenant", "POST", KEYS, {**KEY, "name": ""}, "name", "at least 1"),
    ("tenant", "POST", KEYS, {**KEY, "name": "x" * 201}, "name", "at most 200"),
    ("tenant", "POST", KEYS, {**KEY, "name": "a\u0000b"}, "name", "control characters"),
    ("tenant", "POST", KEYS, {**KEY, "name": "a\nb"}, "name", "control characters"),
    ("tenant", "POST", KEYS, {**KEY, "role": "root"}, "role", "must be one of"),
    ("tenant", "POST", KEYS, {**KEY, "role": "platform.support"}, "role", "tenant.admin"),
    ("tenant", "POST", KEYS, {**KEY, "scopes": ["a:b"]}, "scopes", "unknown scope"),
    ("tenant", "POST", KEYS, {**KEY, "scopes": []}, "scopes", "at least one"),
    ("tenant", "POST", KEYS, {**KEY, "scopes": [1]}, "scopes[0]", "must be a text"),
    ("tenant", "POST", KEYS, {**KEY, "scopes": "notifications:read"}, "scopes", "must be a list"),
    ("tenant", "POST", KEYS, {**KEY, "environment": "prod"}, "environment", "live, test"),
    ("tenant", "POST", KEYS, {**KEY, "expires_at": "2001-01-01T00:00:00Z"}, "expires_at", "future"),
    ("tenant", "POST", KEYS, {**KEY, "expires_at": "2999-01-01T00:00:00"}, "expires_at", "must be a time"),
    ("tenant", "POST", KEYS, {**KEY, "expires_at": "9999-12-31T23:59:59-12:00"}, "expires_at", "to 9998-12-31"),
    ("tenant", "POST", KEYS, {**KEY, "expires_at": "9998-12-30T23:59:59-12:00"}, "expires_at", "ten years"),
    ("tenant", "POST", KEYS, {**KEY, "expires_at": "soon"}, "expires_at", "must be a time"),
    ("tenant", "POST", KEYS, {**KEY, "expires_at": "99999-01-01T00:00:00Z"}, "expires_at", "must be a time"),
    ("tenant", "POST", KEYS, {**KEY, "secret": "mine"}, "secret", "not a known field"),
    ("tenant", "POST", KEYS, {**KEY, "tenant_id": ID}, "tenant_id", "not a known field"),
    ("tenant", "POST", KEYS, [], "", "must be an object"),
    ("tenant", "POST", f"{KEYS}/nonsense/rotate", {}, "key_id", "key_ followed by 26"),
    ("tenant", "POST", f"{KEYS}/key_01M7FCWEYJ9BT7FZN9XC66BV19/rotate", {"overlap_seconds": -1}, "overlap_seconds", "at least 0"),
    ("tenant", "POST", f"{KEYS}/key_01M7FCWEYJ9BT7FZN9XC66BV19/rotate", {"overlap_seconds": 10**9}, "overlap_seconds", "at most"),
    ("tenant", "POST", f"{KEYS}/key_01M7FCWEYJ9BT7FZN9XC66BV19/rotate", {"overlap": 1}, "overlap", "did you mean overlap_seconds"),
    ("tenant", "GET", f"{KEYS}/%00", None, "key_id", "key_ followed by 26"),
    ("tenant", "DELETE", f"{KEYS}/key_", None, "key_id", "key_ followed by 26"),
    ("tenant", "GET", f"{KEYS}?limit=0", None, "limit", "at least 1"),
    ("tenant", "GET", f"{KEYS}?limit=201", None, "limit", "at most 200"),
    ("tenant", "GET", f"{KEYS}?limit=ten", None, "limit", "whole number"),
    ("tenant", "GET", f"{KEYS}?page=2", None, "page", "not a known"),
    ("tenant", "GET", f"{KEYS}?cursor=hostile", None, "cursor", "next_cursor"),
    ("tenant", "GET", f"{KEYS}?cursor=", None, "cursor", "next_cursor"),
    ("tenant", "POST", KEYS, {**KEY, "name": " "}, "name", "no space at either end"),
    ("tenant", "POST", KEYS, {**KEY, "name": "a "}, "name", "no space at either end"),
    ("tenant", "POST", KEYS, {**KEY, "name": "\x9b31m"}, "name", "control characters"),
    ("tenant", "POST", KEYS, {**KEY, "name": "a\u202eb"}, "name", "control characters"),
    ("tenant", "POST", KEYS, {**KEY, "name": "a\u2028b"}, "name", "control characters"),
    ("tenant", "GET", f"{KEYS}?limit={'9' * 5000}", None, "limit", "too large"),
    ("tenant", "GET", f"{KEYS}?" + "&".join(f"a{n}=1" for n in range(101)), None, "query", "at most 100"),
    ("tenant", "GET", "/api/v1/audit?entity_type=", None, "entity_type", "at least 1"),
    ("tenant", "GET", "/api/v1/audit?entity_id=" + "x" * 301, None, "entity_id", "at most 300"),
    ("tenant", "GET", "/api/v1/audit?actor=x", None, "actor", "not a known"),
    ("tenant", "GET", "/api/v1/audit?cursor=x", None, "cursor", "next_cursor"),
    ("tenant", "GET", "/api/v1/tenant?verbose=1", None, "verbose", "leave it out"),
    ("platform", "POST", TENANTS, {"name": "x"}, "slug", "is required"),
    ("platform", "POST", TENANTS, {**TENANT, "slug": "A B"}, "slug", "lower-case"),
    ("platform", "POST", TENANTS, {**TENANT, "region": "EU!"}, "region", "eu-west-1"),
    ("platform", "POST", TENANTS, {**TENANT, "default_locale": "english"}, "default_locale", "en-US"),
    ("platform", "POST", TENANTS, {**TENANT, "default_timezone": "Mars/Olympus"}, "default_timezone", "IANA"),
    ("platform", "POST", TENANTS, {**TENANT, "default_timezone": "../../etc/passwd"}, "default_timezone", "IANA"),
    ("platform", "POST", TENANTS, {**TENANT, "weight": 0}, "weight", "at least 1"),
    ("platform", "POST", TENANTS, {**TENANT, "weight": 1.5}, "weight", "whole number"),
    ("platform", "POST", TENANTS, {**TENANT, "weight": True}, "weight", "whole number"),
    ("platform", "POST", TENANTS, {**TENANT, "notification_policy": None}, "notification_policy", "object"),
    ("platform", "POST", TENANTS, {**TENANT, "notification_policy": {"quiet": 1}}, "notification_policy.quiet", "quiet_hours"),
    ("platform", "POST", TENANTS, {**TENANT, "notification_policy": {"limits": {"per_day": 0}}}, "notification_policy.limits.per_day", "at least 1"),
    ("platform", "POST", TENANTS, {**TENANT, "notification_policy": {"allowed_link_domains": ["http://x"]}}, "notification_policy.allowed_link_domains[0]", "example.com"),
    ("platform", "POST", TENANTS, {**TENANT, "notification_policy": {"quiet_hours": [{"days": ["mon"], "start": "1:00", "end": "02:00"}]}}, "notification_policy.quiet_hours[0].start", "22:00"),
    ("platform", "POST", TENANTS, {**TENANT, "notification_policy": {"quiet_hours": [{"days": [], "start": "01:00", "end": "02:00"}]}}, "notification_policy.quiet_hours[0].days", "at least 1"),
    ("platform", "POST", TENANTS, {**TENANT, "notification_policy": {"limits": {"per_channel_per_second": {"fax": 1}}}}, "notification_policy.limits.per_channel_per_second.fax", "use email, sms"),
    ("platform", "PATCH", f"{TENANTS}/{ID}", {"status": "active"}, "status", "not a known field"),
    ("platform", "PATCH", f"{TENANTS}/{ID}", {"name": None}, "name", "must be a text"),
    ("platform", "POST", f"{TENANTS}/{ID}/freeze", {"reason": ""}, "reason", "at least 1"),
    ("platform", "POST", f"{TENANTS}/{ID}/freeze", {"reason": "a\x1b[31mb"}, "reason", "control characters"),
    ("platform", "POST", TENANTS, {**TENANT, "default_timezone": "posixrules"}, "default_timezone", "IANA"),
    ("platform", "POST", TENANTS, {**TENANT, "default_timezone": "Europe"}, "default_timezone", "IANA"),
    ("platform", "GET", f"{TENANTS}?status=null", None, "status", "leave it out"),
    ("platform", "GET", f"{TENANTS}?status=sleeping", None, "status", "must be one of active"),
    ("platform", "GET", KEYS + "?limit=x", None, "limit", "whole number"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[1]} {case[2][:60]} {case[4]}")
async def test_the_field_and_the_remedy_are_named(
    world: HttpWorld, case: tuple[str, str, str, Any, str, str]
) -> None:
    who, method, path, body, field, remedy = case
    side = None if who == "platform" else (await world.tenant()).id
    _, carried = await world.key(side)

    async with world.client(carried) as client:
        answer = await client.request(method, path, json=body)

    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (400, "bad_value"), problem
    found = {error["field"]: error["remedy"] for error in problem["errors"]}
    assert field in found, found
    assert remedy in found[field]


@pytest.mark.parametrize(
    ("content", "kind", "status", "code"),
    [
        (b"{", "application/json", 400, "malformed_body"),
        (b"", "application/json", 400, "malformed_body"),
        (b"\xff", "application/json", 400, "malformed_body"),
        (b"[" * 50_000, "application/json", 400, "malformed_body"),
        (b'{"name":"a","name":"b","role":"tenant.viewer"}', "application/json", 400, "bad_value"),
        (b"name=x", "application/x-www-form-urlencoded", 415, "wrong_content_type"),
        (b"{}", "text/plain", 415, "wrong_content_type"),
        (b" " * (1024 * 1024 + 1), "application/json", 413, "body_too_large"),
    ],
)
async def test_a_body_that_is_no_json(
    world: HttpWorld, content: bytes, kind: str, status: int, code: str
) -> None:
    tenant = await world.tenant()

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(KEYS, content=content, headers={"content-type": kind})

    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_all_faults_are_named_at_once(world: HttpWorld) -> None:
    tenant = await world.tenant()
    body = {"nmae": "x", "role": "root", "scopes": [1, "a", None], "expires_at": 5}

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(KEYS, json=body)

    assert [error["field"] for error in answer.json()["errors"]] == [
        "name", "role", "scopes[0]", "scopes[2]", "expires_at", "nmae",
    ]  # fmt: skip


async def test_nothing_is_half_written(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with world.as_tenant(tenant.id, scopes=["api_keys:write", "api_keys:read"]) as client:
        refused = await client.post(
            KEYS, json={"name": "x", "role": "tenant.admin", "scopes": ["audit:read"]}
        )
        listed = await client.get(KEYS)
    async with world.db.tenant(tenant.id) as tx:
        audited = await world.system.kernel.audit.read_recent(tx, entity_type="api_key")

    assert refused.status_code == 403
    assert len(listed.json()["items"]) == len(audited) == 1


CREDENTIALS = [
    "tdk_",
    "tdk_x_y",
    "tdk_01M7FCWEYJ9BT7FZN9XC66BV19_" + "a" * 43,
    "tdk_01M7FCWEYJ9BT7FZN9XC66BV19_" + "a" * 5000,
    "tdk_81M7FCWEYJ9BT7FZN9XC66BV19_" + "a" * 43,
    "tdk_01m7fcweyj9bt7fzn9xc66bv19_" + "a" * 43,
    "eyJhbGciOiJub25lIn0.e30.",
    "'; DROP TABLE notification.api_keys; --",
]


@pytest.mark.parametrize("credential", CREDENTIALS)
async def test_a_credential_that_is_none_is_a_401_that_does_not_repeat_it(
    world: HttpWorld, credential: str
) -> None:
    async with world.client(credential) as client:
        answer = await client.get("/api/v1/tenant")

    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert credential not in answer.text
