"""`tidings status-map`: what is typed, stored and printed."""

import json
from typing import Any

from tests.support.cli import Types

_SET = ("status-map", "set", "http", "30003")


def shown(types: Types, *words: str) -> dict[str, Any]:
    """The line of a code as programs see it."""
    found: dict[str, Any] = json.loads(types("status-map", "show", *words, "--json").out)
    return found


def test_lines_are_listed_page_after_page(types: Types) -> None:
    """There are more lines of the platform's own than a page has."""
    types(*_SET, "--means", "failed_temp", "--reason", "busy")
    listed = types("status-map", "list").out.splitlines()
    own = [line.split() for line in types("status-map", "list", "--adapter", "http").out.splitlines()]

    assert len(listed) > 200
    assert ["*", "http", "30003", "failed_temp", "busy"] in own
    assert len(own) < len(listed)


def test_a_change_is_made_from_the_version_of_the_callers_own_line(types: Types) -> None:
    first = types(*_SET, "--means", "bounced", "--reason", "gone")
    second = types(*_SET, "--means", "failed_temp", "--reason", "busy")
    reverted = types("status-map", "revert", "http", "30003", "--version", "1")
    after = shown(types, "http", "30003")
    removed = types("status-map", "remove", "http", "30003")

    assert "your own" in first.out
    assert "failed_temp, busy (version 2)" in second.out
    assert reverted.code == 0, reverted.err
    assert (after["tenant"]["canonical"], after["tenant"]["version"]) == ("bounced", 3)
    assert (removed.code, removed.out) == (0, "http/30003 is removed\n")
    assert "there is no line of your own" in types("status-map", "remove", "http", "30003").err


def test_a_code_may_have_a_slash(types: Types) -> None:
    said = types("status-map", "set", "http", "5.1.1/x", "--means", "bounced", "--reason", "gone")

    assert said.code == 0, said.err
    assert shown(types, "http", "5.1.1/x")["code"] == "5.1.1/x"


def test_a_code_without_a_line_can_be_given_one(types: Types) -> None:
    done = types("status-map", "show", "twilio", "39999")

    assert done.code == 1
    assert "`tidings status-map set twilio 39999 --means … --reason …` says it" in done.err
