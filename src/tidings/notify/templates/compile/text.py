"""The text alternative of a mail: what a person would type who has only a keyboard."""

import html
import re
from html.parser import HTMLParser
from typing import Final

from tidings.notify.templates.compile.expressions import HandlebarsExpression, split
from tidings.notify.templates.compile.tokens import TokenisedSource

_BLOCKS: Final = frozenset(
    "address article blockquote center div dl footer header main ol p pre section table tbody tr ul".split()  # noqa: SIM905
)
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SPACED: Final = frozenset({"p", "ul", "ol", "blockquote", "pre"}) | _HEADINGS
_TABLE_PARTS: Final = frozenset({"table", "thead", "tbody", "tfoot", "tr", "colgroup"})
_SKIPPED: Final = frozenset({"style", "script", "head", "title"})
_VOID: Final = frozenset({"br", "hr", "img", "input", "meta", "link", "wbr", "col"})


def text_of(body: str, tokenised: TokenisedSource) -> str:
    """The body's text as a Handlebars source; blocks stand on lines of their own, which vanish when rendered."""
    reader = _Reader(tokenised)
    reader.feed(body)
    reader.close()
    text = "\n".join(line.strip() for line in "".join(reader.out).split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    return tokenised.pattern().sub(lambda word: _plain(tokenised.expression(int(word[1])).text), text)


def _plain(expression: str) -> str:
    """What stood in an attribute may hold texts beside its expressions, and those were written as markup."""
    return "".join(
        piece.text if isinstance(piece, HandlebarsExpression) else html.unescape(piece)
        for piece in split(expression)
    )


def _unshown(given: dict[str, str]) -> bool:
    return "display:none" in given.get("style", "").replace(" ", "").lower()


class _Reader(HTMLParser):
    def __init__(self, tokenised: TokenisedSource) -> None:
        super().__init__(convert_charrefs=True)
        self._words = tokenised.pattern()
        self._tokenised = tokenised
        self.out: list[str] = []
        #: Elements that are open, and whether what is in them is to be read.
        self._stack: list[tuple[str, bool]] = []
        self._links: list[tuple[str, int]] = []

    @property
    def _hidden(self) -> bool:
        return any(hidden for _, hidden in self._stack)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in _VOID:
            self._stack.append((tag, tag in _SKIPPED or _unshown(given)))
        if self._hidden:
            return
        match tag:
            case "br":
                self.out.append("\n")
            case "hr":
                self._line()
                self.out.append("----------\n")
            case "img" if not _unshown(given):
                self._say(given.get("alt", ""))
            case "a":
                self._links.append((given.get("href", ""), len(self.out)))
            case "li":
                self._line()
                self.out.append("- ")
            case "td" | "th":
                self._gap()
            case _ if tag in _BLOCKS or tag in _HEADINGS:
                self._line(blank=tag in _SPACED)

    def handle_endtag(self, tag: str) -> None:
        hidden = self._hidden
        if any(name == tag for name, _ in self._stack):
            while self._stack.pop()[0] != tag:
                pass
        if hidden:
            return
        if tag == "a" and self._links:
            self._end_link()
        elif tag in _BLOCKS or tag in _HEADINGS or tag == "li":
            self._line(blank=tag in _SPACED)

    def handle_data(self, data: str) -> None:
        # Between the parts of a table there is nothing to read.
        between = self._stack and self._stack[-1][0] in _TABLE_PARTS and not data.strip()
        if not self._hidden and not between:
            self._say(re.sub(r"\s+", " ", data))

    def handle_comment(self, data: str) -> None:
        if self._words.fullmatch(data) and not self._hidden:
            block = self._tokenised.expression(int(self._words.findall(data)[0])).kind == "block"
            alone = block and self._at_line_start()
            self.out.append(data + ("\n" if alone else ""))

    def _say(self, text: str) -> None:
        self.out.append(text.lstrip() if self._at_line_start() else text)

    def _end_link(self) -> None:
        href, began = self._links.pop()
        label = "".join(self.out[began:]).strip()
        if not href or href.startswith(("#", "mailto:", "tel:", "sms:")) or label == href:
            return
        shown = href
        if self._words.search(href):
            shown = self._tokenised.checked(href, "href", int(self._words.findall(href)[0]))
        self.out.append(f" ({shown})" if label else shown)

    def _at_line_start(self) -> bool:
        last = next((text for text in reversed(self.out) if text), "\n")
        return last.endswith("\n")

    def _gap(self) -> None:
        if not self._at_line_start():
            self.out.append("  ")

    def _line(self, *, blank: bool = False) -> None:
        if not self._at_line_start():
            self.out.append("\n")
        if blank:
            self.out.append("\n")
