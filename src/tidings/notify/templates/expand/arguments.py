"""Reads what stands inside an expression: its words, texts, sub-expressions and named values."""

import re
from dataclasses import dataclass
from typing import Final

#: A text in quotes as Handlebars reads it; possessive, so that one without its end is given up at once.
QUOTED: Final = r'"(?:\\"|(?!\\")[^"])*"' + r"|'(?:\\'|(?!\\')[^'])*'"
#: The same, or all that follows a quote without its end: looked through once, and refused by the parser.
BEGUN: Final = r'"(?:\\"|(?!\\")[^"])*"?' + r"|'(?:\\'|(?!\\')[^'])*'?"
_TOKEN: Final = re.compile(
    rf"\s+|(?P<name>[^\s=\"'()\[\]|]++)=(?!=)|{QUOTED}|(?P<open>\()|(?P<close>\))"
    r"|(?:\[[^\]]*+\]|[^\s\"'()\[\]=])+"
)


@dataclass(frozen=True, slots=True)
class HelperCall:
    """A name and what it is given, as it was written."""

    name: str
    values: tuple[str, ...]
    named: tuple[tuple[str, str], ...]

    @property
    def names(self) -> str:
        """The named values as they are written in an expression."""
        return " ".join(f"{name}={value}" for name, value in self.named)


def read_call(inside: str) -> HelperCall | None:
    """The call in the inside of an expression; None where it can't be read as one."""
    values: list[str] = []
    named: list[tuple[str, str]] = []
    waiting: str | None = None
    at = 0
    while at < len(inside):
        found = _TOKEN.match(inside, at)
        if found is None or found["close"]:
            return None
        end = found.end()
        if found[0].isspace():
            at = end
            continue
        if found["name"]:
            waiting, at = found["name"], end
            continue
        if found["open"]:
            close = _closing(inside, at)
            if close is None:
                return None
            end = close
        value = inside[at:end]
        if waiting is not None:
            named.append((waiting, value))
            waiting = None
        else:
            values.append(value)
        at = end
    if not values or waiting is not None:
        return None
    return HelperCall(values[0], tuple(values[1:]), tuple(named))


def literal(value: str) -> str | None:
    """The text in quotes; None where it is none."""
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1].replace("\\" + value[0], value[0])
    return None


def _closing(inside: str, at: int) -> int | None:
    depth = 0
    while at < len(inside):
        found = _TOKEN.match(inside, at)
        if found is None:
            return None
        depth += bool(found["open"]) - bool(found["close"])
        at = found.end()
        if depth == 0:
            return at
    return None
