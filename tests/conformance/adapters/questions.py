"""The questions of the suite, in the order of the table in docs/adapters.md."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

F = TypeVar("F", bound=Callable[..., Any])

#: The words of each, by the name of its test.
QUESTIONS: dict[str, str] = {}


def question(words: str) -> Callable[[F], F]:
    """Ask it of every adapter; the words stand in the documentation."""

    def mark(test: F) -> F:
        QUESTIONS[test.__name__] = words
        marked: F = pytest.mark.question(words)(test)
        return marked

    return mark
