"""`tidings status-map`, `tidings spend` and `tidings adapter check`: what they ask, what they print."""

from typing import Any

import pytest

from tests.unit.cli.conftest import PlayedApi, Types

HOME = "/api/v1/router"
MAP = f"{HOME}/status-map"
THEIRS = {
    "canonical": "failed_perm",
    "reason": "invalid_address",
    "version": 1,
    "updated_at": "2026-11-15T12:00:00.5Z",
    "updated_by": "seed",
}
MINE = {**THEIRS, "canonical": "failed_temp", "reason": "busy", "version": 3, "updated_by": "key_1"}
CODE: dict[str, Any] = {
    "adapter": "http",
    "code": "30003",
    "counts": "tenant",
    "tenant": MINE,
    "platform": THEIRS,
    "history": [
        {
            "version": 2,
            "canonical": "bounced",
            "reason": "gone",
            "until": "2026-11-15T12:00:00.5Z",
            "by": "key_1",
        }
    ],
}


def test_receipts_are_told_until_there_are_no_more(api: PlayedApi, types: Types) -> None:
    goes = iter([{"reapplied": 5000, "more": True}, {"reapplied": 12, "more": False}])
    api.read = lambda call: _next(api, call, goes)
    api.answers[f"POST {MAP}/http/1/reapply?dry_run=true"] = (200, {"reapplied": 5000, "more": True})

    dry = types("status-map", "reapply", "http", "1", "--dry-run")
    done = types("status-map", "reapply", "http", "1")

    assert dry.out == "5000 receipts and more would be applied again\n"
    assert done.out == "5012 receipts applied again\n"


def _next(api: PlayedApi, call: str, goes: Any) -> str:
    if call == f"POST {MAP}/http/1/reapply":
        api.answers[call] = (200, next(goes))
    return call


def test_unknown_codes(api: PlayedApi, types: Types) -> None:
    one = {
        "vendor": "http_acme",
        "adapter": "http",
        "code": "E-9",
        "count": 17,
        "tenants": None,
        "first_seen": "2026-11-15T12:00:00Z",
        "last_seen": "2026-11-15T12:00:00.123Z",
        "means": None,
    }
    api.answers[f"GET {MAP}/unknown"] = (200, {"items": [one]})

    line, _, *hint = types("status-map", "unknown").out.splitlines()

    assert line.split() == [
        "http_acme", "E-9", "17", "last", "2026-11-15T12:00:00Z", "means", "nothing", "yet",
    ]  # fmt: skip
    assert "`tidings status-map set http_acme E-9 --means" in hint[0]
    assert "`tidings status-map reapply http_acme E-9`" in hint[1]


SPEND: dict[str, Any] = {
    "since": "2026-11-14",
    "until": "2026-11-15",
    "by": "vendor",
    "items": [
        {
            "part": "http",
            "currency": "USD",
            "messages": 10,
            "estimated_micros": 75000,
            "real_micros": 50000,
            "corrected": 9,
        },
        {
            "part": "twilio",
            "currency": "USD",
            "messages": 3,
            "estimated_micros": 100000,
            "real_micros": 100000,
            "corrected": 0,
        },
    ],
    "totals": [
        {
            "currency": "USD",
            "messages": 13,
            "estimated_micros": 175000,
            "real_micros": 150000,
            "corrected": 9,
        }
    ],
    "converted": {"currency": "USD", "estimated_micros": 175000, "real_micros": 150000},
    "unpriced": {"messages": 25, "more": False, "items": [{"part": "smtp", "messages": 25}]},
}


def test_what_was_spent_with_a_bar_for_each_part(api: PlayedApi, types: Types) -> None:
    api.answers[f"GET {HOME}/spend?by=vendor&since=2026-11-14"] = (200, SPEND)

    printed = types("spend", "--by", "vendor", "--since", "2026-11-14")

    assert printed.out.splitlines() == [
        "from 2026-11-14 to 2026-11-15, by vendor",
        "vendor  priced messages  estimated   charged  confirmed",
        f"http                 10  0.075 USD  0.05 USD          9  {'█' * 15}",
        f"twilio                3    0.1 USD   0.1 USD          0  {'█' * 30}",
        "",
        "in all: 0.15 USD charged (0.175 USD estimated) for 13 priced messages",
        "without a price: 25 messages (smtp 25); `tidings adapter price` gives an account its prices",
        "",
        "charged: what vendors said they take; the estimate where they said nothing",
        "confirmed: for how many messages the vendor has said its price",
    ]


