"""What is wrong with a condition, and where."""

import unicodedata
from typing import Final

from tidings.kernel.errors import BadValueError, TidingsError

#: So much of the line is shown on either side of the place.
_SHOWN: Final = 40


class ExpressionError(TidingsError):
    """The condition can't be read."""

    code = "bad_expression"

    def __init__(self, text: str, *, position: int, remedy: str) -> None:
        super().__init__(f"{remedy}, at character {position + 1}:\n{_excerpt(text, position)}")
        #: Where it is, counted in characters from 0; the length of the text where something is missing at its end.
        self.position = position
        #: What it has to be instead.
        self.remedy = remedy

    def of(self, field: str) -> BadValueError:
        """The same as the refusal of a request's field."""
        return BadValueError(field, f"is not a condition: {self}")


def _excerpt(text: str, position: int) -> str:
    """The text around the place on one line, and a caret under the place on the next."""
    start = max(0, position - _SHOWN)
    end = min(len(text), position + _SHOWN)
    before, after = "…" if start else "", "…" if end < len(text) else ""
    shown = "".join(_visible(character) for character in text[start:end])
    return f"  {before}{shown}{after}\n  {' ' * (len(before) + position - start)}^"


def _visible(character: str) -> str:
    """One column, whatever it is: neither a line feed nor what turns the direction of a line is obeyed."""
    return "·" if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") else character
