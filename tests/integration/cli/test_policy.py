"""`tidings policy`: what is typed, stored and printed."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Printed, Types

OTP: dict[str, Any] = {
    "use_case": "otp",
    "ladder": [
        {"channel": "whatsapp", "deadline_seconds": 20, "conditions": {"reachable": "not_known_no"}},
        {"channel": "sms", "deadline_seconds": 30, "vendor": "http_acme", "retry_budget": 1,
         "conditions": {"prefixes": ["+93"], "hours": {"start": "08:00", "end": "22:00", "timezone": "Asia/Kabul"}}},
    ],
    "cost_cap_micros": 150_000,
    "description": "Codes",
}  # fmt: skip


@pytest.fixture
def put(types: Types, tmp_path: Path) -> Any:
    """Puts a policy from a file, with these changes."""

    def put(**changes: Any) -> Printed:
        file = tmp_path / "policy.json"
        file.write_text(json.dumps({**OTP, **changes}))
        done = types("policy", "put", str(file))
        assert done.code == 0, done.err
        return done

    return put


def shown(types: Types) -> dict[str, Any]:
    """The policy as programs see it."""
    found: dict[str, Any] = json.loads(types("policy", "show", "otp", "--json").out)
    return found


def test_list_and_show(types: Types, put: Any) -> None:
    put()
    policy_id = shown(types)["id"]
    told = types("policy", "show", "otp").out

    assert types("policy", "list").out == (
        f"otp            SEQUENTIAL  v1    {policy_id}  whatsapp > sms/http_acme\n"
    )
    assert told == types("policy", "show", policy_id).out
    assert "  Codes" in told
    assert "  1. whatsapp: until delivered, 20 s, 2 retries, unless known to be unreachable" in told
    assert "sms/http_acme: until delivered, 30 s, 1 retry, to +93" in told
    assert "to +93, from 08:00 to 22:00 (Asia/Kabul)" in told
    assert "  order fixed, at most 0.15 USD" in told
    assert "  warning: ladder[1]" in told


def test_put_makes_a_policy_where_there_is_none(types: Types, tmp_path: Path) -> None:
    """From TOML."""
    file = tmp_path / "txn.toml"
    file.write_text('use_case = "txn"\n[[ladder]]\nchannel = "sms"\ndeadline_seconds = 60\n')

    assert types("policy", "put", str(file)).code == 0
    assert "txn" in types("policy", "list").out


def test_put_changes_the_one_in_force_and_reads_what_show_printed(
    types: Types, put: Any, tmp_path: Path
) -> None:
    put()
    file = tmp_path / "otp.json"
    file.write_text(types("policy", "show", "otp", "--json").out)

    assert types("policy", "put", str(file)).out.startswith("nothing differs\n")
    put(order="learned")
    assert (shown(types)["version"], shown(types)["order"]) == (2, "learned")


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


def test_delete_and_restore_by_use_case(types: Types, put: Any) -> None:
    put()

    gone = types("policy", "delete", "otp")
    nothing = types("policy", "list").out
    back = types("policy", "restore", "otp")

    assert "`tidings policy restore` works until 20" in gone.out
    assert "there is no policy" in nothing
    assert back.code == 0, back.err
    assert "otp" in types("policy", "list").out


def test_versions(types: Types, put: Any) -> None:
    put()
    put(order="learned")
    types("policy", "delete", "otp")

    told = types("policy", "versions", "otp").out.splitlines()

    assert [line.split()[0] for line in told] == ["v3", "v2", "v1"]
    assert told[0].endswith("  deleted")
    assert told[1].endswith("  whatsapp > sms/http_acme")


def test_diff_of_versions(types: Types, put: Any) -> None:
    put(order="learned")
    only = types("policy", "diff", "otp")
    put()

    told, same = types("policy", "diff", "otp"), types("policy", "diff", "otp", "--from", "2", "--to", "2")

    assert (only.code, only.out, "there is only version 1" in only.err) == (0, "", True)
    assert (told.code, same.code) == (1, 0)
    assert '-  "order": "learned",' in told.out
    assert '+  "order": "fixed",' in told.out
    assert same.out == ""
    assert same.err == "nothing differs between v2 and v2\n"


def test_diff_with_a_file_that_leaves_defaults_out(types: Types, put: Any, tmp_path: Path) -> None:
    put()
    file = tmp_path / "otp.json"
    file.write_text(json.dumps(OTP))

    same = types("policy", "diff", "otp", "--file", str(file))
    file.write_text(json.dumps({**OTP, "cost_cap_micros": 1}))
    other = types("policy", "diff", "otp", "--file", str(file))

    assert (same.code, same.out) == (0, "")
    assert other.code == 1
    assert '+  "cost_cap_micros": 1,' in other.out


def test_rollback(types: Types, put: Any) -> None:
    put()
    put(order="learned")

    done, again = types("policy", "rollback", "otp", "1"), types("policy", "rollback", "otp", "1")

    assert (shown(types)["version"], shown(types)["order"]) == (3, "fixed")
    assert "nothing differs" not in done.out
    assert again.out.startswith("nothing differs: it says already what v1 said\n")


def test_a_use_case_without_a_policy(types: Types) -> None:
    done = types("policy", "show", "alert")

    assert (done.code, "there is no policy for alert" in done.err) == (1, True)
