"""How a text travels as an SMS."""

import pytest

from tidings.contracts.sms_segments import measure, plainer, transliterated


@pytest.mark.parametrize(
    ("text", "encoding", "segments", "left"),
    [
        ("", "GSM-7", 1, 160),
        ("a" * 160, "GSM-7", 1, 0),
        ("a" * 161, "GSM-7", 2, 145),
        ("€" * 80, "GSM-7", 1, 0),
        # An escape is not cut in two: 76 in the first part, and one unit of it stays empty.
        ("€" * 81, "GSM-7", 2, 143),
        ("é\nÅ[", "GSM-7", 1, 155),
        ("سلام", "UCS-2", 1, 66),
        ("س" * 70, "UCS-2", 1, 0),
        ("س" * 71, "UCS-2", 2, 63),
        ("😀" * 35, "UCS-2", 1, 0),
        ("😀" * 36, "UCS-2", 2, 61),
        ("ç", "UCS-2", 1, 69),
    ],
)
def test_a_text_is_measured(text: str, encoding: str, segments: int, left: int) -> None:
    found = measure(text)

    assert (found.encoding, found.segments, found.left) == (encoding, segments, left)


def test_plainer_characters_are_offered_where_there_are_any() -> None:
    text = "L’été… “ça” – naïve\u00a0😀 سلام"

    assert plainer(text) == {
        "’": "'", "…": "...", "“": '"', "ç": "c", "”": '"', "–": "-", "ï": "i", "\u00a0": " ",
    }  # fmt: skip
    assert transliterated(text) == 'L\'été... "ca" - naive 😀 سلام'
    assert measure(transliterated("L’été…")).encoding == "GSM-7"
