"""A policy goes through the form of the editor and comes back as it was."""

from typing import Any

from tidings.backoffice.console.policies.draft import faults_of, fields_of, rearranged, terms_of
from tidings.backoffice.console.policies.picture import bars_of, lasting

POLICY: dict[str, Any] = {
    "use_case": "otp",
    "strategy": "SEQUENTIAL",
    "order": "learned",
    "value_of_a_second": 1000,
    "cost_cap_micros": 150_000,
    "cost_cap_currency": "USD",
    "session_ttl_seconds": 86_400,
    "stop_keywords": ["STOP", "no more"],
    "description": "Codes",
    "ladder": [
        {"channel": "whatsapp", "deadline_seconds": 20, "conditions": {"online": False, "min_score": 0.5}},
        {
            "channel": "sms",
            "deadline_seconds": 30,
            "vendor": "http_acme",
            "retry_budget": 0,
            "call_seconds": 2.5,
            "success": "sent",
            "conditions": {
                "prefixes": ["+93", "+49"],
                "priorities": ["critical"],
                "reachable": "known_yes",
                "hours": {"start": "08:00", "end": "20:00", "timezone": "Asia/Kabul"},
            },
        },
    ],
}


def test_nothing_is_lost_on_the_way() -> None:
    back = terms_of(fields_of(POLICY))

    wanted = {key: value for key, value in POLICY.items() if key != "use_case"}
    wanted["ladder"] = [
        {"retry_budget": 2, "success": "delivered", **POLICY["ladder"][0]},
        POLICY["ladder"][1],
    ]
    assert back == wanted


def test_steps_move_and_stay_whole() -> None:
    fields = fields_of(POLICY)
    down, moved = rearranged(fields, "down-0")
    assert moved == 1
    assert terms_of(down)["ladder"] == list(reversed(terms_of(fields)["ladder"]))
    assert rearranged(down, "up-1") == (fields, 0)
    for nonsense in ("up-0", "down-1", "down-9", "remove-x", "", "up--1"):
        assert terms_of(rearranged(fields, nonsense)[0]) == terms_of(fields)


def test_a_fault_of_the_api_finds_its_field() -> None:
    told = {"ladder[1].conditions.hours.start": "a", "policy.ladder[0].vendor": "b", "ladder": "c"}
    assert faults_of(told) == {"s1.from": "a", "s0.vendor": "b", "ladder": "c"}


def test_a_race_begins_all_at_once() -> None:
    fields = fields_of(POLICY)
    assert [tuple(bar) for bar in bars_of(fields)] == [(0, 20), (20, 30)]
    assert [tuple(bar) for bar in bars_of({**fields, "strategy": "PARALLEL"})] == [(0, 20), (0, 30)]
    assert [lasting(seconds) for seconds in (0, 59, 3700, 90_000)] == ["0s", "59s", "1h 1min", "1d 1h"]
