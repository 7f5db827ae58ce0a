"""Problems of a text, beside the field and the line that they are about."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.html import NOTHING, Child, Html, el, filled, join
from tidings.backoffice.console.kit.marks import badge
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.templates.editor_form import PARTS, EditorFault, TypedVersion

_AROUND: Final = 36


def verdict(words: ConsoleStrings, faults: Sequence[EditorFault] | None) -> Html:
    """Whether it could be published; None: nobody has looked."""
    if faults is None:
        return el("p", words["templates.not_checked"], id="verdict", class_="note info", aria_live="polite")
    errors = sum(not one.is_warning for one in faults)
    warnings = len(faults) - errors
    if not faults:
        return el("p", words["templates.publishable"], id="verdict", class_="note good", aria_live="polite")
    tone, key = ("bad", "templates.faulty") if errors else ("info", "templates.with_warnings")
    text = filled(words[key], errors=str(errors), warnings=str(warnings))
    return el("p", text, id="verdict", class_=f"note {tone}", aria_live="polite")


def beside(
    words: ConsoleStrings, typed: TypedVersion, faults: Iterable[EditorFault], where: str, id_: str
) -> Html:
    """The faults of one field; an empty place where there is none, for those to come."""
    mine = [one for one in faults if one.field == where or one.field.startswith(f"{where}.")]
    text = _text_of(typed, where)
    return el("ul", [_line(words, one, text) for one in mine], id=id_, class_="faults", hidden=not mine)


def elsewhere(words: ConsoleStrings, faults: Iterable[EditorFault], shown: Sequence[str]) -> Html:
    """Faults of what is not on the page, such as a third language."""
    rest = [
        one
        for one in faults
        if not any(one.field == name or one.field.startswith(f"{name}.") for name in shown)
    ]
    items = [el("li", el("code", one.field, dir="ltr"), " ", _said(words, one)) for one in rest]
    return el("ul", items, id="other-faults", class_="faults", hidden=not rest)


def _line(words: ConsoleStrings, fault: EditorFault, text: str | None) -> Html:
    excerpt = NOTHING
    if fault.line is not None and text is not None:
        excerpt = _excerpt(text, fault.line, fault.column or 1)
    return el("li", _said(words, fault), excerpt)


def _said(words: ConsoleStrings, fault: EditorFault) -> Html:
    where: Child = None
    if fault.line is not None:
        place = (
            words["templates.line"]
            .replace("{line}", str(fault.line))
            .replace("{column}", str(fault.column or 1))
        )
        where = el("strong", place, ": ")
    tone = badge(words["templates.status.warning"], "warn") if fault.is_warning else None
    said = fault.what if not fault.how else f"{fault.what}; {fault.how}"
    return join(tone, " " if tone else None, where, el("span", said, dir="auto"))


def _excerpt(text: str, line: int, column: int) -> Html:
    """The line itself, with the place marked."""
    found = text.split("\n")
    if not 1 <= line <= len(found):
        return NOTHING
    whole = found[line - 1]
    place = min(max(column - 1, 0), max(len(whole) - 1, 0))
    start = max(place - _AROUND, 0)
    before, at, after = whole[start:place], whole[place : place + 1], whole[place + 1 : place + 1 + _AROUND]
    return el(
        "code", "…" if start else None, before, el("mark", at or " "), after, dir="ltr", class_="excerpt"
    )


def _text_of(typed: TypedVersion, where: str) -> str | None:
    if where in typed.unreadable:
        return typed.unreadable[where]
    if where in PARTS:
        return None
    parts = where.split(".")
    if len(parts) != 3:
        return None
    source: Mapping[str, Any] = typed.version["locales"].get(parts[1], {})
    text = source.get(parts[2])
    return text if isinstance(text, str) else None
