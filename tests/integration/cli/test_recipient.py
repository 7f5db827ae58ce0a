"""`tidings recipient` and `tidings profile`: what is typed, stored and printed; the receipt of an erasure is never lost."""

import json
from pathlib import Path

import pytest

from tests.support.cli import ServedApi, Types


@pytest.fixture
def laila(types: Types) -> str:
    """A recipient."""
    words = (
        "recipient",
        "create",
        "--display-name",
        "Laila",
        "--identity",
        "type=guest",
        "--identity",
        "id=1",
    )
    made = types(*words, "--json")
    assert made.code == 0, made.err
    return str(json.loads(made.out)["id"])


def test_the_receipt_is_written(types: Types, laila: str, tmp_path: Path) -> None:
    receipt = tmp_path / "receipt.json"

    said = types("recipient", "erase", laila, "--yes", "--receipt", str(receipt))

    assert said.code == 0, said.err
    assert json.loads(receipt.read_text())["statement"]["recipient_id"] == laila
    assert f"{laila} was erased" in said.out


def test_a_receipt_that_can_not_be_written_is_printed(types: Types, laila: str, tmp_path: Path) -> None:
    receipt = tmp_path / "receipt.json"
    receipt.symlink_to(tmp_path / "nowhere" / "receipt.json")

    said = types("recipient", "erase", laila, "--yes", "--receipt", str(receipt))
    again = types("recipient", "erase", laila, "--yes", "--receipt", str(receipt), "--json")

    assert said.code == again.code == 1
    assert json.loads(said.out) == json.loads(again.out)
    assert f"{laila} was erased, but" in said.err
    assert "can't be written" in said.err
    assert "printed above" in said.err


def test_nothing_is_erased_where_the_receipt_has_no_place(
    api: ServedApi, types: Types, laila: str, tmp_path: Path
) -> None:
    before = len(api.answered)

    said = types(
        "recipient", "erase", laila, "--yes", "--receipt", str(tmp_path / "nowhere" / "receipt.json")
    )

    assert (said.code, len(api.answered)) == (1, before)
    assert "there is no folder" in said.err


def test_a_profile_is_set_and_forgotten(types: Types, laila: str) -> None:
    nothing = types("profile", "list").out
    done = types(
        "profile", "set", laila, "--whatsapp", "no", "--email-verified", "--at", "2026-11-15T12:00:00Z"
    )
    profile = json.loads(types("profile", "show", laila, "--json").out)
    forgotten = types("profile", "forget", laila, "--yes")

    assert nothing == "nothing was learned about any recipient yet\n"
    assert done.code == 0, done.err
    assert "  WhatsApp: no\n  a code by voice: unknown\n  mailbox verified: yes\n" in done.out
    assert (profile["has_whatsapp_business"], profile["email_verified"]) == ("KNOWN_NO", True)
    assert forgotten.out == f"{laila}: nothing is known about reaching them any more\n"
    assert types("profile", "list").out == nothing
