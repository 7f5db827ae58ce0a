"""What is kept of a note: one line, 200 characters, nothing that a terminal or a page could stumble over."""

import pytest

from tidings.backoffice.notes.model import MOST_CHARACTERS, cut


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("  checked,\n\tno  smoke ", "checked, no smoke"),
        ("a\x00b\x1bc", "abc"),
        ("x" * 300, "x" * 200),
        ("🛎" * 201, "🛎" * 200),
        ("e\u0301" * 200, "é" * 200),
        ("y" * 199 + " z", "y" * 199),
        ("\ud800", ""),
        (" \n ", ""),
        ("اتاق ۱۲", "اتاق ۱۲"),
    ],
)
def test_a_note_is_cut_by_characters(written: str, kept: str) -> None:
    assert cut(written) == kept
    assert len(kept) <= MOST_CHARACTERS
    assert cut(kept) == kept
