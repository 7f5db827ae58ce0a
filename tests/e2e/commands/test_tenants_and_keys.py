"""`tidings tenant` and `tidings api-key`, as an operator types them while the API is serving."""

from typing import Any

import httpx2
import pytest

from tests.e2e.commands.conftest import Operator
from tests.support.running import wait_until

pytestmark = pytest.mark.xdist_group("commands")


def call(operator: Operator, key: str) -> httpx2.Response:
    base_url = operator.running.demo["base_url"]
    return httpx2.get(f"{base_url}/api/v1/tenant", headers={"Authorization": f"Bearer {key}"}, timeout=30)


def post(operator: Operator, key: str) -> httpx2.Response:
    return httpx2.post(
        f"{operator.running.demo['base_url']}/api/v1/api-keys",
        headers={"Authorization": f"Bearer {key}"},
        json={"name": "x", "role": "tenant.viewer"},
        timeout=30,
    )


def test_a_tenant_s_life(operator: Operator) -> None:
    """Made, given a key, frozen, suspended and opened again; the API follows within a second."""
    (made,) = operator.gets("tenant", "create", "acme", "--name", "Acme Ltd", "--timezone", "Asia/Kabul")
    assert (made["slug"], made["status"], made["default_timezone"]) == ("acme", "active", "Asia/Kabul")
    listed = operator.gets("tenant", "list")
    assert [slug for tenant in listed if (slug := tenant["slug"]) in {"acme", "demo"}] == ["acme", "demo"]
    assert "Acme Ltd" in operator.reads("tenant", "list")
    (by_slug,), (by_id,) = (
        operator.gets("tenant", "show", "acme"),
        operator.gets("tenant", "show", made["id"]),
    )
    assert by_slug == by_id

    key = operator.gets("api-key", "create", "first", "--tenant", "acme")["key"]
    assert call(operator, key).json()["tenant"]["id"] == made["id"]

    for move, status in (("freeze", 423), ("unfreeze", 201), ("suspend", 403), ("resume", 201)):
        (after,) = operator.gets("tenant", move, "acme", "--reason", "because of a test")
        assert after["id"] == made["id"]
        wait_until(
            lambda expected=status: post(operator, key).status_code == expected, f"{status} after {move}"
        )
    (again,) = operator.gets("tenant", "resume", made["id"])
    assert again["status"] == "active"

    happened = operator.reads("audit", "tail")
    assert "suspended tenant" in happened
    assert "(because of a test)" in happened
    assert "cli:" in happened


def test_senders_are_granted_and_taken_away(operator: Operator) -> None:
    """A channel over the platform's account is refused until an operator grants its sender."""
    granted = ("--sender-domain", "inn.example", "--sender-id", "INN")
    (made,) = operator.gets("tenant", "create", "inn", *granted)
    as_them = ("--key", operator.gets("api-key", "create", "theirs", "--tenant", "inn")["key"])
    mail = ("channel", "set", "email", "--vendor", "smtp", "--from", "hello@eu.inn.example", *as_them)
    refused = operator.is_refused(*mail)
    more = ("--sender-domain", "*.inn.example", "--sender-domain", "inn.example", "--sender-id", "+15550100")
    said = operator.reads("tenant", "grant", "inn", *more)
    operator.reads(*mail)
    (after,) = operator.gets("tenant", "ungrant", "inn", "--sender-id", "INN", "--sender-id", "+15550100")
    shown = operator.reads("tenant", "show", "inn")
    operator.reads("tenant", "ungrant", "inn", "--sender-domain", "*.inn.example")
    missing = operator.types("tenant", "senders")
    operator.reads("tenant", "grant", "inn", "--sender-domain", "*")
    mended = operator.types("tenant", "senders")

    assert (made["sender_domains"], made["sender_ids"]) == (["inn.example"], ["INN"])
    assert "sender.from_address must be of a domain that is granted to you" in refused
    assert f"`tidings tenant grant {made['id']} --sender-domain eu.inn.example`" in refused
    assert "mail over the platform's accounts comes from: inn.example, *.inn.example" in said
    assert "telephones show over the platform's accounts: INN, +15550100" in said
    assert (after["sender_domains"], after["sender_ids"]) == (["inn.example", "*.inn.example"], [])
    assert "telephones show over the platform's accounts: the account's own sender only" in shown
    line = "inn  email over smtp: hello@eu.inn.example is not granted"
    assert (missing.returncode, line in missing.stdout, line in mended.stdout) == (1, True, False)
    assert "`tidings tenant grant TENANT --sender-domain" in missing.stdout
    assert "comes from: any sender" in operator.reads("tenant", "show", "demo")


