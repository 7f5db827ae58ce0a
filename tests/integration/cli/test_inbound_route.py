"""`tidings inbound-route`: what is typed, stored and printed."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import ServedApi, Types

_HOOK = ("--webhook", "https://hooks.example/mo", "--secret-ref", "sealed://inbound")


@pytest.fixture(autouse=True)
def secret(types: Types, tmp_path: Path) -> None:
    """What calls are signed with."""
    (tmp_path / "secret").write_text("a-secret-of-some-length-that-signs\n")
    assert types("secret", "set", "inbound", "--file", str(tmp_path / "secret")).code == 0


def routes(types: Types, *words: str) -> list[dict[str, Any]]:
    """The routes as programs see them."""
    found: list[dict[str, Any]] = json.loads(types("inbound-route", "list", *words, "--json").out)
    return found


def test_a_route_is_added_removed_and_restored(types: Types) -> None:
    nothing = types("inbound-route", "list").out
    added = types("inbound-route", "add", "12345", *_HOOK)
    listed = types("inbound-route", "list").out
    removed = types("inbound-route", "remove", "12345", "--grace-seconds", "60")
    restored = types("inbound-route", "restore", "12345")

    assert nothing.startswith("there is none; what people write is kept in conversations")
    assert added.code == 0, added.err
    assert "`tidings inbound-route test 12345`" in added.out
    assert listed.split()[1:] == ["12345", "v1", "https://hooks.example/mo"]
    assert "; `tidings inbound-route restore 12345` brings it back" in removed.out
    assert (restored.code, "removed" in restored.out) == (0, False)


def test_a_route_is_found_by_its_number_and_keeps_what_is_not_named(api: ServedApi, types: Types) -> None:
    types("inbound-route", "add", "12345", *_HOOK)
    before = len(api.answered)
    nothing = types("inbound-route", "change", "12345")
    asked = len(api.answered) - before
    said = types("inbound-route", "change", "12345", "--webhook", "https://b.example/")

    assert (nothing.code, asked) == (1, 0)
    assert "say what is different: --webhook, --secret-ref" in nothing.err
    assert "https://b.example/" in said.out
    [route] = routes(types)
    assert (route["webhook_url"], route["secret_ref"], route["version"]) == (
        "https://b.example/",
        "sealed://inbound",
        2,
    )
    assert "there is no route for 999" in types("inbound-route", "show", "999").err


def test_an_operator_gives_a_tenant_a_shared_number(types: Types, tenant_id: str) -> None:
    types("inbound-route", "add", "12345", *_HOOK)
    said = types("inbound-route", "change", "12345", "--platform", "--tenant", tenant_id)

    assert "(shared accounts too)" in said.out, said.err
    assert [route["platform"] for route in routes(types)] == [True]
