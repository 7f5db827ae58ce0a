"""What is typed into a form becomes what the API takes; what is not of its kind goes as it was typed."""

import pytest

from tidings.backoffice.console.kit.typed import amount, given, lines, micros, moment_of, several, whole


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [("0.15", 150_000), ("1e2", 100_000_000), ("-1", -1_000_000), ("much", "much"), ("", None), ("NaN", "NaN"), ("Infinity", "Infinity")],
)  # fmt: skip
def test_amounts(typed: str, wanted: object) -> None:
    assert micros({"cap": typed}, "cap") == wanted


def test_amounts_come_back_as_they_were_typed() -> None:
    assert [amount(value) for value in (None, 150_000, 7, 2_000_000)] == ["", "0.15", "0.000007", "2"]


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("2026-11-15T12:00", "2026-11-15T12:00:00Z"),
        ("2026-11-15T12:00:30", "2026-11-15T12:00:30Z"),
        ("2026-11-15T12:00:30+01:00", "2026-11-15T12:00:30+01:00"),
        ("yesterday", "yesterday"),
        ("", None),
    ],
)
def test_times(typed: str, wanted: str | None) -> None:
    assert moment_of({"since": typed}, "since") == wanted


def test_numbers_words_and_lines() -> None:
    fields = {"n": " 12 ", "bad": "1²", "words": "+93, +49\n+1", "lines": "a\r\n\r\n b "}
    assert whole(fields, "n") == 12
    assert whole(fields, "bad") == "1²"
    assert several(fields, "words") == ["+93", "+49", "+1"]
    assert lines(fields, "lines") == ["a", "b"]
    assert given(a=None, b="", c=0, d=False, e=[]) == {"c": 0, "d": False}
