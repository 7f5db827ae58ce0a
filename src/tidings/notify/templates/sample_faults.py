"""Where a text fails that could be compiled: the expression that a sample's values don't suit, the place where JSON breaks."""

import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from msgspec import structs

from tidings.notify.render.model import Content, Rendered, RenderFailed, RenderJob
from tidings.notify.templates.assemble import AssembledTexts
from tidings.notify.templates.compile.expressions import HandlebarsExpression, located
from tidings.notify.templates.expand.source_map import Lines, MappedText, SourcePosition
from tidings.notify.templates.model import BodyFormat
from tidings.notify.templates.tools import Tools

#: Contents whose keys begin so are rendered to find a place: a helper that refuses its value says where it stands.
_PLACED: Final = "placed/"
_AT: Final = re.compile(r"([0-9]+):([0-9]+)")
# Characters that no honest text holds; between them stands where the text that follows was written.
_MARK: Final = re.compile("\ue000([tx])([0-9]+)\ue001")
_BROKEN: Final[Mapping[str, str]] = {
    "Expecting ',' delimiter": "a comma is missing, or a bracket",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting property name enclosed in double quotes": "a name in double quotes is missing, or there is a comma too many",
    "Expecting value": "a value is missing, because of a comma too many or of a text without quotes",
    "Illegal trailing comma before end of object": "there is a comma too many",
    "Illegal trailing comma before end of array": "there is a comma too many",
    "Unterminated string starting at": "a text is not closed by a quotation mark",
    "Invalid control character at": "a line break or a tab stands in a text",
    "Extra data": "something follows after the end",
}


#: What to do, by what the helpers say.
_REMEDIES: Final = (
    (re.compile(r"plural needs other="), 'write the words for all other counts too: other="# items"'),
    (re.compile(r"knows the styles?"), "write one of these in quotes, or leave it out"),
    (
        re.compile(r"the JSON is broken"),
        "correct the text there; a blank has to stand between an expression and a brace",
    ),
    (re.compile(r"takes 1 to [0-9]+ values"), "take the others away"),
    (
        re.compile(r"(?:needs|must be)\b"),
        "give it such a value in the sample, or print the value without the helper",
    ),
)


def remedy_of(why: str) -> str | None:
    """What to do about a helper's refusal; None where it is not known."""
    return next((how for pattern, how in _REMEDIES if pattern.search(why)), None)


@dataclass(frozen=True, slots=True)
class FailingExpression:
    """Where it fails, and why."""

    place: SourcePosition
    why: str


def failing_at(
    tools: Tools, made: AssembledTexts, job: RenderJob, failed: RenderFailed
) -> FailingExpression | None:
    """Where a job fails; None where that can't be known, as with a text that runs too long."""
    if failed.place or failed.code not in ("bad_value", "link_not_allowed"):
        return None
    texts = list(made.texts.values())
    jobs = [
        structs.replace(job, content=_content(job, text.text, number)) for number, text in enumerate(texts)
    ]
    for text, result in zip(texts, tools.render(jobs), strict=True):
        if isinstance(result, RenderFailed) and (at := _AT.fullmatch(result.place)):
            return FailingExpression(text.place_of(int(at[1]), int(at[2])), result.detail)
    if made.source.format is BodyFormat.JSON:
        return _broken_json(tools, made.texts["body"], job)
    return None


def _content(job: RenderJob, text: str, number: int) -> Content:
    content = job.content
    key = f"{_PLACED}{content.key}/{number}/{hash(text)}"
    return Content(
        key=key, locale=content.locale, direction=content.direction, subject=None, html=None, text=text
    )


def _broken_json(tools: Tools, body: MappedText, job: RenderJob) -> FailingExpression | None:
    marked = "".join(
        f"\ue000x{start}\ue001{{{{#tidings_json}}}}{piece.text}{{{{/tidings_json}}}}"
        if isinstance(piece, HandlebarsExpression) and piece.kind == "value"
        else piece.text
        if isinstance(piece, HandlebarsExpression)
        else f"\ue000t{start}\ue001{piece}"
        for start, piece in located(body.text)
    )
    (result,) = tools.render([structs.replace(job, content=_content(job, marked, -1))])
    if not isinstance(result, Rendered) or result.text is None:
        return None
    clean, begins, written = "", [0], [(True, 0)]
    at = 0
    for mark in _MARK.finditer(result.text):
        clean += result.text[at : mark.start()]
        begins.append(len(clean))
        written.append((mark[1] == "t", int(mark[2])))
        at = mark.end()
    clean += result.text[at:]
    try:
        json.loads(clean)
    except json.JSONDecodeError as error:
        # At its end nothing follows: the last piece is meant.
        index = bisect_right(begins, error.pos) - 1
        is_text, start = written[index]
        line, column = Lines(body.text).at(start + (error.pos - begins[index] if is_text else 0))
        return FailingExpression(
            body.place_of(line, column), f"the JSON is broken: {_BROKEN.get(error.msg, error.msg)}"
        )
    return None
