"""Expressions that are never closed are looked through once, whatever is in them."""

import re

import pytest

from tidings.notify.templates.expand import expand, strings

_NEVER_CLOSED = '{{foo (t "' + '\\"' * 20_000 + " }}"


@pytest.mark.parametrize(
    "read",
    [expand._INNER_STRING, strings._WORD],
    ids=["a string inside", "the words of a string"],
)
def test_a_text_without_its_end(read: re.Pattern[str]) -> None:
    """Quadratic, it would take minutes here; the places where it begins to look are few."""
    found = list(read.finditer(_NEVER_CLOSED))

    assert len(found) < 20
