"""`tidings circuit` and `tidings adapter`: what they ask, what they print."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.unit.cli.conftest import PlayedApi, Types

HOME = "/api/v1/router"
CIRCUIT: dict[str, Any] = {
    "account_id": "adcfg_1",
    "vendor": "http_acme",
    "owner": "tenant",
    "state": "OPEN",
    "since": "2026-11-15T12:00:00Z",
    "until": "2026-11-15T12:00:30Z",
    "reason": "31 of 40 calls failed",
    "held": None,
    "last_minute": {"calls": 40, "failed": 31, "slow": 0},
}
ADAPTER: dict[str, Any] = {
    "id": "adcfg_1",
    "vendor": "http_acme",
    "adapter": "http",
    "owner": "tenant",
    "channels": ["sms", "whatsapp"],
    "capabilities": {"html": True, "attachments": False, "receipts": None, "cancel": None},
    "handle": None,
    "hook": "https://tidings.example/hooks/http_acme/adcfg_1",
    "hook_advice": None,
    "per_second": 50,
    "per_day": None,
    "prices": {"currency": "USD", "per_segment_micros": 7500, "by_prefix": {"+93": {"base_micros": 0}}},
    "circuit": "OPEN",
    "weights": [{"channel": "sms", "home": 70, "now": {"+93": 60}}],
    "version": 4,
}
WEIGHTS: dict[str, Any] = {
    "channel": "sms",
    "owner": "tenant",
    "home": {"http_acme": 70, "http_b": 30},
    "by_prefix": {"+1": {"http_acme": 0, "http_b": 100}},
    "moved": [
        {"prefix": "+93", "points": {"http_acme": 60, "http_b": 40}, "moved_at": "2026-11-15T12:00:00Z"}
    ],
    "version": 2,
}


@pytest.fixture(autouse=True)
def known(api: PlayedApi) -> None:
    """One account."""
    api.answers[f"GET {HOME}/adapters"] = (200, {"items": [ADAPTER]})
    api.answers[f"GET {HOME}/circuits"] = (200, {"items": [CIRCUIT]})
    api.answers[f"GET {HOME}/weights"] = (200, {"items": [WEIGHTS]})


def test_circuits_are_listed_one_line_each(types: Types) -> None:
    done = types("circuit", "list")

    assert done.out == (
        "OPEN       http_acme             adcfg_1  tenant  last minute: 40 calls, 31 failed, 0 slow  "
        "because 31 of 40 calls failed; tried again from 2026-11-15T12:00:30Z on\n"
    )
    assert json.loads(types("circuit", "list", "--json").out) == [CIRCUIT]


def test_of_the_platforms_circuits_there_is_less_to_print(api: PlayedApi, types: Types) -> None:
    platform = {**CIRCUIT, "owner": "platform", "reason": "calls failed", "last_minute": None}
    held = {**platform, "held": {"until": None, "reason": None}}
    api.answers[f"GET {HOME}/circuits"] = (200, {"items": [platform, held]})

    done = types("circuit", "list")

    assert done.code == 0, done.err
    first, second = done.out.splitlines()
    assert first.endswith("platform  because calls failed; tried again from 2026-11-15T12:00:30Z on")
    assert second.endswith("platform  held by hand")


def test_one_is_held_by_its_vendors_name(api: PlayedApi, types: Types) -> None:
    held = {**CIRCUIT, "state": "CLOSED", "held": {"until": None, "reason": "we \x1bknow"}}
    api.answers[f"POST {HOME}/circuits/adcfg_1/override"] = (200, held)

    done = types("circuit", "close", "http_acme", "--reason", "we know", "--for", "2h")

    assert done.code == 0, done.err
    assert "held by hand: we ?know" in done.out
    body = api.heard[-1][2]
    assert (body["state"], body["reason"]) == ("CLOSED", "we know")
    ahead = datetime.fromisoformat(body["until"]) - datetime.now(UTC)
    assert timedelta(minutes=119) < ahead <= timedelta(hours=2)


def test_open_has_no_end_unless_it_is_said_and_auto_lets_go(api: PlayedApi, types: Types) -> None:
    api.answers[f"POST {HOME}/circuits/adcfg_1/override"] = (200, CIRCUIT)
    api.answers[f"DELETE {HOME}/circuits/adcfg_1/override?reason=all+is+well"] = (200, CIRCUIT)

    types("circuit", "open", "adcfg_1", "--reason", "maintenance")
    assert api.heard[-1][2] == {"state": "OPEN", "reason": "maintenance", "until": None}
    assert types("circuit", "auto", "adcfg_1", "--reason", "all is well").code == 0
    assert api.heard[-1][0] == f"DELETE {HOME}/circuits/adcfg_1/override?reason=all+is+well"
    # All three want to know why.
    for move in ("open", "close", "auto"):
        assert "--reason" in types("circuit", move, "adcfg_1").err


def test_those_of_the_platform_have_their_own_place(api: PlayedApi, types: Types) -> None:
    api.answers["GET /internal/v1/router/adapters"] = (200, {"items": [ADAPTER]})
    api.answers["DELETE /internal/v1/router/circuits/adcfg_1/override?reason=well"] = (200, CIRCUIT)

    done = types("circuit", "auto", "http_acme", "--reason", "well", "--platform")

    assert done.code == 0, done.err


def test_an_account_that_is_not_there(types: Types) -> None:
    done = types("circuit", "open", "http_b", "--reason", "x")

    assert done.code == 1
    assert "there is http_acme" in done.err


def test_what_is_missing_before_a_vendor_can_call_is_said(api: PlayedApi, types: Types) -> None:
    advice = "set TIDINGS_PUBLIC_URL to the address that vendors reach you by"
    api.answers[f"GET {HOME}/adapters"] = (200, {"items": [{**ADAPTER, "hook": None, "hook_advice": advice}]})
    unknown = types("adapter", "show", "http_acme")
    api.answers[f"GET {HOME}/adapters"] = (200, {"items": [{**ADAPTER, "hook_advice": advice}]})
    near = types("adapter", "show", "http_acme")

    assert f"  callbacks     {advice}\n  price" in unknown.out
    assert f"/hooks/http_acme/adcfg_1\n                {advice}\n  price" in near.out


def test_a_length_that_is_none(types: Types) -> None:
    done = types("circuit", "open", "http_acme", "--reason", "x", "--for", "tomorrow")

    assert done.code == 1
    assert "30s, 15m, 2h or 1d" in done.err


def test_an_account_is_shown_with_all_that_matters(api: PlayedApi, types: Types) -> None:
    listed, shown = types("adapter", "list"), types("adapter", "show", "http_acme")

    assert listed.out == "http_acme             adcfg_1  tenant    OPEN       0.0075 USD a segment\n"
    assert "http: sms, whatsapp" in shown.out
    assert "  can           html; receipts, cancel if its settings say so\n" in shown.out
    assert "  callbacks     https://tidings.example/hooks/http_acme/adcfg_1\n  price" in shown.out
    assert "a second      50" in shown.out
    assert "+93         0 USD a message" in shown.out
    assert "sms: 70 of 100, +93 now 60" in shown.out


def test_prices_change_as_named_and_the_rest_stays(api: PlayedApi, types: Types) -> None:
    api.answers[f"PUT {HOME}/adapters/adcfg_1"] = (200, ADAPTER)

    done = types(
        "adapter", "price", "http_acme", "--base", "0.001", "--prefix", "+1:per_segment=0.02,base=0", "--prefix", "+93:",
    )  # fmt: skip

    assert done.code == 0, done.err
    _, headers, body = api.heard[-1]
    assert headers["if-match"] == '"v4"'
    assert body == {
        "prices": {
            "currency": "USD",
            "base_micros": 1000,
            "per_segment_micros": 7500,
            "by_prefix": {"+1": {"per_segment_micros": 20_000, "base_micros": 0}},
        },
        "per_second": 50,
        "per_day": None,
    }
    types("adapter", "price", "http_acme", "--none")
    assert api.heard[-1][2]["prices"] is None


@pytest.mark.parametrize("amount", ["x", "-1", "0.00000001", "inf"])
def test_amounts_that_are_none(types: Types, amount: str) -> None:
    done = types("adapter", "price", "http_acme", f"--base={amount}")

    assert done.code == 1
    assert "--base must be an amount" in done.err


def test_limits_change_and_prices_stay(api: PlayedApi, types: Types) -> None:
    api.answers[f"PUT {HOME}/adapters/adcfg_1"] = (200, ADAPTER)

    types("adapter", "limit", "http_acme", "--per-second", "0", "--per-day", "1000")

    assert api.heard[-1][2] == {"prices": ADAPTER["prices"], "per_second": None, "per_day": 1000}


def test_weights_are_shown_and_set(api: PlayedApi, types: Types) -> None:
    api.answers[f"PUT {HOME}/weights/sms"] = (200, WEIGHTS)

    shown = types("adapter", "share", "sms")
    assert shown.out.splitlines() == [
        "sms (of the tenant): http_acme 70, http_b 30",
        "  +1     http_acme 0, http_b 100",
        "  +93    now http_acme 60, http_b 40, moved at 2026-11-15T12:00:00Z",
    ]
    assert "called in their order" in types("adapter", "share", "voice").out

    types("adapter", "share", "sms", "http_acme=50", "http_b=50")
    _, headers, body = next(one for one in reversed(api.heard) if one[0].startswith("PUT"))
    assert headers["if-match"] == '"v2"'
    assert body == {"home": {"http_acme": 50, "http_b": 50}, "by_prefix": WEIGHTS["by_prefix"]}
    types("adapter", "share", "sms", "--none")
    assert api.body_of(f"PUT {HOME}/weights/sms") == {"home": {}, "by_prefix": {}}


def test_a_share_for_a_vendor_that_the_channel_does_not_have_is_warned_of(
    api: PlayedApi, types: Types
) -> None:
    api.answers[f"PUT {HOME}/weights/sms"] = (200, WEIGHTS)
    api.answers["GET /api/v1/channels/sms"] = (200, {"vendor": "http_acme", "fallback_vendor": None})

    done = types("adapter", "share", "sms", "http_acme=50", "http_b=50", "--json")

    assert json.loads(done.out) == WEIGHTS
    assert (
        "http_b gets nothing yet, because sms is not set up with it; `tidings channel set sms --fallback http_b` does that"
        in done.err
    )
    assert "http_acme gets" not in done.err


def test_a_channel_that_there_is_not(api: PlayedApi, types: Types) -> None:
    done = types("adapter", "share", "pigeon")

    assert (done.code, api.heard) == (1, [])
    assert "CHANNEL must be one of email, sms" in done.err


def test_an_account_whose_messages_cost_nothing(api: PlayedApi, types: Types) -> None:
    free = {**ADAPTER, "prices": {"currency": "USD", "by_prefix": {"+93": {}}}}
    api.answers[f"GET {HOME}/adapters"] = (200, {"items": [free]})

    assert types("adapter", "list").out.endswith("  0 USD\n")
    assert "  price         0 USD\n    +93         as for all\n" in types("adapter", "show", "http_acme").out


def test_a_platform_key_without_a_tenant(api: PlayedApi, types: Types) -> None:
    errors = [
        {"field": "X-Tenant-Id", "remedy": "is required with a platform key: name the tenant to act for"}
    ]
    api.answers[f"GET {HOME}/adapters"] = (400, {"status": 400, "code": "invalid", "errors": errors})

    done = types("adapter", "list")

    assert done.code == 1
    assert "--tenant" in done.err
    assert "--platform" in done.err


INSIDE = "/internal/v1/router"


def test_an_account_of_the_platform_is_made(api: PlayedApi, types: Types) -> None:
    api.answers[f"POST {INSIDE}/adapters"] = (
        201,
        {**ADAPTER, "vendor": "smtp", "owner": "platform", "active": True},
    )

    done = types(
        "adapter", "add", "smtp", "--secret-ref", "file://smtp.json", "--per-second", "20", "--platform"
    )

    assert done.code == 0, done.err
    assert api.heard[-1][2] == {"vendor": "smtp", "secret_ref": "file://smtp.json", "per_second": 20}
    assert "tidings adapter check smtp --platform" in done.out


def test_where_the_platform_has_none_the_command_that_makes_one_is_named(
    api: PlayedApi, types: Types
) -> None:
    api.answers[f"GET {INSIDE}/adapters"] = (200, {"items": []})

    assert (
        "tidings adapter add VENDOR --secret-ref … --platform" in types("adapter", "list", "--platform").out
    )


@pytest.mark.parametrize(("command", "active"), [("disable", False), ("enable", True)])
def test_an_account_is_switched_off_and_on(api: PlayedApi, types: Types, command: str, active: bool) -> None:
    api.answers[f"PATCH {HOME}/adapters/adcfg_1"] = (200, {**ADAPTER, "active": active, "version": 5})

    done = types("adapter", command, "http_acme")

    assert done.code == 0, done.err
    asked, headers, body = api.heard[-1]
    assert asked.startswith("PATCH ")
    assert headers["if-match"] == '"v4"'
    assert body == {"active": active}
    assert ("switched off" in done.out) is not active


def test_a_change_says_what(api: PlayedApi, types: Types) -> None:
    api.answers[f"PATCH {HOME}/adapters/adcfg_1"] = (200, ADAPTER)

    nothing = types("adapter", "change", "http_acme")
    done = types("adapter", "change", "http_acme", "--secret-ref", "file://new.json")

    assert (nothing.code, nothing.err) == (1, "tidings: say what is different: --secret-ref, --handle\n")
    assert api.heard[-1][2] == {"secret_ref": "file://new.json"}
    assert done.code == 0, done.err
