"""Compiles one locale of a version, from its sources to what rendering fills in."""

import html
import re

from tidings.notify.render.locales import direction_of
from tidings.notify.render.model import Direction
from tidings.notify.templates.compile import markup as tools
from tidings.notify.templates.compile.expressions import Expression, expressions, split
from tidings.notify.templates.compile.links import link_faults
from tidings.notify.templates.compile.restore import restore
from tidings.notify.templates.compile.text import text_of
from tidings.notify.templates.compile.tokens import Tokenised, tokenise, unused_salt, word_pattern
from tidings.notify.templates.errors import CompileError
from tidings.notify.templates.model import BodyFormat, Compiled, LinkPolicy, Source

#: Stand in the frame for what is no part of the body and is set in afterwards; no source can hold them.
_TITLE = "\x02"
_PREHEADER = "\x03"


def compile_source(source: Source, *, locale: str, links: LinkPolicy) -> Compiled:
    """The compiled form of a source; a `CompileError` says what is in the way."""
    direction = source.direction or ("rtl" if direction_of(locale) == "rtl" else "ltr")
    if source.format is BodyFormat.TEXT:
        return Compiled(direction=direction, subject=source.subject, html=None, text=source.body)
    if source.format is BodyFormat.JSON:
        raise CompileError("bodies in json can't be published yet; use text")
    body = _markdown(source.body) if source.format is BodyFormat.MARKDOWN else source.body
    return _compile_markup(source, body, locale, direction, links)


def _compile_markup(
    source: Source, body: str, locale: str, direction: Direction, links: LinkPolicy
) -> Compiled:
    if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", body):
        raise CompileError("the body holds control characters; take them away")
    mjml = source.format is BodyFormat.MJML
    tokenised = tokenise(body, mjml=mjml)
    _refuse_faults(body, tokenised, links)
    whole = tokenised.markup
    if mjml:
        # It sets styles into elements itself, and what it leaves in the head is meant to stay there.
        page = tools.finish(tools.compile_mjml(whole, locale=locale, direction=direction))
    else:
        page = tools.finish(tools.inline_styles(whole))
    framed = tools.frame(
        page,
        locale=locale,
        direction=direction,
        title=page.title or _TITLE,
        preheader=_PREHEADER if source.preheader else "",
    )
    whole = restore(framed, tokenised)
    whole = whole.replace(_TITLE, escaped(source.subject or ""), 1)
    whole = whole.replace(_PREHEADER, escaped(source.preheader or ""), 1)
    text = source.text if source.text is not None else text_of(page.body, tokenised)
    return Compiled(direction=direction, subject=source.subject, html=whole, text=text)


def _refuse_faults(body: str, tokenised: Tokenised, links: LinkPolicy) -> None:
    for expression in expressions(body):
        if expression.unescaped:
            raise CompileError(
                f"line {expression.line}: {expression.text} would print HTML as it comes; use two braces"
            )
    tools.refuse_unwanted(tokenised.markup)
    faults = link_faults(
        tokenised.markup, allowed=links.allowed, own_hosts=links.own_hosts, tokens=tokenised.pattern()
    )
    if found := "; ".join(faults):
        raise CompileError(found)


def _markdown(source: str) -> str:
    """Markdown as HTML, its expressions untouched; what stands between lines stays between elements."""
    from markdown_it import MarkdownIt

    salt = unused_salt(source)
    found: list[Expression] = []
    flat: list[str] = []
    for piece in split(source):
        if isinstance(piece, Expression):
            word = f"tk{salt}n{len(found)}e"
            flat.append(f"<!--{word}-->" if piece.kind == "block" else word)
            found.append(piece)
        else:
            flat.append(piece)
    written = str(MarkdownIt("commonmark", {"html": True}).enable("table").render("".join(flat)))
    words = word_pattern(salt).pattern
    return re.sub(rf"<!--{words}-->|{words}", lambda mark: found[int(mark[1] or mark[2])].text, written)


def escaped(source: str) -> str:
    """A text's source as markup: its texts escaped, its expressions as they are."""
    return "".join(
        piece.text if isinstance(piece, Expression) else html.escape(piece, quote=False)
        for piece in split(source)
    )
