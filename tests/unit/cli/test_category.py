"""`tidings category`: what is typed, asked and printed."""

from typing import Any

from tests.unit.cli.conftest import PlayedApi, Types

STAYS: dict[str, Any] = {
    "category": "stays",
    "owner": "tenant",
    "use_case": "txn",
    "names": {"en": "Your stay"},
    "can_unsubscribe": True,
    "position": 1,
    "version": 3,
}


def test_the_list_has_a_line_for_each(api: PlayedApi, types: Types) -> None:
    api.answers = {"GET /api/v1/categories": (200, {"items": [STAYS]})}

    assert types("category", "list").out == "stays  tenant  txn  can unsubscribe  en=Your stay\n"


def test_one_is_made_with_names_and_policy(api: PlayedApi, types: Types) -> None:
    api.answers = {"POST /api/v1/categories": (201, STAYS)}
    printed = types(
        "category", "create", "stays", "--use-case", "txn", "--name", "en=Your stay", "--no-unsubscribe"
    )

    assert printed.code == 0, printed.err
    assert api.body_of("POST /api/v1/categories") == {
        "category": "stays",
        "use_case": "txn",
        "names": {"en": "Your stay"},
        "can_unsubscribe": False,
    }
    assert (
        "must be a language and a name"
        in types("category", "create", "x_y", "--use-case", "txn", "--name", "Stay").err
    )


def test_hiding_changes_the_version_that_was_read(api: PlayedApi, types: Types) -> None:
    api.answers = {
        "GET /api/v1/categories/stays": (200, STAYS),
        "PATCH /api/v1/categories/stays": (
            200,
            {**STAYS, "hidden": True, "warnings": ["look at welcome/email"]},
        ),
    }
    printed = types("category", "hide", "stays")
    [carried] = [headers for call, headers, _ in api.heard if call.startswith("PATCH")]

    assert api.body_of("PATCH /api/v1/categories/stays") == {"hidden": True}
    assert carried["if-match"] == '"v3"'
    assert "hidden" in printed.out
    assert "warning: look at welcome/email" in printed.out


def test_a_change_says_what_changes(api: PlayedApi, types: Types) -> None:
    assert "say what is different" in types("category", "change", "stays").err
    assert not api.heard
