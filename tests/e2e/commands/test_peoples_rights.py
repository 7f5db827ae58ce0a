"""`tidings recipient export`, `erase` and `tidings erasure verify` at the keyboard of a running Tidings."""

import json
import stat
import zipfile
from pathlib import Path

import pytest

from tests.e2e.commands.conftest import Operator

pytestmark = pytest.mark.xdist_group("commands")

ORDER = {
    "order_number": "A-1001",
    "total": {"amount_micros": 42_500_000, "currency": "USD"},
    "items": [{"name": "Green tea", "quantity": 2}],
}


def _written_to(operator: Operator, folder: Path, mail: str) -> str:
    """Somebody who was sent a message; their id."""
    file = folder / "order.json"
    file.write_text(json.dumps(ORDER))
    made = operator.gets(
        *("send", mail, "-t", "order_confirmation", "--channel", "email"),
        *("--variables", str(file), "--name", "Laila", "--wait"),
    )
    return str(made["notification"]["recipient_id"])


def test_exported_then_erased_then_proven(operator: Operator, tmp_path: Path) -> None:
    """From everything to nothing, with a receipt that others can check."""
    recipient = _written_to(operator, tmp_path, "rights@example.test")
    archive, receipt = tmp_path / "all.zip", tmp_path / "receipt.json"

    operator.reads("recipient", "export", recipient, "--out", str(archive))
    with zipfile.ZipFile(archive) as opened:
        assert opened.testzip() is None
        assert "rights@example.test" in opened.read("profile.json").decode()
        assert "Green tea" in opened.read("notifications.jsonl").decode()
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600

    said = operator.reads("recipient", "erase", recipient, "--yes", "--receipt", str(receipt))
    assert f"{recipient} was erased" in said
    assert "vendors that were given messages before: smtp" in said
    assert "no backup holds the key" in said

    assert "proven" in operator.reads("erasure", "verify", str(receipt))
    # As somebody does who has nothing but the receipt and the published key.
    published = operator.reads("erasure", "keys").split()
    options = [word for key in published for word in ("--public-key", key)]
    assert "proven" in operator.reads("erasure", "verify", str(receipt), *options)

    again = operator.types("recipient", "export", recipient, "--out", str(tmp_path / "late.zip"))
    assert again.returncode == 1
    assert "erased" in again.stderr
    assert not list(tmp_path.glob("*late*")), "nothing half-written is left"


def test_a_receipt_that_was_changed_is_not_proven(operator: Operator, tmp_path: Path) -> None:
    recipient = _written_to(operator, tmp_path, "changed@example.test")
    receipt = operator.types("recipient", "erase", recipient, "--yes", "--json")
    changed = tmp_path / "changed.json"
    changed.write_text(receipt.stdout.replace('"stopped": 0', '"stopped": 1'))

    said = operator.types("erasure", "verify", str(changed))

    assert said.returncode == 1
    assert "not proven" in said.stderr


def test_mistakes_are_told_in_words(operator: Operator, tmp_path: Path) -> None:
    here = tmp_path / "here.zip"
    here.write_text("")
    for words, remedy in (
        (("recipient", "export", "rcp_x", "--out", str(here)), "is there already"),
        (("recipient", "erase", "nobody", "--yes"), "rcp_"),
        (("erasure", "verify", str(tmp_path / "none.json")), "can't be read"),
        (("erasure", "verify", str(here), "--public-key", "sk1"), "ID=BASE64"),
        (("erasure", "verify", str(here)), "must be the JSON of a receipt"),
    ):
        said = operator.types(*words)
        assert said.returncode == 1, words
        assert remedy in said.stderr, said.stderr
