"""`tidings recipient erase`: what is done can't be undone, so its receipt is never lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import PlayedApi, Types

RECEIPT: dict[str, Any] = {
    "statement": {
        "id": "ers_1",
        "recipient_id": "rcp_1",
        "erased_at": "2026-11-15T12:00:00Z",
        "destroyed": {"data_keys": 1, "addresses": 2, "notifications_unreadable": 3},
        "kept": {"suppressions": 0},
        "stopped": 0,
        "under_way": 0,
        "in_flight": [],
        "vendors": [],
        "backups_until": "2026-12-20",
    },
    "signature": "c2lnbmVk",
}


@pytest.fixture
def erased(api: PlayedApi) -> PlayedApi:
    """The server erases whoever is named."""
    api.answers["POST /api/v1/recipients/rcp_1/erase"] = (200, RECEIPT)
    return api


def test_the_receipt_is_written(types: Types, erased: PlayedApi, tmp_path: Path) -> None:
    receipt = tmp_path / "receipt.json"

    said = types("recipient", "erase", "rcp_1", "--yes", "--receipt", str(receipt))

    assert said.code == 0, said.err
    assert json.loads(receipt.read_text()) == RECEIPT
    assert "rcp_1 was erased" in said.out


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_receipt_that_can_not_be_written_is_printed(
    types: Types, erased: PlayedApi, tmp_path: Path, options: tuple[str, ...]
) -> None:
    receipt = tmp_path / "receipt.json"
    receipt.symlink_to(tmp_path / "nowhere" / "receipt.json")

    said = types("recipient", "erase", "rcp_1", "--yes", "--receipt", str(receipt), *options)

    assert said.code == 1
    assert json.loads(said.out) == RECEIPT
    assert "rcp_1 was erased, but" in said.err
    assert "can't be written" in said.err
    assert "printed above" in said.err


def test_nobody_is_erased_where_the_receipt_has_no_place(
    types: Types, erased: PlayedApi, tmp_path: Path
) -> None:
    receipt = tmp_path / "nowhere" / "receipt.json"

    said = types("recipient", "erase", "rcp_1", "--yes", "--receipt", str(receipt))

    assert (said.code, erased.heard) == (1, [])
    assert "there is no folder" in said.err
