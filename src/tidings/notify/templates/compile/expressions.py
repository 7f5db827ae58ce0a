"""Cuts a Handlebars source into texts and expressions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tidings.notify.templates.errors import CompileError

#: `value` prints something; `block` opens, divides or closes a block, or calls a partial.
Kind = Literal["value", "block"]

# Every choice is decided by the next character, so that no source takes more than one look. Groups are not possessive:
# Python before 3.11.5, which Debian 12 has, does not match those rightly.
_STRING = r'"(?:\\"|(?!\\")[^"])*"' + r"|'(?:\\'|(?!\\')[^'])*'" + r"|\[(?:\\\]|(?!\\\])[^\]])*\]"
_COMMENT = re.compile(r"\{\{~?!--[\s\S]*?--~?\}\}|\{\{~?!(?!--)[\s\S]*?\}\}")
_TRIPLE = re.compile(rf"\{{\{{~?\{{(?:{_STRING}|[^\"'\[}}])*\}}~?\}}\}}")
_PLAIN = re.compile(rf"\{{\{{(?:{_STRING}|[^\"'\[}}]|\}}(?!\}}))*\}}\}}")
_BLOCK = re.compile(r"\{\{~?\s*(?:[#/^>*]|else\b)")
_UNESCAPED = re.compile(r"\{\{~?\s*&")


@dataclass(frozen=True, slots=True)
class Expression:
    """Something between braces."""

    text: str
    kind: Kind
    #: Where it begins, counted from 1.
    line: int
    #: Whether its value is printed as it is, without HTML escaping.
    unescaped: bool = False


def split(source: str) -> Iterator[str | Expression]:
    """The texts and expressions of a source in their order; comments are left out."""
    for _, piece in located(source):
        yield piece


def located(source: str) -> Iterator[tuple[int, str | Expression]]:
    """The same, each with the place where it begins, counted from 0."""
    at, line, counted = 0, 1, 0
    while (start := source.find("{{", at)) != -1:
        line += source.count("\n", counted, start)
        counted = start
        if source.startswith("{{{{", start):
            raise CompileError(f"line {line}: raw blocks in four braces are not supported")
        # One backslash: the braces are meant as they are. Two: a backslash, then an expression.
        escaped = source.endswith("\\", at, start) and not source.endswith("\\\\", at, start)
        comment = None if escaped else _COMMENT.match(source, start)
        triple = None if comment else _TRIPLE.match(source, start)
        found = comment or triple or _PLAIN.match(source, start)
        if found is None:
            raise CompileError(f"line {line}: an expression is not closed")
        begin = start - 1 if escaped else start
        if begin > at:
            yield at, source[at:begin]
        at = found.end()
        if not comment:
            text = source[begin:at]
            yield (
                begin,
                Expression(
                    text=text,
                    kind="block" if _BLOCK.match(text) else "value",
                    line=line,
                    unescaped=not escaped and bool(triple or _UNESCAPED.match(text)),
                ),
            )
    if at < len(source):
        yield at, source[at:]


def expressions(source: str) -> list[Expression]:
    """The expressions of a source."""
    return [piece for piece in split(source) if isinstance(piece, Expression)]
