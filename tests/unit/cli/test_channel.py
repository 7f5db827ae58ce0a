"""`tidings channel`: what it asks, what it prints."""

import json
from typing import Any

from tests.unit.cli.conftest import PlayedApi, Types
from tidings.cli.channel import line_of

HOME = "/api/v1/channels"
EMAIL: dict[str, Any] = {
    "channel": "email",
    "vendor": "smtp",
    "fallback_vendor": "http",
    "sender": {"from_address": "hello@acme.test", "from_name": "Ac\x1b[31mme"},
    "branding": {"product_name": "Acme"},
    "rate_limit": {"per_second": 5},
    "status": "active",
    "accounts": [{"vendor": "smtp", "owner": "tenant"}, {"vendor": "http", "owner": "platform"}],
    "credentials": [
        {"id": "chc_2", "vendor": "smtp", "status": "active", "secret_ref": "file://two"},
        {"id": "chc_1", "vendor": "smtp", "status": "superseded", "secret_ref": "file://one",
         "rotated_at": "2026-11-15T12:00:00Z"},
    ],
    "version": 7,
}  # fmt: skip


def test_list_and_show(api: PlayedApi, types: Types) -> None:
    api.answers[f"GET {HOME}"] = (200, {"items": [EMAIL]})
    api.answers[f"GET {HOME}/email"] = (200, EMAIL)

    listed, shown = types("channel", "list"), types("channel", "show", "email")

    assert listed.out == "email     active    smtp then http      Ac?[31mme <hello@acme.test>\n"
    assert "smtp: your own account" in shown.out
    assert "chc_1  smtp      superseded  file://one  2026-11-15T12:00:00Z" in shown.out
    assert json.loads(types("channel", "show", "email", "--json").out) == EMAIL


def test_set_changes_what_is_named_and_keeps_the_rest(api: PlayedApi, types: Types) -> None:
    api.answers[f"GET {HOME}/email"] = api.answers[f"PUT {HOME}/email"] = (200, EMAIL)

    done = types(
        "channel", "set", "email", "--reply-to", "help@acme.test", "--fallback", "-", "--disable",
        "--account", "smtp=vault://smtp",
    )  # fmt: skip

    assert done.code == 0, done.err
    assert "`tidings adapter check smtp`" in done.out
    _, headers, body = api.heard[-1]
    assert headers["if-match"] == '"v7"'
    assert body == {
        "vendor": "smtp",
        "fallback_vendor": None,
        "sender": {**EMAIL["sender"], "reply_to": "help@acme.test"},
        "branding": {"product_name": "Acme"},
        "rate_limit": {"per_second": 5},
        "status": "disabled",
        "accounts": {"smtp": {"secret_ref": "vault://smtp"}},
    }


def test_a_secret_that_was_typed_by_mistake_is_not_repeated(types: Types) -> None:
    done = types("channel", "set", "email", "--account", "smtp=hunter22")

    assert done.code == 1
    assert "VENDOR=REFERENCE" in done.err
    assert "hunter22" not in done.err


def test_test_says_what_the_vendor_said(api: PlayedApi, types: Types) -> None:
    call = f"POST {HOME}/email/test"
    api.answers[call] = (200, {"vendor": "smtp", "result": "accepted", "provider_message_id": "4Xy"})
    taken = types("channel", "test", "email", "laila@example.test")
    refusal = {"vendor": "smtp", "result": "refused", "code": "5.1.1", "reason": "user unknown"}
    api.answers[call] = (200, refusal)
    refused = types("channel", "test", "email", "laila@example.test", "--vendor", "smtp")

    assert (taken.code, taken.out) == (0, "smtp has taken it as 4Xy\n")
    assert (refused.code, refused.out) == (1, "smtp refuses it: user unknown (5.1.1)\n")
    assert api.body_of(call) == {"to": "laila@example.test", "vendor": "smtp"}


def test_dns_advises(api: PlayedApi, types: Types) -> None:
    checks = [
        {"check": "spf", "status": "pass", "name": "acme.test", "found": "v=spf1 -all", "what": "Sound.", "how": None},
        {"check": "mx", "status": "fail", "name": "acme.test", "found": None, "what": "None.", "how": "Publish one."},
    ]  # fmt: skip
    api.answers[f"GET {HOME}/email/dns"] = (200, {"domain": "acme.test", "status": "fail", "checks": checks})

    done = types("channel", "dns")

    assert done.code == 1
    assert done.out.splitlines() == [
        "acme.test: fail",
        "ok    SPF   Sound.",
        "            acme.test: v=spf1 -all",
        "FAIL  MX    None.",
        "            → Publish one.",
    ]


def test_rotate(api: PlayedApi, types: Types) -> None:
    call = f"POST {HOME}/email/credentials/rotate"
    api.answers[call] = (200, {"vendor": "smtp", "check": {"result": "accepted"}, "channel": EMAIL})

    done = types("channel", "rotate", "email", "file://two", "--no-check")

    assert done.code == 0, done.err
    assert done.out.startswith("smtp: the new credential is in use; the vendor takes it\n")
    assert "when `tidings channel show` calls it revoked" in done.out
    assert api.body_of(call) == {"secret_ref": "file://two", "check": False}


def test_what_the_server_refuses_is_said(api: PlayedApi, types: Types) -> None:
    problem = {"status": 409, "code": "credential_refused", "detail": "The new credential is not usable."}
    api.answers[f"POST {HOME}/email/credentials/rotate"] = (409, problem)

    done = types("channel", "rotate", "email", "file://two")

    assert done.code == 1
    assert "The new credential is not usable" in done.err


def test_names_that_fill_their_column_do_not_run_into_the_next() -> None:
    channel = {
        "channel": "sms",
        "status": "active",
        "vendor": "http",
        "fallback_vendor": "http_backup",
        "sender": {"from_name": "Demo", "sender_id": "DEMO"},
    }

    assert line_of(channel) == "sms       active    http then http_backup Demo <DEMO>"


def test_the_sender_of_a_telephone_channel_is_named_by_its_own_option(types: Types) -> None:
    said = types("channel", "set", "sms", "--vendor", "http", "--from", "GRAND")

    assert said.code == 1
    assert "on sms is --sender-id GRAND" in said.err
