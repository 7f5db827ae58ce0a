"""Sets layouts, partials and strings into a text, as they are written, before anything is compiled.

A partial that is called as it is becomes part of the text, so that a row of a table or a section of MJML is compiled
where it will stand. One that is given something becomes a block around it, in which that is known.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Final

from tidings.notify.templates.bundle.layout import strings_file
from tidings.notify.templates.errors import CompileError
from tidings.notify.templates.expand.arguments import QUOTED, HelperCall, literal, read_call
from tidings.notify.templates.expand.blocks import SourcePiece
from tidings.notify.templates.expand.joining import joined
from tidings.notify.templates.expand.source_map import Lines, MappedPiece, MappedText, SourcePosition
from tidings.notify.templates.expand.strings import Into, TemplateStrings, as_value, set_in
from tidings.notify.templates.expand.whitespace import settled, settled_text
from tidings.notify.templates.faults import Fault

#: How a layout says where the body goes.
BODY: Final = "body"

# Possessive: a text without its end must not be tried in every way there is.
_INNER_STRING: Final = re.compile(rf"\(\s*+(t\s++(?:{QUOTED})[^()]*+)\)")
_INLINE: Final = re.compile(r"\{\{~?\s*#\*\s*inline\s+[\"']([^\"']+)[\"']")
_PARTIAL_NAME: Final = re.compile(r"[a-z][a-z0-9_-]*")
#: What publishing writes itself, and no author may.
_OURS: Final = "tidings_"
#: Texts within texts; beyond it the template is hostile.
_LARGEST: Final = 600_000
_MOST_FAULTS: Final = 100


@dataclass(frozen=True, slots=True)
class SharedTexts:
    """What the texts of a version can call."""

    #: By name: its text, and where it was written.
    partials: Mapping[str, tuple[str, SourcePosition]]
    strings: TemplateStrings
    #: Of the template, in the layout of the files.
    folder: str
    #: Whether the blanks that belong to tags are taken away now. Markdown needs its lines until it is HTML.
    tags: bool = True


@dataclass(slots=True)
class ExpansionNotes:
    """What was noticed on the way, each with its place."""

    faults: list[tuple[SourcePosition, Fault]] = field(default_factory=list)
    #: Whether a text could not be read, so that it is not known what it uses.
    broken: bool = False
    #: The partials and strings that were used.
    partials: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)


def expand(
    text: str,
    place: SourcePosition,
    shared: SharedTexts,
    found: ExpansionNotes,
    *,
    into: Into,
    layout: tuple[str, SourcePosition] | None = None,
) -> MappedText:
    """The text with everything in it that it calls; what it calls in vain is left out and noted."""
    walk = _Expansion(shared, found, into)
    if layout is None:
        return MappedText(joined(walk.pieces(text, place, ()), into), place)
    walk.body = (text, place)
    made = list(walk.pieces(layout[0], layout[1], ()))
    if not walk.body_used and not found.broken:
        found.faults.append(
            (
                SourcePosition(layout[1].file, layout[1].field),
                Fault("the layout has no place for the body", "write {{> body}} where it goes"),
            )
        )
    return MappedText(joined(made, into), place)


class _Expansion:
    def __init__(self, shared: SharedTexts, found: ExpansionNotes, into: Into) -> None:
        self._shared = shared
        self._found = found
        self._into: Into = into
        self._size = 0
        self.body: tuple[str, SourcePosition] | None = None
        self.body_used = False

    def pieces(
        self, text: str, place: SourcePosition, calls: tuple[str, ...], inline: frozenset[str] = frozenset()
    ) -> Iterator[MappedPiece]:
        """The pieces of one text; `inline`: the partials that the texts around it define."""
        if not self._has_room(text, place):
            return
        lines = Lines(text)
        try:
            found = settled(text, lines, tags=self._shared.tags)
        except CompileError as error:
            self._found.broken = True
            for fault in error.faults:
                self._note(_at(place, (fault.line or 1, fault.column)), fault)
            return
        inline |= set(_INLINE.findall(text))
        for piece, following in zip_longest(found, found[1:]):
            here = _at(place, lines.at(piece.start))
            if piece.sort == "text":
                # Two backslashes before braces print one; whether braces follow is known when all is set in.
                doubled = piece.shown.endswith("\\\\") and following is not None and following.sort != "text"
                begins = _at(place, lines.at(piece.start + piece.skipped))
                shown = piece.shown[:-1] if doubled else piece.shown
                yield MappedPiece(shown, begins, whole=place.line is None)
            elif piece.sort == "comment":
                continue
            elif _OURS in piece.written:
                self._note(here, Fault(f"names that begin with {_OURS} are taken", "choose another name"))
            elif (call := _inside(piece.written, ">")) and not self._is_inline(call, inline):
                yield from self._partial(call, here, calls, inline)
            else:
                yield from self._expression(piece, here)

    def _has_room(self, text: str, place: SourcePosition) -> bool:
        self._size += len(text)
        if self._size > _LARGEST:
            what = "the text with its partials and strings is too large"
            self._note(
                SourcePosition(place.file, place.field, place.locale), Fault(what, "call fewer of them")
            )
        return self._size <= _LARGEST

    def _is_inline(self, inside: str, inline: frozenset[str]) -> bool:
        call = read_call(inside)
        return call is None or (literal(call.name) or call.name) in inline

    def _partial(
        self, inside: str, here: SourcePosition, calls: tuple[str, ...], inline: frozenset[str]
    ) -> Iterator[MappedPiece]:
        call = read_call(inside)
        assert call is not None  # noqa: S101
        name = literal(call.name) or call.name
        known = self._text_of(name, calls)
        if name in calls:
            self._note(here, Fault(f"the partial {name} calls itself", "write the inner part out"))
            return
        if known is None:
            self._note(here, _no_partial(name))
            return
        self._found.partials.add(name)
        if len(call.values) > 1:
            how = f"write {{{{> {name} {call.values[0]}}}}}, and give the others names: b={call.values[1]}"
            self._note(here, Fault(f"the partial {name} takes one value and any number of named ones", how))
            return
        if not call.values and not call.named:
            yield from self.pieces(*known, (*calls, name), inline)
            return
        context = call.values[0] if call.values else "this"
        opening = f"{{{{#tidings_scope {context}{' ' if call.named else ''}{call.names}}}}}"
        yield MappedPiece(opening, here, whole=True)
        yield from self.pieces(*known, (*calls, name), inline)
        yield MappedPiece("{{/tidings_scope}}", here, whole=True)

    def _text_of(self, name: str, calls: tuple[str, ...]) -> tuple[str, SourcePosition] | None:
        if name == BODY and self.body is not None and not calls:
            self.body_used = True
            return self.body
        return self._shared.partials.get(name)

    def _expression(self, piece: SourcePiece, here: SourcePosition) -> Iterator[MappedPiece]:
        inside = _inside(piece.written, "") if piece.sort == "value" else None
        call = read_call(inside) if inside and inside.startswith("t") else None
        if call and call.name == "t" and call.values:
            yield from self._string(call, here)
            return
        text = _INNER_STRING.sub(lambda inner: self._inner_string(inner, here), piece.written)
        if text != piece.written or here.line is None:
            made = replace(piece, written=text)
            yield MappedPiece(made.bare if self._shared.tags else text, here, whole=True)
        elif self._shared.tags and piece.strips_left:
            # The blanks are gone; what follows the tilde keeps its column.
            yield MappedPiece("{{", here)
            column = None if here.column is None else here.column + 3
            yield MappedPiece(piece.bare[2:], replace(here, column=column))
        else:
            yield MappedPiece(piece.bare if self._shared.tags else text, here)

    def _string(self, call: HelperCall, here: SourcePosition) -> Iterator[MappedPiece]:
        known = self._known_string(call, here)
        if known is None:
            return
        locale, text = known
        place = SourcePosition(
            f"{self._shared.folder}/{strings_file(locale)}",
            f"strings.{locale}.{literal(call.values[0])}",
            locale,
        )
        if not self._has_room(text, here):
            return
        try:
            yield MappedPiece(
                set_in(settled_text(text, tags=self._shared.tags), call, self._into), place, whole=True
            )
        except CompileError as error:
            for fault in error.faults:
                self._note(place, fault)

    def _inner_string(self, inner: re.Match[str], here: SourcePosition) -> str:
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

    def _known_string(self, call: HelperCall, here: SourcePosition) -> tuple[str, str] | None:
        name = literal(call.values[0]) if len(call.values) == 1 else None
        if name is None:
            self._note(here, Fault("t takes the name of one string, in quotes", 'write {{t "name"}}'))
            return None
        self._found.strings.add(name)
        known = self._shared.strings.find(name)
        if known is None:
            self._note(here, Fault(f"there is no string {name}", f'add "{name}" to strings.json'))
        return known

    def _note(self, place: SourcePosition, fault: Fault) -> None:
        if len(self._found.faults) < _MOST_FAULTS and (place, fault) not in self._found.faults:
            self._found.faults.append((place, fault))


def _inside(expression: str, sign: str) -> str | None:
    """The inside of an expression that begins with this sign; None for others."""
    if not expression.startswith("{{") or expression.startswith(("{{{", "{{&")):
        return None
    inner = expression[2:-2].removeprefix("~").removesuffix("~").strip()
    return inner[len(sign) :].strip() if inner.startswith(sign) else None


def _no_partial(name: str) -> Fault:
    if name.startswith("("):
        how = "write a call for each, each in a condition: {{#if a}}{{> one}}{{else}}{{> other}}{{/if}}"
        return Fault("the name of a partial can't be computed", how)
    if name.startswith("@"):
        how = "give the text to the partial as a value, or make a layout that says {{> body}}"
        return Fault(f"{name} is not supported", how)
    if not _PARTIAL_NAME.fullmatch(name):
        how = "it has lower-case letters, digits, _ and - and begins with a letter: {{> order_row}}"
        return Fault(f"{name} can't be the name of a partial", how)
    return Fault(
        f"there is no partial {name}",
        f"add partials/{name}.hbs, or make a layout of that name, or define it in the same text "
        'with {{#*inline "name"}}',
    )


def _at(place: SourcePosition, found: tuple[int, int | None]) -> SourcePosition:
    """The place of a line and a column in the text that begins at `place`."""
    if place.line is None:
        return place
    return SourcePosition(place.file, place.field, place.locale, *found)
