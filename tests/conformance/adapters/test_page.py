"""The table in the documentation is that of this suite, with nothing left out."""

import pytest

from tests.conformance.adapters.page import asked, cells, page
from tests.conformance.adapters.questions import QUESTIONS
from tests.support.generated_docs import DOCS


def test_the_table_is_whole_and_green() -> None:
    """Every adapter × every question; where an answer is no, its own test fails too. `make docs` writes it."""
    assert (DOCS / "conformance.md").read_text() == page(dict.fromkeys(cells(), True))


def test_the_order_of_the_table_is_that_of_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests import one of the files alone, before the other."""
    before = page({})
    for name, words in reversed(list(QUESTIONS.items())):
        monkeypatch.delitem(QUESTIONS, name)
        monkeypatch.setitem(QUESTIONS, name, words)

    assert page({}) == before
    assert asked().keys() == QUESTIONS.keys()