def test_messages_without_a_price_are_counted_where_nothing_was_spent(api: PlayedApi, types: Types) -> None:
    unpriced = {"messages": 100000, "more": True, "items": [{"part": "smtp", "messages": 100000}]}
    empty = {**SPEND, "items": [], "totals": [], "unpriced": unpriced}
    api.answers[f"GET {HOME}/spend?by=vendor"] = (200, empty)

    assert types("spend", "--by", "vendor").out.splitlines()[1:] == [
        "no message had a price",
        "without a price: 100000 or more messages (smtp 100000); `tidings adapter price` gives an account its prices",
    ]


def test_a_code_without_a_line_is_explained_where_we_know_it(types: Types, api: PlayedApi) -> None:
    """What `explain` points at is never a dead end."""
    missing = {"status": 404, "code": "status_line_not_found", "detail": "Nobody has said what it means."}
    for code in ("4.7.1", "E-99"):
        api.answers[f"GET {HOME}/status-map/smtp/{code}"] = (404, missing)

    known, unknown = types("status-map", "show", "smtp", "4.7.1"), types("status-map", "show", "smtp", "E-99")

    assert (known.code, known.out.splitlines()[0]) == (
        0,
        "smtp/4.7.1: the server holds it back by its rules for now (greylisting or rate limit)",
    )
    assert (unknown.code, "`tidings status-map set smtp E-99" in unknown.err) == (1, True)


@pytest.mark.parametrize("option", ["--since", "--until"])
def test_a_day_that_is_none(types: Types, option: str) -> None:
    printed = types("spend", option, "yesterday")

    assert printed.code == 1
    assert f"{option} must be a day" in printed.err


@pytest.mark.parametrize("works", [True, False])
def test_a_look_says_what_to_do(api: PlayedApi, types: Types, works: bool) -> None:
    api.answers[f"GET {HOME}/adapters"] = (200, {"items": [{"id": "adcfg_1", "vendor": "http_acme"}]})
    step = {
        "name": "credentials",
        "result": "ok" if works else "failed",
        "words": "the vendor's answer",
        "next": None if works else "replace the secret",
        "code": None if works else "401",
    }
    told = {"account_id": "adcfg_1", "vendor": "http_acme", "ok": works, "steps": [step]}
    api.answers[f"POST {HOME}/adapters/adcfg_1/check"] = (200, told)

    printed = types("adapter", "check", "http_acme", "--dry-call", "--to", "+93700000001")

    assert printed.code == (0 if works else 1)
    assert ("→ replace the secret" in printed.out) is not works
    assert api.heard[-1][2] == {"dry_call": True, "to": "+93700000001"}


KINDS: list[dict[str, Any]] = [
    {
        "name": "acme",
        "title": "Acme",
        "channels": ["sms", "voice"],
        "capabilities": {"html": False, "receipts": None, "inbound": True},
        "required_fields": ["account", "token"],
        "credential_fields": ["token"],
        "prices": ["segment"],
        "callbacks": True,
        "proof": "X-Acme-Signature",
        "statuses": 1,
    },
    {
        "name": "pushy_one",
        "title": "Pushy (browsers)",
        "channels": ["push"],
        "capabilities": {"html": False, "receipts": False, "inbound": False},
        "required_fields": ["private_key"],
        "credential_fields": ["private_key"],
        "prices": ["message"],
        "callbacks": False,
        "proof": None,
        "statuses": 12,
    },
]


def test_kinds_stand_below_each_other_and_one_is_told_in_full(api: PlayedApi, types: Types) -> None:
    api.answers[f"GET {HOME}/adapters/kinds"] = (200, {"items": KINDS})

    assert types("adapter", "kinds").out.splitlines() == [
        "acme       Acme              sms, voice",
        "pushy_one  Pushy (browsers)  push",
    ]
    assert types("adapter", "kinds", "acme").out.splitlines() == [
        "acme: Acme",
        "  channels      sms, voice",
        "  can           inbound; receipts if its settings say so",
        "  priced by     segment",
        "  needs         account, token",
        "  secrets       token",
        "  callbacks     proven by X-Acme-Signature",
        "  status map    1 code with a meaning (`tidings status-map list --adapter acme`)",
        "  set up with   `tidings channel set sms --vendor acme --account acme=file://acme.json`",
    ]
    assert "  callbacks     none" in types("adapter", "kinds", "pushy_one").out
    unknown = types("adapter", "kinds", "acne")
    assert unknown.code == 1
    assert "there is acme, pushy_one" in unknown.err
