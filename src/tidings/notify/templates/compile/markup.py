"""MJML to HTML, styles inlined, sanitised, and set into a frame of our own. Nothing is fetched."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import css_inline
import mrml

from tidings.notify.render.model import Direction
from tidings.notify.templates.compile.css import without_comments
from tidings.notify.templates.compile.lexer import pieces
from tidings.notify.templates.compile.passage import passage
from tidings.notify.templates.compile.sanitise import kept_style, safe_style, sanitise
from tidings.notify.templates.compile.sheets import for_all_devices, query_fault, sheets
from tidings.notify.templates.errors import CompileError
from tidings.notify.templates.faults import Fault

#: Without fonts of its own the compiler would link to some it knows.
_RENDERING: Final = mrml.RenderOptions(fonts={})
_PARSING: Final = mrml.ParserOptions(include_loader=mrml.noop_loader())

#: Sections, columns and texts run from right to left unless the author says otherwise.
_RTL: Final = (
    '<mj-attributes><mj-section direction="rtl"/><mj-column direction="rtl"/><mj-group direction="rtl"/>'
    '<mj-text align="right"/><mj-table align="right"/></mj-attributes>'
)
#: They ask for something that we can't do; better said than dropped.
_REFUSED: Final = {
    "script": "is not allowed in a mail; take it away",
    "link": "would fetch a style sheet; put the rules into <style>",
    "mj-font": "would fetch a web font; name fonts that devices have",
    "mj-include": "can't reach other files; put the content here",
    "iframe": "is not allowed in a mail; link to the page",
    "form": "is not allowed in a mail; link to a page with the form",
}
#: Each rule is tried on each element.
_MOST_RULES: Final = 300
MOST_ELEMENTS: Final = 10_000
#: No message may be longer when it is rendered.
_LONGEST: Final = 1_000_000
#: Selectors that look at all elements from each element.
_SLOW: Final = re.compile(r"[~+]|:has\b")
_BODY: Final = re.compile(r"<body(?P<attributes>[^>]*)>(?P<inside>[\s\S]*)</body>")
_TITLE: Final = re.compile(r"<title>([\s\S]*?)</title>")
_OFFICE: Final = (
    "<!--[if mso]><noscript><xml><o:OfficeDocumentSettings><o:AllowPNG/><o:PixelsPerInch>96</o:PixelsPerInch>"
    "</o:OfficeDocumentSettings></xml></noscript><![endif]-->"
)
_HIDDEN: Final = "display:none;font-size:1px;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all"


@dataclass(frozen=True, slots=True)
class TokenisedMarkup:
    """A mail's markup with tokens in it."""

    #: The title as markup; empty where there is none.
    title: str
    #: Rules that can't be inlined: those for small screens.
    styles: str
    body_style: str
    #: The inside of the body.
    body: str


def unwanted(markup: str) -> Iterator[Fault]:
    """The elements that a mail must not have, and rules that would take too long to set in."""
    rules = elements = at = 0
    for piece in pieces(markup):
        start, at = at, at + len(piece.source)

        def fault(what: str, how: str, start: int = start) -> Fault:
            line = markup.count("\n", 0, start) + 1
            return Fault(what, how, line=line, column=start - markup.rfind("\n", 0, start))

        elements += piece.kind == "open"
        rules += piece.source.count("{") if piece.kind == "raw" else 0
        if elements > MOST_ELEMENTS or rules > _MOST_RULES:
            yield fault(
                f"a mail has at most {MOST_ELEMENTS} elements and {_MOST_RULES} style rules",
                "make it smaller",
            )
            return
        if piece.kind == "raw" and (
            found := _SLOW.search(re.sub(r"\([^()]*\)|\{[^{}]*\}", "{}", without_comments(piece.source)))
        ):
            yield fault(
                f"<{piece.name}> has a selector with {found[0]}, which mail programs don't know",
                "choose elements by their class",
            )
        if piece.kind == "open" and piece.name in _REFUSED:
            what, _, how = _REFUSED[piece.name].partition("; ")
            yield fault(f"<{piece.name}> {what}", how)
        if piece.name == "style" and piece.kind == "open" and (said := query_fault(piece)):
            what, _, how = said.partition("; ")
            yield fault(what, how)
        if piece.kind == "raw" and not safe_style(without_comments(piece.source)):
            yield fault(
                f"<{piece.name}> holds rules that fetch or run something (@import, @font-face, url(), image-set(), "
                "expression()) or escapes",
                "take them away",
            )


