"""What `{{t "name"}}` prints: a string of the version, with the values it was given set in."""

import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from tidings.notify.templates.compile.expressions import HandlebarsExpression, split
from tidings.notify.templates.expand.arguments import BEGUN, HelperCall, literal

#: What a string is set into: markup, JSON, or nothing in particular.
Into = Literal["markup", "json", "text"]

_WORD: Final = re.compile(rf"{BEGUN}|@[\w.]+|(?:\.\./|\./)[\w./]+|[\w-]+=|[A-Za-z_][\w-]*(?:\.[\w.-]+)?")
_PLAIN: Final = re.compile(r"\{\{(~?)\s*([A-Za-z_][\w-]*)\s*(~?)\}\}")


class TemplateStrings:
    """The strings that a text in one language can use: its own, then those of the languages it falls back to."""

    def __init__(self, strings: Mapping[str, Mapping[str, str]], order: Sequence[str]) -> None:
        known = {tag.lower(): tag for tag in strings}
        tags = dict.fromkeys(known[tag.lower()] for tag in order if tag.lower() in known)
        self._order = [(tag, strings[tag]) for tag in tags]
        self._tags = order

    def find(self, name: str) -> tuple[str, str] | None:
        """The locale and the text of a string."""
        return next(((tag, texts[name]) for tag, texts in self._order if name in texts), None)

    def names(self) -> set[str]:
        """Every name that is known."""
        return {name for _, texts in self._order for name in texts}


def set_in(text: str, call: HelperCall, into: Into) -> str:
    """The string as a piece of a source, with the call's values in the place of their names."""
    say = _SAYING[into]
    given = dict(call.named)
    return "".join(
        _filled(piece.text, given, say) if isinstance(piece, HandlebarsExpression) else say(piece)
        for piece in split(text)
    )


def as_value(text: str) -> str | None:
    """The string as a text in quotes, for use inside another expression; None where it has expressions itself."""
    if any(isinstance(piece, HandlebarsExpression) for piece in split(text)):
        return None
    return '"' + text.replace('"', '\\"') + '"'


def _filled(expression: str, given: Mapping[str, str], say: Callable[[str], str]) -> str:
    alone = _PLAIN.fullmatch(expression)
    if alone and alone[2] in given:
        value = given[alone[2]]
        said = literal(value)
        if said is not None:
            return say(said)
        inside = value[1:-1] if value.startswith("(") else value
        return f"{{{{{alone[1]}{inside}{alone[3]}}}}}"
    return _WORD.sub(lambda word: _value(word[0], given), expression)


def _value(word: str, given: Mapping[str, str]) -> str:
    name, dot, rest = word.partition(".")
    value = given.get(name)
    if value is None or (dot and (literal(value) is not None or value.startswith("("))):
        return word
    return f"{value}.{rest}" if dot else value


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _same(text: str) -> str:
    return text


_SAYING: Final[Mapping[Into, Callable[[str], str]]] = {
    "markup": lambda text: html.escape(text, quote=True),
    "json": _json,
    "text": _same,
}
