"""Compiles one locale of a version, from its sources to what rendering fills in."""

import html
import json
import re
from itertools import islice
from typing import Final

import msgspec

from tidings.notify.render.locales import direction_of
from tidings.notify.render.model import Direction
from tidings.notify.templates.compile import markup as tools
from tidings.notify.templates.compile.compiled_links import compiled_link_faults
from tidings.notify.templates.compile.expressions import HandlebarsExpression, expressions, located, split
from tidings.notify.templates.compile.links import link_faults
from tidings.notify.templates.compile.mjml_check import mjml_faults
from tidings.notify.templates.compile.mjml_form import form_faults
from tidings.notify.templates.compile.nesting import nesting_faults
from tidings.notify.templates.compile.restore import restore
from tidings.notify.templates.compile.text import text_of
from tidings.notify.templates.compile.tokens import (
    TokenisedSource,
    Where,
    tokenise,
    unused_salt,
    word_pattern,
)
from tidings.notify.templates.errors import CompileError
from tidings.notify.templates.faults import Fault
from tidings.notify.templates.model import BodyFormat, Compiled, LinkPolicy, Source, WhatsappReference

#: Stand in the frame for what is no part of the body and is set in afterwards; no source can hold them.
_TITLE = "\x02"
_PREHEADER = "\x03"
#: Stands for a character of an expression; of a kind that no honest source holds.
_BLOT: Final = "\ue000"
MASKED: Final = re.compile(_BLOT)
#: Of one kind; who mends these sees the others next.
_MOST_FAULTS: Final = 50


def compile_source(source: Source, *, locale: str, links: LinkPolicy, where: Where | None = None) -> Compiled:
    """The compiled form of a source; a `CompileError` says what is in the way."""
    direction = source.direction or ("rtl" if direction_of(locale) == "rtl" else "ltr")
    if source.format in (BodyFormat.TEXT, BodyFormat.JSON):
        body = json_document(source.body) if source.format is BodyFormat.JSON else source.body
        return Compiled(
            direction=direction,
            subject=source.subject,
            html=None,
            text=body,
            whatsapp=None if source.whatsapp is None else whatsapp_document(source.whatsapp),
        )
    body = markdown_html(source.body) if source.format is BodyFormat.MARKDOWN else source.body
    return _compile_markup(source, body, locale, direction, links=links, where=where)


def _compile_markup(
    source: Source, body: str, locale: str, direction: Direction, *, links: LinkPolicy, where: Where | None
) -> Compiled:
    if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", body):
        raise CompileError("the body holds control characters; take them away")
    mjml = source.format is BodyFormat.MJML
    tokenised = _tokenised(body, links, mjml=mjml)
    tokenised.where = where
    whole = tokenised.markup
    if mjml:
        # It sets styles into elements itself, and what it leaves in the head is meant to stay there.
        page = tools.finish(tools.compile_mjml(whole, locale=locale, direction=direction), mjml=True)
    else:
        page = tools.finish(tools.inline_styles(whole))
    framed = tools.frame(
        page,
        locale=locale,
        direction=direction,
        title=page.title or _TITLE,
        preheader=_PREHEADER if source.preheader else "",
    )
    faults = list(compiled_link_faults(framed, source=masked(body), links=links, tokens=tokenised.pattern()))
    if faults:
        raise CompileError(faults=faults[:_MOST_FAULTS])
    whole = restore(framed, tokenised)
    whole = whole.replace(_TITLE, escaped(source.subject or ""), 1)
    whole = whole.replace(_PREHEADER, escaped(source.preheader or ""), 1)
    text = source.text if source.text is not None else text_of(page.body, tokenised)
    return Compiled(direction=direction, subject=source.subject, html=whole, text=text)


def _tokenised(body: str, links: LinkPolicy, *, mjml: bool) -> TokenisedSource:
    """The body with tokens in it; everything that is wrong with it is named at once."""
    faults = [
        Fault(
            f"{found.text} would print HTML as it comes",
            "use two braces",
            line=found.line,
            column=found.column,
        )
        for found in expressions(body)
        if found.unescaped
    ]
    shape = masked(body)
    faults += islice(nesting_faults(shape, mjml=mjml), _MOST_FAULTS)
    if mjml:
        broken = form_faults(shape)
        # What can't be read is not looked at any further.
        faults += broken or islice(mjml_faults(shape, tokens=MASKED), _MOST_FAULTS)
    faults += tools.unwanted(shape)
    faults += islice(link_faults(shape, links=links, tokens=MASKED), _MOST_FAULTS)
    tokenised = None
    try:
        tokenised = tokenise(body, mjml=mjml)
    except CompileError as error:
        known = {fault.what for fault in faults}
        faults += (fault for fault in error.faults if fault.what not in known)
    if faults or tokenised is None:
        raise CompileError(faults=faults)
    return tokenised


def masked(body: str) -> str:
    """The markup with every expression blotted out, each line as long as it was."""
    out: list[str] = []
    at = 0
    for start, piece in located(body):
        out.append(re.sub(r"[^\n]", " ", body[at:start]))
        is_expression = isinstance(piece, HandlebarsExpression)
        written = piece.text if isinstance(piece, HandlebarsExpression) else piece
        out.append(re.sub(r"[^\n]", _BLOT, written) if is_expression else written)
        at = start + len(written)
    return "".join(out)


def json_document(source: str) -> str:
    """A JSON body whose values can't break it, and which is known to be JSON when they are in it."""
    filled = "".join(
        f"{{{{#tidings_json}}}}{piece.text}{{{{/tidings_json}}}}"
        if isinstance(piece, HandlebarsExpression) and piece.kind == "value"
        else piece.text
        if isinstance(piece, HandlebarsExpression)
        else piece
        for piece in split(source)
    )
    return f"{{{{#tidings_document}}}}{filled}{{{{/tidings_document}}}}"


def whatsapp_document(reference: WhatsappReference) -> str:
    """The reference as JSON, its values to be filled; what it does not have is left out."""
    whole = msgspec.to_builtins(reference)
    kept = {
        name: value
        for name, value in whole.items()
        if name == "parameters" or value not in (None, [], {}, ())
    }
    return json_document(_json(kept))


def _json(value: object) -> str:
    """JSON whose texts are Handlebars: their expressions stay as they are."""
    match value:
        case str():
            pieces = (
                piece.text
                if isinstance(piece, HandlebarsExpression)
                else json.dumps(piece, ensure_ascii=False)[1:-1]
                for piece in split(value)
            )
            return f'"{"".join(pieces)}"'
        case dict():
            inner = (f"{json.dumps(name)}:{_json(one)}" for name, one in value.items() if one is not None)
            return f"{{{','.join(inner)}}}"
        case list() | tuple():
            return f"[{','.join(_json(one) for one in value)}]"
    return json.dumps(value)


def markdown_html(source: str) -> str:
    """Markdown as HTML, its expressions untouched; what stands between lines stays between elements."""
    from markdown_it import MarkdownIt

    # Lines and cells are elements afterwards; to read more of them takes seconds.
    if max(source.count("\n"), source.count("|")) > tools.MOST_ELEMENTS:
        raise CompileError(
            f"the Markdown has more than {tools.MOST_ELEMENTS} lines or cells; make it shorter"
        )
    salt = unused_salt(source)
    found: list[HandlebarsExpression] = []
    flat: list[str] = []
    for piece in split(source):
        if isinstance(piece, HandlebarsExpression):
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
        piece.text if isinstance(piece, HandlebarsExpression) else html.escape(piece, quote=False)
        for piece in split(source)
    )
