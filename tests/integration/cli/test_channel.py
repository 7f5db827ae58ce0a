"""`tidings channel`: what is typed, stored and printed."""

import json
from pathlib import Path

from tests.support.cli import Types


def test_set_makes_a_channel_then_changes_what_is_named_and_keeps_the_rest(
    types: Types, tmp_path: Path
) -> None:
    (tmp_path / "smtp.json").write_text('{"host": "mx.test", "username": "us", "password": "swordfish"}')
    types("secret", "set", "smtp", "--file", str(tmp_path / "smtp.json"))
    blind = types("channel", "set", "email")
    sender = ("--from", "hello@acme.test", "--from-name", "Acme")
    made = types("channel", "set", "email", "--vendor", "smtp", *sender, "--account", "smtp=sealed://smtp")
    listed = types("channel", "list").out
    changed = types("channel", "set", "email", "--reply-to", "help@acme.test", "--disable")
    shown = json.loads(types("channel", "show", "email", "--json").out)

    assert (blind.code, "--vendor" in blind.err) == (1, True)
    assert made.code == 0, made.err
    assert "smtp: your own account" in made.out
    assert "`tidings adapter check smtp`" in made.out
    assert listed == "email     active    smtp                Acme <hello@acme.test>\n"
    assert changed.code == 0, changed.err
    assert (shown["vendor"], shown["status"], shown["version"]) == ("smtp", "disabled", 2)
    assert {name: value for name, value in shown["sender"].items() if value} == {
        "from_address": "hello@acme.test",
        "from_name": "Acme",
        "reply_to": "help@acme.test",
    }
