"""`tidings policy`: what it asks, what it prints."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import PlayedApi, Types

HOME = "/api/v1/router/policies"
OTP: dict[str, Any] = {
    "id": "policy_1",
    "use_case": "otp",
    "strategy": "SEQUENTIAL",
    "order": "fixed",
    "ladder": [
        {"channel": "whatsapp", "deadline_seconds": 20, "conditions": {"reachable": "not_known_no"}},
        {"channel": "sms", "deadline_seconds": 30, "vendor": "http_acme", "retry_budget": 1,
         "conditions": {"prefixes": ["+93"], "hours": {"start": "08:00", "end": "22:00", "timezone": "Asia/Kabul"}}},
    ],
    "cost_cap_micros": 150_000,
    "cost_cap_currency": "USD",
    "session_ttl_seconds": 86_400,
    "stop_keywords": [],
    "description": "Co\x1bdes",
    "version": 3,
    "created_at": "2026-11-15T12:00:00Z",
    "updated_at": "2026-11-15T12:00:00Z",
    "deleted_at": None,
    "grace_period_ends_at": None,
    "warnings": [{"field": "ladder[1].vendor", "code": "no_account", "text": "has no account yet"}],
}  # fmt: skip
GONE = {**OTP, "deleted_at": "2026-11-15T13:00:00Z", "grace_period_ends_at": "2026-12-15T13:00:00Z"}


@pytest.fixture(autouse=True)
def listed(api: PlayedApi) -> None:
    """One policy is in force."""
    api.answers[f"GET {HOME}?limit=200"] = api.answers[f"GET {HOME}?use_case=otp"] = (200, {"items": [OTP]})


def test_list_and_show(types: Types) -> None:
    listed, shown = types("policy", "list"), types("policy", "show", "otp")

    assert listed.out == "otp            SEQUENTIAL  v3    policy_1  whatsapp > sms/http_acme\n"
    assert "  Co?des" in shown.out
    assert "  1. whatsapp: until delivered, 20 s, 2 retries, unless known to be unreachable" in shown.out
    assert "sms/http_acme: until delivered, 30 s, 1 retry, to +93" in shown.out
    assert "to +93, from 08:00 to 22:00 (Asia/Kabul)" in shown.out
    assert "  order fixed, at most 0.15 USD" in shown.out
    assert "  warning: ladder[1].vendor has no account yet" in shown.out
    assert json.loads(types("policy", "show", "otp", "--json").out) == OTP


def test_put_makes_a_policy_where_there_is_none(api: PlayedApi, types: Types, tmp_path: Path) -> None:
    """From TOML; the request may be repeated safely."""
    file = tmp_path / "txn.toml"
    file.write_text('use_case = "txn"\n[[ladder]]\nchannel = "sms"\ndeadline_seconds = 60\n')
    api.answers[f"GET {HOME}?use_case=txn"] = (200, {"items": []})
    api.answers[f"POST {HOME}"] = (201, {**OTP, "use_case": "txn"})

    done = types("policy", "put", str(file))

    assert done.code == 0, done.err
    call, headers, body = api.heard[-1]
    assert call == f"POST {HOME}"
    assert body == {"use_case": "txn", "ladder": [{"channel": "sms", "deadline_seconds": 60}]}
    assert len(headers["idempotency-key"]) == 32


def test_put_changes_the_one_in_force_and_reads_what_show_printed(
    api: PlayedApi, types: Types, tmp_path: Path
) -> None:
    file = tmp_path / "otp.json"
    file.write_text(types("policy", "show", "otp", "--json").out)
    api.answers[f"PUT {HOME}/policy_1"] = (200, OTP)

    done = types("policy", "put", str(file))

    _, headers, body = api.heard[-1]
    assert headers["if-match"] == '"v3"'
    assert body["ladder"] == OTP["ladder"]
    assert not {"id", "version", "warnings", "created_at"} & set(body)
    assert done.out.startswith("nothing differs\n")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", "{", "is not valid JSON (name the file .toml if it is TOML)"),
        ("a.toml", "= 1", "is not valid TOML"),
        ("a.json", "[]", "must hold one policy"),
        ("a.json", '{"ladder": []}', "the file must name its use_case"),
    ],
)
def test_a_file_that_is_no_policy(types: Types, tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)

    done = types("policy", "put", str(tmp_path / name))

    assert done.code == 1
    assert said in done.err


def test_delete_and_restore_by_use_case(api: PlayedApi, types: Types) -> None:
    api.answers[f"GET {HOME}?use_case=otp&deleted=true"] = (200, {"items": [GONE]})
    api.answers[f"DELETE {HOME}/policy_1"] = (200, GONE)
    api.answers[f"POST {HOME}/policy_1/restore"] = (200, OTP)

    gone = types("policy", "delete", "otp")
    asked = api.heard[-1]
    back = types("policy", "restore", "otp")

    assert "`tidings policy restore` works until 2026-12-15T13:00:00Z" in gone.out
    assert asked[1]["if-match"] == '"v3"'
    assert back.code == 0, back.err


def test_versions_of_all_pages(api: PlayedApi, types: Types) -> None:
    api.answers[f"GET {HOME}/policy_1"] = (200, OTP)
    kept = {"changed_at": "2026-11-15T12:00:00Z", "changed_by": "key_1"}
    api.answers[f"GET {HOME}/policy_1/versions?limit=200"] = (
        200,
        {"items": [{**kept, "version": 3, "policy": GONE}], "next_cursor": "more"},
    )
    api.answers[f"GET {HOME}/policy_1/versions?cursor=more&limit=200"] = (
        200,
        {"items": [{**kept, "version": 2, "policy": OTP}], "next_cursor": None},
    )

    told = types("policy", "versions", "policy_1")

    assert told.out.splitlines() == [
        "v3    2026-11-15T12:00:00Z  key_1  deleted",
        "v2    2026-11-15T12:00:00Z  key_1  whatsapp > sms/http_acme",
    ]


def test_diff_of_versions(api: PlayedApi, types: Types) -> None:
    api.answers[f"GET {HOME}/policy_1"] = (200, OTP)
    api.answers[f"GET {HOME}/policy_1/versions/2"] = (200, {"policy": {**OTP, "order": "learned"}})
    api.answers[f"GET {HOME}/policy_1/versions/3"] = (200, {"policy": OTP})

    told, same = (
        types("policy", "diff", "policy_1"),
        types("policy", "diff", "policy_1", "--from", "3", "--to", "3"),
    )

    assert (told.code, same.code) == (1, 0)
    assert '-  "order": "learned",' in told.out
    assert '+  "order": "fixed",' in told.out
    assert same.out == ""
    assert same.err == "nothing differs between v3 and v3\n"


def test_diff_where_there_is_nothing_to_compare_with(api: PlayedApi, types: Types) -> None:
    api.answers[f"GET {HOME}/policy_1"] = (200, {**OTP, "version": 1})
    api.answers[f"GET {HOME}/policy_1/versions/1"] = (200, {"policy": OTP})

    told = types("policy", "diff", "policy_1")

    assert (told.code, told.out) == (0, "")
    assert "there is only version 1" in told.err


def test_diff_with_a_file_that_leaves_defaults_out(api: PlayedApi, types: Types, tmp_path: Path) -> None:
    file = tmp_path / "otp.json"
    plain = {name: OTP[name] for name in ("use_case", "ladder", "cost_cap_micros", "description")}
    file.write_text(json.dumps(plain))
    api.answers[f"GET {HOME}?use_case=otp&deleted=true"] = (200, {"items": [OTP]})

    same = types("policy", "diff", "otp", "--file", str(file))
    file.write_text(json.dumps({**plain, "cost_cap_micros": 1}))
    other = types("policy", "diff", "otp", "--file", str(file))

    assert (same.code, same.out) == (0, "")
    assert other.code == 1
    assert '+  "cost_cap_micros": 1,' in other.out


def test_rollback_names_the_version_it_is_made_from(api: PlayedApi, types: Types) -> None:
    api.answers[f"POST {HOME}/policy_1/rollback"] = (200, {**OTP, "version": 4})

    done = types("policy", "rollback", "otp", "2")

    _, headers, body = api.heard[-1]
    assert (body, headers["if-match"]) == ({"version": 2}, '"v3"')
    assert "v4" in done.out
    assert "nothing differs" not in done.out


def test_rollback_to_what_it_says_already(api: PlayedApi, types: Types) -> None:
    api.answers[f"POST {HOME}/policy_1/rollback"] = (200, OTP)

    done = types("policy", "rollback", "otp", "2")

    assert done.out.startswith("nothing differs: it says already what v2 said\n")


def test_a_use_case_without_a_policy(api: PlayedApi, types: Types) -> None:
    api.answers[f"GET {HOME}?use_case=alert"] = (200, {"items": []})

    done = types("policy", "show", "alert")

    assert (done.code, "there is no policy for alert" in done.err) == (1, True)
