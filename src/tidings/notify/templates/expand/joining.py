"""Joins the pieces of a text so that each means what it meant alone: a brace or a backslash counts for no braces beside it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tidings.notify.templates.expand.source_map import MappedPiece
from tidings.notify.templates.expand.strings import Into


def joined(pieces: Iterable[MappedPiece], into: Into) -> Iterator[MappedPiece]:
    """The pieces; where two of them would be read as something else together, they are set apart."""
    last: MappedPiece | None = None
    for piece in pieces:
        if not piece.text:
            continue
        current = piece
        if last is not None:
            before, after = _apart(last.text, piece.text, into)
            yield last if before == last.text else replace(last, text=before)
            current = piece if after == piece.text else replace(piece, text=after)
        last = current
    if last is not None:
        yield last


def _apart(before: str, after: str, into: Into) -> tuple[str, str]:
    if after.startswith("{{"):
        if before.endswith("\\"):
            return f"{before}\\", after
        if before.endswith("{"):
            return _brace_before(before, after, into)
    elif before.endswith("}}") and after.startswith("}"):
        return _brace_after(before, after, into)
    elif before.endswith("{") and after.startswith("{"):
        # Both are text: printed, and no beginning of an expression.
        return f"{before[:-1]}\\{{", after
    return before, after


def _brace_before(before: str, after: str, into: Into) -> tuple[str, str]:
    if into != "text":
        # The tools drop comments; a tilde eats the blank as well.
        return f"{before} ", f"{{{{~{after[2:]}"
    # A comment eats the blank again.
    return f"{before} {{{{~!}}}}", after


def _brace_after(before: str, after: str, into: Into) -> tuple[str, str]:
    if into != "text":
        return f"{before[:-2]}~}}}}", f" {after}"
    return before, f"{{{{!}}}}{after}"
