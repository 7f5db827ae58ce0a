"""Sets layouts, partials and strings into a text, as they are written, before anything is compiled.

A partial that is called as it is becomes part of the text, so that a row of a table or a section of MJML is compiled
where it will stand. One that is given something becomes a block around it, in which that is known.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tidings.notify.templates.bundle.layout import strings_file
from tidings.notify.templates.compile.expressions import Expression, located
from tidings.notify.templates.errors import CompileError
from tidings.notify.templates.expand.arguments import QUOTED, Call, literal, read_call
from tidings.notify.templates.expand.mapped import Lines, MappedPiece, MappedText, Place
from tidings.notify.templates.expand.strings import Into, Strings, as_value, set_in
from tidings.notify.templates.faults import Fault

#: How a layout says where the body goes.
BODY: Final = "body"

# Possessive: a text without its end must not be tried in every way there is.
_INNER_STRING: Final = re.compile(rf"\(\s*+(t\s++(?:{QUOTED})[^()]*+)\)")
_INLINE: Final = re.compile(r"\{\{~?\s*#\*\s*inline\s+[\"']([^\"']+)[\"']")
#: What publishing writes itself, and no author may.
_OURS: Final = "tidings_"
#: Texts within texts; beyond it somebody means harm.
_LARGEST: Final = 600_000
_MOST_FAULTS: Final = 100


@dataclass(frozen=True, slots=True)
class Shared:
    """What the texts of a version can call."""

    #: By name: its text, and where it was written.
    partials: Mapping[str, tuple[str, Place]]
    strings: Strings
    #: Of the template, in the layout of the files.
    folder: str


@dataclass(slots=True)
class Found:
    """What was noticed on the way, each with its place."""

    faults: list[tuple[Place, Fault]] = field(default_factory=list)
    #: The partials and strings that were used.
    partials: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)


def expand(
    text: str,
    place: Place,
    shared: Shared,
    found: Found,
    *,
    into: Into,
    layout: tuple[str, Place] | None = None,
) -> MappedText:
    """The text with everything in it that it calls; what it calls in vain is left out and noted."""
    walk = _Expansion(shared, found, into)
    if layout is None:
        return MappedText(walk.pieces(text, place, ()), place)
    walk.body = (text, place)
    made = list(walk.pieces(layout[0], layout[1], ()))
    if not walk.body_used:
        found.faults.append(
            (
                Place(layout[1].file, layout[1].field),
                Fault("the layout has no place for the body", "write {{> body}} where it goes"),
            )
        )
    return MappedText(made, place)


class _Expansion:
    def __init__(self, shared: Shared, found: Found, into: Into) -> None:
        self._shared = shared
        self._found = found
        self._into: Into = into
        self._size = 0
        self.body: tuple[str, Place] | None = None
        self.body_used = False

    def pieces(self, text: str, place: Place, calls: tuple[str, ...]) -> Iterator[MappedPiece]:
        """The pieces of one text."""
        if not self._has_room(text, place):
            return
        lines = Lines(text)
        try:
            found = list(located(text))
        except CompileError as error:
            for fault in error.faults:
                self._note(_at(place, (fault.line or 1, None)), fault)
            return
        inline = set(_INLINE.findall(text))
        skip = False
        for start, piece in found:
            if isinstance(piece, str):
                shown = _after_alone(piece) if skip else piece
                here = _at(place, lines.at(start + len(piece) - len(shown)))
                yield MappedPiece(shown, here, whole=place.line is None)
                skip = False
                continue
            here = _at(place, lines.at(start))
            if _OURS in piece.text:
                self._note(here, Fault(f"names that begin with {_OURS} are taken", "choose another name"))
                continue
            call = _inside(piece.text, ">")
            if call and not self._is_inline(call.text, inline):
                yield from self._partial(call, here, calls)
                skip = _stands_alone(text, start, start + len(piece.text))
            else:
                yield from self._expression(piece, here)
                skip = False

    def _has_room(self, text: str, place: Place) -> bool:
        self._size += len(text)
        if self._size > _LARGEST:
            what = "the text with its partials and strings is too large"
            self._note(Place(place.file, place.field, place.locale), Fault(what, "call fewer of them"))
        return self._size <= _LARGEST

    def _is_inline(self, inside: str, inline: set[str]) -> bool:
        call = read_call(inside)
        return call is None or (literal(call.name) or call.name) in inline

    def _partial(self, found: "_Inside", here: Place, calls: tuple[str, ...]) -> Iterator[MappedPiece]:
        call = read_call(found.text)
        assert call is not None  # noqa: S101
        name = literal(call.name) or call.name
        known = self._text_of(name, calls)
        if name in calls:
            self._note(here, Fault(f"the partial {name} calls itself", "write the inner part out"))
            return
        if known is None:
            self._note(
                here,
                Fault(
                    f"there is no partial {name}",
                    f"add partials/{name}.hbs, or make a layout of that name, or define it in the same text "
                    'with {{#*inline "name"}}',
                ),
            )
            return
        self._found.partials.add(name)
        given = call.values or call.named
        if not given and not found.left and not found.right:
            yield from self.pieces(*known, (*calls, name))
            return
        context = call.values[0] if call.values else "this"
        opening = f"{{{{{found.left}#tidings_scope {context}{' ' if call.named else ''}{call.names}}}}}"
        yield MappedPiece(opening, here, whole=True)
        yield from self.pieces(*known, (*calls, name))
        yield MappedPiece(f"{{{{/tidings_scope{found.right}}}}}", here, whole=True)

    def _text_of(self, name: str, calls: tuple[str, ...]) -> tuple[str, Place] | None:
        if name == BODY and self.body is not None and not calls:
            self.body_used = True
            return self.body
        return self._shared.partials.get(name)

    def _expression(self, piece: Expression, here: Place) -> Iterator[MappedPiece]:
        found = _inside(piece.text, "") if piece.kind == "value" else None
        call = read_call(found.text) if found and found.text.startswith("t") else None
        if call and call.name == "t" and call.values:
            yield from self._string(call, here)
            return
        text = _INNER_STRING.sub(lambda inner: self._inner_string(inner, here), piece.text)
        yield MappedPiece(text, here, whole=text != piece.text or here.line is None)

    def _string(self, call: Call, here: Place) -> Iterator[MappedPiece]:
        known = self._known_string(call, here)
        if known is None:
            return
        locale, text = known
        place = Place(
            f"{self._shared.folder}/{strings_file(locale)}",
            f"strings.{locale}.{literal(call.values[0])}",
            locale,
        )
        if not self._has_room(text, here):
            return
        try:
            yield MappedPiece(set_in(text, call, self._into), place, whole=True)
        except CompileError as error:
            for fault in error.faults:
                self._note(place, fault)

    def _inner_string(self, inner: re.Match[str], here: Place) -> str:
        call = read_call(inner[1])
        known = self._known_string(call, here) if call else None
        if known is None or call is None:
            return '""'
        value = as_value(known[1]) if not call.named else None
        if value is None:
            self._note(
                here,
                Fault(
                    f"the string {literal(call.values[0])} holds expressions and can't stand inside another one",
                    "print it by itself: {{t …}}",
                ),
            )
            return '""'
        return value

    def _known_string(self, call: Call, here: Place) -> tuple[str, str] | None:
        name = literal(call.values[0]) if len(call.values) == 1 else None
        if name is None:
            self._note(here, Fault("t takes the name of one string, in quotes", 'write {{t "name"}}'))
            return None
        self._found.strings.add(name)
        known = self._shared.strings.find(name)
        if known is None:
            self._note(here, Fault(f"there is no string {name}", f'add "{name}" to strings.json'))
        return known

    def _note(self, place: Place, fault: Fault) -> None:
        if len(self._found.faults) < _MOST_FAULTS and (place, fault) not in self._found.faults:
            self._found.faults.append((place, fault))


@dataclass(frozen=True, slots=True)
class _Inside:
    """What stands between the braces, and whether it eats the blanks beside it."""

    text: str
    left: str
    right: str


def _inside(expression: str, sign: str) -> _Inside | None:
    """The inside of an expression that begins with this sign; None for others."""
    if not expression.startswith("{{") or expression.startswith(("{{{", "{{&")):
        return None
    inner = expression[2:-2]
    left, right = "~" if inner.startswith("~") else "", "~" if inner.endswith("~") else ""
    inner = inner[len(left) : len(inner) - len(right)].strip()
    return _Inside(inner[len(sign) :].strip(), left, right) if inner.startswith(sign) else None


def _at(place: Place, found: tuple[int, int | None]) -> Place:
    """The place of a line and a column in the text that begins at `place`."""
    if place.line is None:
        return place
    return Place(place.file, place.field, place.locale, *found)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a call has its line to itself; the line's end goes with it then, as Handlebars has it."""
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    while end < len(text) and text[end] in " \t\r":
        end += 1
    return (start == 0 or text[start - 1] == "\n") and (end == len(text) or text[end] == "\n")


def _after_alone(text: str) -> str:
    blank = re.match(r"[ \t]*\r?\n|[ \t]*\Z", text)
    return text[blank.end() :] if blank else text
