"""`tidings policy simulate`: what it asks, what it prints."""

from pathlib import Path
from typing import Any

from tests.unit.cli.conftest import PlayedApi, Types

HOME = "/api/v1/router/policies/simulate"
STEP: dict[str, Any] = {
    "vendor": None, "begins_at": None, "ends_at": None, "cost_micros": 0, "cost_currency": None, "reason": None,
    "chance": None,
}  # fmt: skip
FOUND: dict[str, Any] = {
    "would": "send",
    "reason": None,
    "until": None,
    "use_case": "otp",
    "by": "draft",
    "policy_id": None,
    "policy_version": None,
    "steps": [
        {**STEP, "step": 1, "channel": "whatsapp", "would": "skip", "reason": "no_\x1broute"},
        {**STEP, "step": 2, "channel": "sms", "would": "call", "vendor": "http", "cost_micros": 40_000,
         "cost_currency": "USD", "begins_at": "12:00:00.123456Z", "ends_at": "12:00:30Z", "chance": 0.5},
        {**STEP, "step": 3, "channel": "email", "would": "not_reached"},
    ],
    "if_nothing_answers": {"result": "FAILED", "reason": "not_in_time", "at": "12:00:30Z"},
    "currency": "USD",
    "cost_cap_micros": 100_000,
    "worst_case_micros": 80_000,
    "warnings": [{"field": "order", "text": "changes nothing here"}],
    "notes": ["Gates were asked as of now."],
}  # fmt: skip


def test_a_draft_is_rehearsed(api: PlayedApi, types: Types, tmp_path: Path) -> None:
    file = tmp_path / "otp.toml"
    file.write_text('use_case = "otp"\n[[ladder]]\nchannel = "sms"\ndeadline_seconds = 30\n')
    api.answers[f"POST {HOME}"] = (200, FOUND)

    told = types("policy", "simulate", "+93700123456", "code", "--var", "code=1234", "--policy", str(file))

    assert told.code == 0, told.err
    body = api.body_of(f"POST {HOME}")
    assert body["recipient"]["addresses"] == [{"channel": "sms", "address": "+93700123456"}]
    assert (body["template"], body["variables"], body["use_case"]) == ("code", {"code": "1234"}, "otp")
    assert body["policy"]["ladder"] == [{"channel": "sms", "deadline_seconds": 30}]
    assert told.out.splitlines() == [
        "otp by the draft: it would go out now",
        "  1. whatsapp: skipped (no_?route)",
        "  2. sms: http from 12:00:00Z to 12:00:30Z, 0.04 USD a call, arrives with a chance of 0.50",
        "  3. email: not reached",
        "  if nothing answers: FAILED (not_in_time) 12:00:30Z",
        "  at most 0.08 USD; the cap is 0.1 USD",
        "  warning: order changes nothing here",
        "  Gates were asked as of now.",
    ]


def test_by_the_policy_in_force(api: PlayedApi, types: Types) -> None:
    """Nothing is sent along that was not typed."""
    waits = {
        "would": "defer",
        "until": "07:00",
        "reason": "quiet_hours",
        "by": "policy",
        "policy_id": "policy_1",
    }
    api.answers[f"POST {HOME}"] = (200, {**FOUND, **waits, "policy_version": 2})

    told = types("policy", "simulate", "rcp_1", "code")

    assert api.body_of(f"POST {HOME}") == {"recipient": "rcp_1", "template": "code", "variables": {}}
    assert told.out.startswith("otp by policy_1 v2: it would wait until 07:00 (quiet_hours)\n")


def test_where_no_step_can_be_taken_it_does_not_say_that_it_goes_out(api: PlayedApi, types: Types) -> None:
    skipped = {**STEP, "step": 1, "channel": "sms", "would": "skip", "reason": "no_address"}
    end = {"result": "REFUSED_NO_CHANNEL", "reason": "no_address", "at": "12:00:00Z"}
    api.answers[f"POST {HOME}"] = (200, {**FOUND, "steps": [skipped], "if_nothing_answers": end})

    told = types("policy", "simulate", "rcp_1", "code")

    assert told.out.startswith("otp by the draft: it would reach nobody (no_address)\n")


def test_without_a_policy_the_price_has_its_own_currency(api: PlayedApi, types: Types) -> None:
    step = {
        **STEP, "step": 1, "channel": "sms", "would": "call", "vendor": "http", "cost_micros": 10,
        "cost_currency": "EUR", "begins_at": "12:00:00Z", "ends_at": "12:00:30Z",
    }  # fmt: skip
    api.answers[f"POST {HOME}"] = (200, {**FOUND, "by": "none", "currency": None, "steps": [step]})

    assert ", 0.00001 EUR a call" in types("policy", "simulate", "rcp_1", "code").out


def test_somebody_who_is_no_address_is_not_sent_to_another_option(api: PlayedApi, types: Types) -> None:
    done = types("policy", "simulate", "nobody", "code")

    assert (done.code, api.heard) == (1, [])
    assert "nobody is no recipient's id (rcp_…), mail address or number such as +93700123456" in done.err
    assert "--channel" not in done.err
