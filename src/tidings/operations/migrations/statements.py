"""Splits SQL text into statements as psql does, with line numbers and the comments before each.

It knows strings (also E'…' and its continuation lines), quoted names, dollar quotes, nested comments,
parentheses, and the BEGIN ATOMIC bodies of SQL functions: a semicolon inside any of them ends nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tidings.operations.migrations.errors import UnreadableSqlError

# Postgres takes every character above ASCII for a letter, no-break spaces included, so `\s` and `\w` of
# Python would cut in other places.
_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\n\r\f\v]+)
    | (?P<line_comment>--[^\n\r]*)
    | (?P<block_comment>/\*)
    | (?P<escape_string>[eE]')
    | (?P<word>[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]*)
    | (?P<string>')
    | (?P<quoted_name>")
    | (?P<dollar_quote>\$(?:[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*)?\$)
    | (?P<open>\()
    | (?P<close>\))
    | (?P<semicolon>;)
    | (?P<backslash>\\)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_STRING_REST = re.compile(r"[^']*+(?:''[^']*+)*'(?!')")
_ESCAPE_REST = re.compile(r"[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*'(?!')", re.DOTALL)
_NAME_REST = re.compile(r'[^"]*+(?:""[^"]*+)*"(?!")')
# 'one' <newline> 'two' is a single string, and the second half keeps the E of the first.
_CONTINUATION = re.compile(r"(?:[ \t\f\v]|--[^\n\r]*+)*[\n\r](?:[ \t\n\r\f\v]|--[^\n\r]*+[\n\r])*'")
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_ROUTINE = (("create", "function"), ("create", "procedure"))
_REPLACED_ROUTINE = (("create", "or", "replace", "function"), ("create", "or", "replace", "procedure"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlStatement:
    """One statement of a script."""

    #: The text from its first word, without the closing semicolon.
    sql: str
    #: The line on which it begins, counted from 1.
    line: int
    #: The `--` lines since the previous statement.
    comments: tuple[str, ...] = ()
    #: The `--` lines inside it.
    inner_comments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlScript:
    """The statements of one file."""

    statements: tuple[SqlStatement, ...]
    #: The `--` lines after the last statement.
    trailing_comments: tuple[str, ...]


# Whoever undoes file after file reads all of them each time.
@lru_cache(maxsize=512)
def split(text: str) -> SqlScript:
    """Split a script; text that ends inside a statement, a quote or a comment is refused."""
    return _Splitter(text).split()


class _Splitter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[SqlStatement] = []
        self._begin_statement()

    def _begin_statement(self) -> None:
        self._start: int | None = None
        self._comments: list[str] = []
        self._inner_comments: list[str] = []
        self._words: list[str] = []
        self._parentheses = 0
        self._bodies = 0

    def split(self) -> SqlScript:
        for kind, start, end in self._tokens():
            if kind == "line_comment":
                kept = self._comments if self._start is None else self._inner_comments
                kept.append(self._text[start:end].rstrip())
            elif kind in ("space", "block_comment"):
                pass
            elif kind == "semicolon" and not self._parentheses and not self._bodies:
                self._end_statement(start)
            else:
                self._take(kind, start, end)
        if self._start is not None:
            raise self._unreadable(self._start, "this statement does not end with a semicolon")
        return SqlScript(statements=tuple(self._found), trailing_comments=tuple(self._comments))

    def _take(self, kind: str, start: int, end: int) -> None:
        if self._start is None:
            self._start = start
        if kind == "word":
            self._take_word(self._text[start:end].lower())
        elif kind == "open":
            self._parentheses += 1
        elif kind == "close":
            self._parentheses = max(0, self._parentheses - 1)
        elif kind == "backslash":
            raise self._unreadable(start, "a backslash outside quotes; commands of psql do not work here")

    def _take_word(self, word: str) -> None:
        """Follow BEGIN … END of an SQL function; CASE has an END of its own."""
        if len(self._words) < 4:
            self._words.append(word)
        if self._parentheses or not self._in_routine():
            return
        if word == "begin" or (word == "case" and self._bodies):
            self._bodies += 1
        elif word == "end" and self._bodies:
            self._bodies -= 1

    def _in_routine(self) -> bool:
        return tuple(self._words[:2]) in _ROUTINE or tuple(self._words) in _REPLACED_ROUTINE

    def _end_statement(self, end: int) -> None:
        if self._start is None:  # a lone semicolon: its comments belong to what follows
            return
        self._found.append(
            SqlStatement(
                sql=self._text[self._start : end].rstrip(" \t\n\r\f\v"),
                line=self._line(self._start),
                comments=tuple(self._comments),
                inner_comments=tuple(self._inner_comments),
            )
        )
        self._begin_statement()

    def _tokens(self) -> Iterator[tuple[str, int, int]]:
        position = 0
        while match := _TOKEN.match(self._text, position):
            kind = match.lastgroup or ""
            position = self._end_of(kind, match)
            yield kind, match.start(), position

    def _end_of(self, kind: str, token: re.Match[str]) -> int:
        start, end = token.span()
        match kind:
            case "string":
                return self._closing(_STRING_REST, end, start, "a string")
            case "quoted_name":
                return self._closing(_NAME_REST, end, start, "a quoted name")
            case "escape_string":
                end = self._closing(_ESCAPE_REST, end, start, "a string")
                while more := _CONTINUATION.match(self._text, end):
                    end = self._closing(_ESCAPE_REST, more.end(), start, "a string")
                return end
            case "dollar_quote":
                closing = self._text.find(token.group(), end)
                if closing < 0:
                    raise self._unreadable(start, f"the quote {token.group()} is never closed")
                return closing + len(token.group())
            case "block_comment":
                return self._end_of_comment(end, start)
            case _:
                return end

    def _closing(self, rest: re.Pattern[str], position: int, start: int, what: str) -> int:
        if found := rest.match(self._text, position):
            return found.end()
        raise self._unreadable(start, f"{what} is never closed")

    def _end_of_comment(self, position: int, start: int) -> int:
        depth = 1
        while edge := _COMMENT_EDGE.search(self._text, position):
            position = edge.end()
            depth += 1 if edge.group() == "/*" else -1
            if depth == 0:
                return position
        raise self._unreadable(start, "a comment is never closed")

    def _line(self, position: int) -> int:
        return self._text.count("\n", 0, position) + 1

    def _unreadable(self, position: int, reason: str) -> UnreadableSqlError:
        return UnreadableSqlError(f"line {self._line(position)}: {reason}")
