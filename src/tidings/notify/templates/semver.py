"""Version numbers by the rules of Semantic Versioning 2.0.0."""

import re
from dataclasses import dataclass
from functools import total_ordering

from tidings.kernel.errors import BadValueError

_NUMBER = r"(0|[1-9][0-9]{0,8})"
_WORD = r"[0-9A-Za-z-]+"
_SEMVER = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_WORD}(?:\.{_WORD})*))?")
_LONGEST = 64


@total_ordering
@dataclass(frozen=True, slots=True)
class Semver:
    """`1.4.0`, or `2.0.0-rc.1`, which comes before `2.0.0`."""

    major: int
    minor: int
    patch: int
    before: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str, *, field: str = "semver") -> "Semver":
        """The version in `text`; a `BadValueError` naming `field` where it is none."""
        found = _SEMVER.fullmatch(text) if len(text) <= _LONGEST else None
        before = tuple(found[4].split(".")) if found and found[4] else ()
        if found is None or any(len(w) > 1 and w.isdigit() and w.startswith("0") for w in before):
            raise BadValueError(field, "must be a version such as 1.4.0 or 2.0.0-rc.1")
        return cls(int(found[1]), int(found[2]), int(found[3]), before)

    def __str__(self) -> str:
        suffix = f"-{'.'.join(self.before)}" if self.before else ""
        return f"{self.major}.{self.minor}.{self.patch}{suffix}"

    def __lt__(self, other: "Semver") -> bool:
        return self._order() < other._order()

    def _order(self) -> tuple[object, ...]:
        # Numbers come before words, fewer words before more, and a release after all that lead to it.
        words = tuple((0, int(word), "") if word.isdigit() else (1, 0, word) for word in self.before)
        return (self.major, self.minor, self.patch, not self.before, words)