def test_a_key_s_life(operator: Operator) -> None:
    """The platform's and a tenant's; a revoked one is refused within a second."""
    scopes = ("--scope", "notifications:write", "--scope", "recipients:read")
    narrow = operator.gets("api-key", "create", "for sending", "--tenant", "demo", *scopes)
    assert call(operator, narrow["key"]).json()["caller"]["scopes"] == [
        "notifications:write",
        "recipients:read",
    ]
    made = operator.gets("api-key", "create", "for a script", "--tenant", "demo", "--role", "tenant.viewer")
    platform = operator.gets("api-key", "create", "for an operator", "--platform")
    assert call(operator, made["key"]).json()["caller"]["role"] == "tenant.viewer"
    assert call(operator, platform["key"]).json()["caller"]["role"] == "platform.channel.admin"

    listed = operator.gets("api-key", "list", "--tenant", "demo")
    assert {"id": made["id"], "state": "active"}.items() <= listed[0].items()
    assert "for an operator" in operator.reads("api-key", "list", "--platform")
    assert made["key"].rsplit("_", 1)[1] not in operator.reads("api-key", "list", "--tenant", "demo")

    assert operator.reads("api-key", "revoke", made["id"], "--tenant", "demo") == f"{made['id']} is revoked\n"
    wait_until(lambda: call(operator, made["key"]).status_code == 401, "the key to be refused")
    assert operator.gets("api-key", "list", "--tenant", "demo")[0]["state"] == "revoked"


def test_bad_input_is_one_line_that_names_the_option(operator: Operator) -> None:
    """And nothing was made or changed by it."""
    unknown = "tnt_01M7FCWEYJ9BT7FZN9XC66BV19"
    key = "key_01M7FCWEYJ9BT7FZN9XC66BV19"

    def everything() -> tuple[Any, Any]:
        keys = operator.gets("api-key", "list", "--tenant", "demo")
        return operator.gets("tenant", "list"), [(key["id"], key["state"]) for key in keys]

    before = everything()
    expected = {
        ("tenant", "create", "Bad Slug"): "SLUG must be lower-case",
        ("tenant", "create", "x" * 64): "SLUG must be a text of at most 63",
        ("tenant", "create", "demo"): "SLUG is taken by another tenant",
        ("tenant", "create", "ok", "--name", "\x1b[31m"): "--name must be one line of text",
        ("tenant", "create", "ok", "--name", ""): "--name must be",
        ("tenant", "create", "ok", "--region", "EU!"): "--region must be a region's name",
        ("tenant", "create", "ok", "--locale", "english"): "--locale must be a language tag",
        ("tenant", "create", "ok", "--timezone", "Mars/Olympus"): "--timezone must be an IANA time zone",
        ("tenant", "create", "ok", "--sender-domain", "Hotel"): "--sender-domain must be a lower-case domain",
        ("tenant", "create", "ok", "--sender-id", "A name that is long"): "--sender-id must be a number",
        ("tenant", "grant", "demo"): "say what to grant: --sender-domain or --sender-id",
        ("tenant", "grant", "demo", "--sender-id", "!"): "--sender-id must be a number",
        ("tenant", "ungrant", "nobody", "--sender-id", "GRAND"): "no tenant has the id or slug",
        ("tenant", "show", "nobody"): "no tenant has the id or slug 'nobody'",
        ("tenant", "show", "tnt_1"): "no tenant has the id or slug",
        ("tenant", "show", "\udcff"): "is not valid UTF-8",
        ("tenant", "freeze", unknown): "no tenant has the id or slug",
        ("tenant", "freeze", "demo", "--reason", "x" * 501): "--reason must be a text of at most 500",
        ("tenant", "suspend", "demo", "--reason", ""): "--reason must be a text of at least 1",
        ("api-key", "create", "x"): "say whose key: --tenant",
        ("api-key", "create", "x", "--tenant", "demo", "--platform"): "say whose key: --tenant",
        ("api-key", "create", "", "--tenant", "demo"): "NAME must be",
        ("api-key", "create", "x", "--tenant", "nobody"): "no tenant has the id or slug",
        ("api-key", "create", "x", "--tenant", "demo", "--role", "root"): "--role must be one of",
        (
            "api-key",
            "create",
            "x",
            "--tenant",
            "demo",
            "--scope",
            "root",
        ): "--scope root is unknown; there are",
        (
            "api-key",
            "create",
            "x",
            "--tenant",
            "demo",
            "--scope",
            "tenants:write",
        ): "--scope has tenants:write",
        (
            "api-key",
            "create",
            "x",
            "--tenant",
            "demo",
            "--role",
            "platform.support",
        ): "--role must be one of tenant.",
        ("api-key", "list", "--tenant", unknown): "no tenant has the id or slug",
        ("api-key", "revoke", "nonsense", "--tenant", "demo"): "KEY must be an id of the form key_",
        ("api-key", "revoke", key, "--tenant", "demo"): "no API key with this id",
    }

    for words, part in expected.items():
        said = operator.is_refused(*words)
        assert part in said, (words, said)
    assert everything() == before
