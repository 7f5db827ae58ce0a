"""What commands of operations send: the version a change is made from, pages, keys, pairs and JSON; and what they refuse."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import AT, PlayedApi, Types
from tests.unit.cli.test_resource import LAYOUT
from tests.unit.cli.test_status_map import CODE, MAP

POLICIES = "/api/v1/router/policies"
MEANING = {"canonical": "bounced", "reason": "gone"}
POLICY: dict[str, Any] = {
    "id": "policy_1",
    "use_case": "otp",
    "strategy": "SEQUENTIAL",
    "order": "fixed",
    "ladder": [
        {"channel": "whatsapp", "deadline_seconds": 20},
        {"channel": "sms", "deadline_seconds": 30, "vendor": "http_acme"},
    ],
    "cost_cap_micros": None,
    "version": 3,
    "deleted_at": None,
    "grace_period_ends_at": "2026-12-15T13:00:00Z",
    "warnings": [{"field": "ladder[1].vendor", "code": "no_account", "text": "has no account yet"}],
}


@pytest.fixture(autouse=True)
def answers(api: PlayedApi) -> None:
    """There is one policy, one layout and one line of a status map; others can be made."""
    api.answers |= {
        f"GET {POLICIES}?use_case=otp": (200, {"items": [POLICY]}),
        f"GET {POLICIES}?use_case=txn": (200, {"items": []}),
        f"POST {POLICIES}": (201, POLICY),
        f"PUT {POLICIES}/policy_1": (200, POLICY),
        f"DELETE {POLICIES}/policy_1": (200, POLICY),
        f"POST {POLICIES}/policy_1/rollback": (200, POLICY),
        "GET /api/v1/layouts/plain": (200, LAYOUT),
        "PUT /api/v1/layouts/plain": (200, LAYOUT),
        "PUT /api/v1/layouts/new": (200, LAYOUT),
        f"GET {MAP}/http/30003": (200, CODE),
        f"PUT {MAP}/http/30003": (200, CODE),
        f"PUT {MAP}/http/5.1.1~x": (200, CODE),
        f"POST {MAP}/http/30003/revert": (200, CODE),
        f"DELETE {MAP}/http/30003": (200, {}),
    }


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        ("policy delete otp", (f"DELETE {POLICIES}/policy_1", '"v3"', None)),
        ("policy rollback otp 2", (f"POST {POLICIES}/policy_1/rollback", '"v3"', {"version": 2})),
        ("layout put plain --text x", ("PUT /api/v1/layouts/plain", '"v4"', {"text": "x"})),
        ("layout put plain --text x --if-match 3", ("PUT /api/v1/layouts/plain", '"v3"', {"text": "x"})),
        ("layout put new --text x", ("PUT /api/v1/layouts/new", None, {"text": "x"})),
        ("status-map set http 30003 --means bounced --reason gone", (f"PUT {MAP}/http/30003", '"v3"', MEANING)),
        ("status-map set http 5.1.1/x --means bounced --reason gone", (f"PUT {MAP}/http/5.1.1~x", None, MEANING)),
        ("status-map revert http 30003 --version 2", (f"POST {MAP}/http/30003/revert", '"v3"', {"version": 2})),
        ("status-map remove http 30003", (f"DELETE {MAP}/http/30003", '"v3"', None)),
    ],
)  # fmt: skip
def test_a_change_names_the_version_that_it_is_made_from(
    api: PlayedApi, types: Types, words: str, sent: tuple[str, str | None, object]
) -> None:
    done = types(*words.split())

    assert done.code == 0, done.err
    call, headers, body = api.heard[-1]
    assert (call, headers.get("if-match"), body) == sent


def test_pages_are_read_until_there_are_enough_lines(api: PlayedApi, types: Types) -> None:
    items = [{"id": f"rcp_{number}"} for number in range(3)]
    home = "/api/v1/recipients"
    api.answers[f"GET {home}?limit=3&tag=vip"] = (200, {"items": items[:2], "next_cursor": "x"})
    api.answers[f"GET {home}?cursor=x&limit=1&tag=vip"] = (200, {"items": items[2:], "next_cursor": "y"})

    assert types("recipient", "list", "--tag", "vip", "-n", "3").out.split() == ["rcp_0", "rcp_1", "rcp_2"]


def test_a_new_policy_may_be_sent_twice_and_its_warnings_are_whole(
    api: PlayedApi, types: Types, tmp_path: Path
) -> None:
    file = tmp_path / "txn.json"
    file.write_text(json.dumps({"use_case": "txn", "ladder": POLICY["ladder"]}))

    done = types("policy", "put", str(file))

    assert len(api.heard[-1][1]["idempotency-key"]) == 32
    assert "  warning: ladder[1].vendor has no account yet\n" in done.out


def test_a_plain_secret_is_sent_as_text(api: PlayedApi, types: Types, tmp_path: Path) -> None:
    shown = {"name": "mail", "ref": "sealed://mail", "version": 1, "used_by": [], "updated_at": AT}
    api.answers["PUT /api/v1/router/secrets/mail"] = (200, shown)
    (tmp_path / "password").write_text("swordfish\n")

    types("secret", "set", "mail", "--file", str(tmp_path / "password"))

    assert api.heard[-1][2] == {"value": "swordfish"}


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("category create stays", "--use-case"),
        ("adapter add smtp", "--secret-ref"),
        ("status-map set http 1 --means bounced", "--reason"),
        ("status-map revert http 1", "--version"),
        ("inbound-route add 12345 --secret-ref sealed://x", "--webhook"),
    ],
)
def test_a_required_option_that_is_missing_is_a_usage_error(
    api: PlayedApi, types: Types, words: str, option: str
) -> None:
    done = types(*words.split())

    assert (done.code, f"say {option} …, or name a file" in done.err) == (2, True)
    assert api.heard == []


def test_an_object_is_typed_as_pairs_only_where_its_values_are_texts(api: PlayedApi, types: Types) -> None:
    category = ("category", "create", "stays", "--use-case", "txn")
    made = {"category": "stays", "owner": "tenant", "use_case": "txn"}
    api.answers["POST /api/v1/categories"] = (201, made)

    types(*category, "--name", "en=Your stay", "--name", "de=Ihr Aufenthalt")
    pairs = api.heard[-1][2]["names"]
    types(*category, "--name", '{"en": "Your stay"}')
    as_json = api.heard[-1][2]["names"]
    heard = len(api.heard)
    both = types(*category, "--name", '{"en": "Your stay"}', "--name", "de=Ihr Aufenthalt")
    points = types("weights", "put", "sms", "--home", "http_acme=100")

    assert (pairs, as_json) == (
        {"en": "Your stay", "de": "Ihr Aufenthalt"},
        {"en": "Your stay"},
    )
    assert (both.code, "--name takes one JSON object, or NAME=VALUE several times" in both.err) == (1, True)
    assert (points.code, "--home must be JSON: http_acme=100" in points.err) == (1, True)
    assert len(api.heard) == heard
    assert "--home JSON" in types("weights", "put", "--help").out
    assert "--name NAME=VALUE" in types("category", "create", "--help").out


def test_a_change_without_any_says_an_example(types: Types) -> None:
    assert "say what is different, such as --name en='Stays'" in types("category", "change", "stays").err
    assert "say what is different, such as --colour '#1a2b3c'" in types("branding", "set").err


def test_help_says_what_is_not_in_the_document(types: Types) -> None:
    route, code = types("inbound-route", "change", "--help").out, types("status-map", "set", "--help").out
    imported = types("suppression", "import", "--help").out

    assert "--inbound" not in route
    assert "with a key of the platform" in " ".join(route.split())
    assert "The vendor's code, or its word." in code
    assert "SendGrid, Mailgun, Postmark or SES" in " ".join(imported.split())
    assert "Say what would happen; change nothing." in " ".join(imported.split())
    assert "The exit code is 1" in " ".join(types("inbound-route", "test", "--help").out.split())


def test_arguments_are_named_in_capitals(types: Types) -> None:
    assert "'NOTIFICATION'" in types("explain").err
    assert "'TO'" in types("send").err


def test_what_is_done_is_named_by_its_whole_path(api: PlayedApi, types: Types) -> None:
    api.answers["DELETE /api/v1/recipients/rcp_1/addresses/adr_1"] = (204, b"")

    assert types("recipient", "delete-address", "rcp_1", "adr_1").out == "rcp_1 adr_1: done\n"