def compile_mjml(markup: str, *, locale: str, direction: Direction) -> str:
    """The HTML of an MJML document."""
    markup = re.sub(r"<mjml\b[^>]*>", f'<mjml lang="{locale}" dir="{direction}">', markup, count=1)
    if direction == "rtl":
        markup = _from_right(markup)
    carried = passage(markup)
    try:
        compiled = carried.back(mrml.to_html(carried.markup, _PARSING, _RENDERING).content)
    except OSError as error:
        raise CompileError(f"the MJML can't be read: {error}") from None
    return _inline(compiled, rules="\n".join(carried.inline)) if carried.inline else compiled


def _from_right(markup: str) -> str:
    if re.search(r"<mj-head\s*/?>", markup) is None:
        return re.sub(r"(<mjml[^>]*>)", lambda tag: f"{tag[1]}<mj-head>{_RTL}</mj-head>", markup, count=1)
    if re.search(r"<mj-head\s*/>", markup):
        return re.sub(r"<mj-head\s*/>", f"<mj-head>{_RTL}</mj-head>", markup, count=1)
    return re.sub(r"<mj-head\s*>", lambda tag: tag[0] + _RTL, markup, count=1)


def inline_styles(markup: str) -> str:
    """An HTML document with its rules set into the elements; those for small screens stay in the head."""
    if re.search(r"<body[\s>]", markup, re.IGNORECASE) is None:
        # A parser puts what stands before the first element outside the body.
        markup = f"<!DOCTYPE html><html><head></head><body>{markup}</body></html>"
    inlined = _inline(for_all_devices(markup))
    # A parser adds the bodies of tables, and no more than that where all tags are closed.
    if sum(piece.kind == "open" for piece in pieces(inlined)) > 2 * MOST_ELEMENTS:
        raise CompileError(
            f"the body has more than {2 * MOST_ELEMENTS} elements after parsing; are all tags closed?"
        )
    return inlined


def _inline(markup: str, rules: str | None = None) -> str:
    """Set these rules into the elements, or those of the document's own sheets."""
    inliner = css_inline.CSSInliner(
        inline_style_tags=rules is None,
        keep_style_tags=rules is not None,
        keep_at_rules=rules is None,
        keep_link_tags=False,
        load_remote_stylesheets=False,
        extra_css=rules,
    )
    try:
        return inliner.inline(markup)
    except (css_inline.InlineError, ValueError) as error:
        raise CompileError(f"the styles can't be read: {error}") from None


def finish(markup: str, *, mjml: bool = False) -> TokenisedMarkup:
    """The parts of an HTML document that are safe to keep."""
    body = _BODY.search(markup)
    if body is None:
        raise CompileError("the body has no content")
    head = markup[: body.start()]
    styles = sheets(head)
    if not safe_style(styles):
        raise CompileError("a style sheet holds rules that fetch or run something; take them away")
    style = re.search(r'\sstyle="([^"]*)"', body["attributes"])
    title = _TITLE.search(head)
    return TokenisedMarkup(
        title=title[1].strip() if title else "",
        styles=styles,
        body_style=html.escape(kept_style(html.unescape(style[1]))) if style else "",
        body=sanitise(body["inside"], mjml=mjml),
    )


def frame(page: TokenisedMarkup, *, locale: str, direction: Direction, title: str, preheader: str) -> str:
    """The whole document; `title` and `preheader` are markup already."""
    hidden = f'<div style="{_HIDDEN}">{preheader}</div>' if preheader else ""
    style = f' style="{page.body_style}"' if page.body_style else ""
    styles = f'<style type="text/css">{page.styles}</style>' if page.styles else ""
    # Once more on a div: some mail programs throw away the attributes of html and body.
    whole = (
        f'<!DOCTYPE html><html lang="{locale}" dir="{direction}" xmlns="http://www.w3.org/1999/xhtml" '
        'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"><head>'
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="x-apple-disable-message-reformatting"><title>{title}</title>{_OFFICE}{styles}</head>'
        f'<body dir="{direction}"{style}>{hidden}'
        f'<div lang="{locale}" dir="{direction}">{page.body}</div></body></html>'
    )
    if len(whole) > _LONGEST:
        raise CompileError(
            f"the compiled mail has {len(whole)} characters, more than the {_LONGEST} that one may have; make it smaller"
        )
    return whole
