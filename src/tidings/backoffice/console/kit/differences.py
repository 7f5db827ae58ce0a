"""Marks what is different between two texts, word by word."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from tidings.backoffice.console.html import Child, Html, el, join

_WORDS: Final = re.compile(r"\s+|[^\W\d_]+|\d+|.", re.DOTALL)
#: Beyond that, comparing word by word takes too long, and lines are compared.
_MOST_WORDS: Final = 3000
#: So many characters of what is the same stand around a difference.
_AROUND: Final = 240


def marked(before: str, after: str) -> Html:
    """The text with what went out in `del` and what came in in `ins`."""
    return join(*_pieces(before, after))


def _pieces(before: str, after: str) -> Iterator[Child]:
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if len(old) + len(new) > _MOST_WORDS:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    last = None
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        gone, came = "".join(old[a:b]), "".join(new[c:d])
        if kind == "equal":
            yield _short(gone, is_first=last is None, is_last=b == len(old) and d == len(new))
        else:
            yield el("del", gone) if gone else None
            yield el("ins", came) if came else None
        last = kind


def _short(text: str, *, is_first: bool, is_last: bool) -> str:
    if is_first and len(text) > _AROUND:
        return f"…{text[-_AROUND:]}"
    if is_last and len(text) > _AROUND:
        return f"{text[:_AROUND]}…"
    if len(text) > 2 * _AROUND:
        return f"{text[:_AROUND]}\n…\n{text[-_AROUND:]}"
    return text
