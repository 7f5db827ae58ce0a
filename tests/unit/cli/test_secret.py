"""`tidings secret`: what it sends, and that it shows nothing of it."""

from pathlib import Path

from tests.unit.cli.conftest import PlayedApi, Types

HOME = "/api/v1/router/secrets"
SHOWN = {
    "name": "smtp",
    "ref": "sealed://smtp",
    "version": 2,
    "used_by": ["adcfg_1"],
    "updated_at": "2026-11-16T12:00:00Z",
}


def test_settings_are_sent_as_an_object_and_a_password_as_text(
    api: PlayedApi, types: Types, tmp_path: Path
) -> None:
    api.answers[f"PUT {HOME}/smtp"] = (200, SHOWN)
    (tmp_path / "smtp.json").write_text('{"host": "mx.test", "password": "swordfish"}\n')
    (tmp_path / "password").write_text("swordfish\n")

    said = types("secret", "set", "smtp", "--file", str(tmp_path / "smtp.json")).out
    types("secret", "set", "smtp", "--file", str(tmp_path / "password"))

    assert [body for _, _, body in api.heard] == [
        {"value": {"host": "mx.test", "password": "swordfish"}},
        {"value": "swordfish"},
    ]
    assert said == "sealed://smtp  version 2; adcfg_1 reads it from now on\n"


def test_what_is_broken_is_not_sent(api: PlayedApi, types: Types, tmp_path: Path) -> None:
    (tmp_path / "smtp.json").write_text('{"host": ')

    done = types("secret", "set", "smtp", "--file", str(tmp_path / "smtp.json"))

    assert done.code != 0
    assert "must be one JSON object" in done.err
    assert api.heard == []


def test_the_list_says_who_reads_them(api: PlayedApi, types: Types) -> None:
    api.answers[f"GET {HOME}"] = (200, {"items": [SHOWN]})

    assert types("secret", "list").out == "sealed://smtp  version 2, 2026-11-16T12:00:00Z, read by adcfg_1\n"
