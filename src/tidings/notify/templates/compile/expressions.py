"""Cuts a Handlebars source into texts and expressions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from tidings.notify.templates.errors import CompileError
from tidings.notify.templates.faults import Fault

#: `value` prints something; `block` opens, divides or closes a block, or calls a partial.
Kind = Literal["value", "block", "comment"]

# Every choice is decided by the next character, so that no source takes more than one look. Groups are not possessive:
# Python before 3.11.5, which Debian 12 has, does not match those rightly.
_STRING = r'"(?:\\"|(?!\\")[^"])*"' + r"|'(?:\\'|(?!\\')[^'])*'" + r"|\[(?:\\\]|(?!\\\])[^\]])*\]"
_COMMENT = re.compile(r"\{\{~?!--[\s\S]*?--~?\}\}|\{\{~?!(?!--)[\s\S]*?\}\}")
_DASHED = re.compile(r"\{\{~?!--")
_TRIPLE = re.compile(rf"\{{\{{~?\{{(?:{_STRING}|[^\"'\[}}])*\}}~?\}}\}}")
_PLAIN = re.compile(rf"\{{\{{(?:{_STRING}|[^\"'\[}}]|\}}(?!\}}))*\}}\}}")
_BLOCK = re.compile(r"\{\{~?\s*(?:[#/^>*]|else\b)")
_UNESCAPED = re.compile(r"\{\{~?\s*&")


@dataclass(frozen=True, slots=True)
class HandlebarsExpression:
    """Something between braces."""

    text: str
    kind: Kind
    #: Where it begins, counted from 1.
    line: int
    column: int | None = field(default=None, kw_only=True)
    #: Whether its value is printed as it is, without HTML escaping.
    unescaped: bool = False

    @property
    def at(self) -> str:
        """Its line and its column, as messages say them."""
        return f"{self.line}" if self.column is None else f"{self.line}:{self.column}"


def split(source: str) -> Iterator[str | HandlebarsExpression]:
    """The texts and expressions of a source in their order; comments are left out."""
    for _, piece in located(source):
        yield piece


def located(source: str) -> Iterator[tuple[int, str | HandlebarsExpression]]:
    """The same, each with the place where it begins, counted from 0."""
    for start, piece in written(source):
        if isinstance(piece, str) or piece.kind != "comment":
            yield start, piece


def written(source: str) -> Iterator[tuple[int, str | HandlebarsExpression]]:
    """All that is written: texts, expressions and comments, each with the place where it begins."""
    at, line, counted, begins = 0, 1, 0, 0
    while (start := source.find("{{", at)) != -1:
        line += source.count("\n", counted, start)
        # Where the line begins: looked for from the last expression on, so that a long line is read once.
        begins = source.rfind("\n", counted, start) + 1 or begins
        counted = start
        if source.startswith("{{{{", start):
            raise _refused(
                source,
                start,
                "raw blocks in four braces are not supported",
                "write \\{{braces}} with a backslash",
            )
        # One backslash: the braces are meant as they are. Two: a backslash, then an expression.
        escaped = source.endswith("\\", at, start) and not source.endswith("\\\\", at, start)
        begin = start - 1 if escaped else start
        if begin > at:
            yield at, source[at:begin]
        comment = triple = None
        if escaped:
            # Text up to the next braces; it needs no end of its own.
            following = source.find("{{", start + 2)
            close = source.find("}}", start + 2, len(source) if following == -1 else following)
            at = start + 2 if close == -1 else close + 2
        else:
            comment = _COMMENT.match(source, start)
            if not comment and _DASHED.match(source, start):
                raise _not_closed(source, start)
            triple = None if comment else _TRIPLE.match(source, start)
            found = comment or triple or _PLAIN.match(source, start)
            if found is None:
                raise _not_closed(source, start)
            at = found.end()
        text = source[begin:at]
        yield (
            begin,
            HandlebarsExpression(
                text=text,
                kind="comment" if comment else "block" if _BLOCK.match(text) else "value",
                line=line,
                column=start - begins + 1,
                unescaped=not comment and not escaped and bool(triple or _UNESCAPED.match(text)),
            ),
        )
    if at < len(source):
        yield at, source[at:]


def expressions(source: str) -> list[HandlebarsExpression]:
    """The expressions of a source."""
    return [piece for piece in split(source) if isinstance(piece, HandlebarsExpression)]


def _not_closed(source: str, start: int) -> CompileError:
    """Why no end was found for the braces at `start`."""
    end = next(
        (at for at in (source.find("\n", start), source.find("{{", start + 2)) if at != -1), len(source)
    )
    shown = source[start:end].strip()[:40]
    inside = source[start:end]
    if inside.startswith("{{!"):
        return _refused(
            source, start, f"the comment {shown} is not closed", "write }} after it, --}} after {{!--"
        )
    for quote in "\"'":
        if inside.count(quote) % 2:
            return _refused(
                source, start, f"a quotation mark in {shown} is not closed", f"write the second {quote}"
            )
    if "}}" in inside:
        return _refused(
            source, start, f"{shown} is not closed", "close the bracket [ with ], then the braces with }}"
        )
    what = "has one closing brace" if "}" in inside else "is not closed"
    return _refused(source, start, f"{shown} {what}", "write }} at its end")


def _refused(source: str, start: int, what: str, how: str) -> CompileError:
    line = source.count("\n", 0, start) + 1
    return CompileError(faults=[Fault(what, how, line=line, column=start - source.rfind("\n", 0, start))])
