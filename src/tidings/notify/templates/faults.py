"""What is wrong with one text, before it is known which file it stands in."""

import re
from dataclasses import dataclass
from typing import Final, Literal

Severity = Literal["error", "warning"]

_LINE: Final = re.compile(r"line ([0-9]+)(?::([0-9]+))?: ")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, and how to mend it."""

    what: str
    how: str
    #: Both counted from 1; None where it is about the whole.
    line: int | None = None
    column: int | None = None
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"{'' if self.line is None else f'line {self.line}: '}{self.what}; {self.how}"

    @classmethod
    def at(cls, markup: str, at: int, what: str, how: str, *, severity: Severity = "error") -> "Fault":
        """A fault where the markup has come to `at`, counted from 0."""
        line, column = markup.count("\n", 0, at) + 1, at - markup.rfind("\n", 0, at)
        return cls(what, how, line=line, column=column, severity=severity)

    @classmethod
    def read(cls, message: str) -> "Fault":
        """A fault out of a sentence: `line 3: what is wrong; how to mend it`, or `line 3:5: …` with the column."""
        found = _LINE.match(message)
        rest = message[found.end() :] if found else message
        what, _, how = rest.partition("; ")
        line, column = (int(found[1]), int(found[2]) if found[2] else None) if found else (None, None)
        return cls(what=what, how=how or "correct it", line=line, column=column)
