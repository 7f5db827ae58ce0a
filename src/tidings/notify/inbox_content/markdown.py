"""Markdown of an item as HTML that can be shown as it is: no HTML of its author's, no pictures, and links that were checked."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from tidings.notify.inbox_content.links import LINKS, link_fault

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


@cache
def _parser() -> "MarkdownIt":
    # Few processes make items of Markdown; the others need not load it.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table").disable("image")


def html_of(markdown: str, allowed: Sequence[str]) -> tuple[str, str | None]:
    """The HTML, and what is wrong with one of its links; None where nothing is."""
    parser = _parser()
    tokens = parser.parse(markdown)
    for token in _all(tokens):
        href = token.attrs.get("href")
        if href is not None and (fault := link_fault(str(href), LINKS, allowed)) is not None:
            return "", fault
    return str(parser.renderer.render(tokens, parser.options, {})), None


def _all(tokens: "Sequence[Token]") -> "Iterator[Token]":
    for token in tokens:
        yield token
        yield from _all(token.children or ())
