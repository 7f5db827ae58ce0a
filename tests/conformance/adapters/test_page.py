"""The table in the documentation is that of this suite, with nothing left out."""

from tests.conformance.adapters.page import cells, page
from tests.support.generated_docs import DOCS


def test_the_table_is_whole_and_green() -> None:
    """Every adapter × every question; where an answer is no, its own test fails too. `make docs` writes it."""
    assert (DOCS / "conformance.md").read_text() == page(dict.fromkeys(cells(), True))
