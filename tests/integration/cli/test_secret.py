"""`tidings secret`: what is typed and printed; what is stored is never shown."""

import re
from pathlib import Path

from tests.support.cli import ServedApi, Types


def test_settings_are_entered_as_an_object_and_read_by_an_account(types: Types, tmp_path: Path) -> None:
    file = tmp_path / "smtp.json"
    file.write_text('{"host": "mx.test", "username": "us", "password": "swordfish"}\n')
    entered = types("secret", "set", "smtp", "--file", str(file))
    account = types("adapter", "add", "smtp", "--secret-ref", "sealed://smtp")
    again = types("secret", "set", "smtp", "--file", str(file))
    listed = types("secret", "list")

    assert entered.out == "sealed://smtp  version 1\n"
    assert account.code == 0, account.err
    assert re.fullmatch(r"sealed://smtp  version 2; adcfg_\w+ reads it from now on\n", again.out)
    assert re.fullmatch(r"sealed://smtp  version 2, \S{19}Z, read by adcfg_\w+\n", listed.out)
    assert "swordfish" not in entered.out + account.out + again.out + listed.out


def test_a_text_is_entered_and_removed(types: Types, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("swordfish\n")
    types("secret", "set", "mail", "--file", str(tmp_path / "password"))

    assert types("secret", "remove", "mail").out == "sealed://mail is removed, and its key is destroyed\n"
    assert "no secret was entered" in types("secret", "list").out


def test_what_is_broken_is_not_sent(api: ServedApi, types: Types, tmp_path: Path) -> None:
    before = len(api.answered)
    (tmp_path / "smtp.json").write_text('{"host": ')

    done = types("secret", "set", "smtp", "--file", str(tmp_path / "smtp.json"))

    assert (done.code, len(api.answered)) == (1, before)
    assert "must be one JSON object" in done.err
