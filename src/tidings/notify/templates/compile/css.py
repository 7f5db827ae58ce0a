"""Reads CSS as far as it matters in a mail: its comments, its declarations, and what it would fetch."""

import re
from collections.abc import Iterator
from typing import Final

#: A string ends with its line or the sheet where it is not closed; a comment with the sheet.
_STRING: Final = r"\"[^\"\n]*\"?|'[^'\n]*'?"
_COMMENT: Final = re.compile(rf"({_STRING})|/\*[\s\S]*?(?:\*/|\Z)")
_URL: Final = re.compile(r"url\(\s*(?:\"([^\"\n]*)|'([^'\n]*)|([^)\"']*))", re.IGNORECASE)
#: What a style could do beyond looking: run, fetch by another name than url(), or hide that by escapes.
_UNSAFE: Final = re.compile(
    r"expression\s*\(|javascript:|vbscript:|@import|@font-face|@namespace|behavior\s*:|-moz-binding|image-set\s*\(|"
    r"cross-fade\s*\(|\bimage\s*\(|\bsrc\s*\(|\\|<",
    re.IGNORECASE,
)


def without_comments(css: str) -> str:
    """The same rules without their comments."""
    return _COMMENT.sub(lambda found: found[1] or " ", css)


def unsafe(css: str) -> str | None:
    """The first word in it that no mail may hold; None where it can be kept. Comments are gone by then."""
    found = _UNSAFE.search(css)
    return found[0].strip() if found else None


def urls(css: str) -> Iterator[tuple[int, str]]:
    """What it would fetch by `url()`, each with the place where it begins."""
    for found in _URL.finditer(css):
        yield found.start(), next(group for group in found.groups() if group is not None).strip()


def declarations(style: str) -> list[str]:
    """The declarations of a style attribute; a semicolon in a string or in brackets divides nothing."""
    out: list[str] = []
    at, depth = 0, 0
    for found in re.finditer(rf"{_STRING}|[();]", style):
        match found[0]:
            case "(":
                depth += 1
            case ")":
                depth = max(0, depth - 1)
            case ";" if not depth:
                out.append(style[at : found.start()])
                at = found.end()
    out.append(style[at:])
    return [" ".join(each.split()) for each in out if each.strip()]
