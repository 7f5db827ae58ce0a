"""Templates as Meta keeps them: what was registered, and what Meta says to a message that does not fill it.

The template `otp` is registered from the start, in every language: an authentication template with a code of one place in its
body and a button that copies it. Others are registered as at Meta, or are taken as they come.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

_PLACE: Final = re.compile(r"\{\{\s*([A-Za-z0-9_]+)\s*\}\}")
_BROKEN: Final = re.compile(r"[\n\r\t]| {5}")
_LONGEST_CODE: Final = 15
_MOST: Final = 1000
_FILES: Final = frozenset({"IMAGE", "VIDEO", "DOCUMENT"})
#: What buttons take, by the type with which they were registered.
_BUTTONS: Final = {"URL": "text", "COPY_CODE": "coupon_code", "OTP": "text"}


class Complaint(NamedTuple):
    """Why Meta refuses: its code, its title, what it says more."""

    code: int
    title: str
    details: str


class _Registered(NamedTuple):
    #: The names or numbers of the places.
    header: Sequence[str]
    body: Sequence[str]
    #: The header is a file.
    file: bool
    #: Place → type, of those that take something.
    buttons: Mapping[int, str]


_OTP: Final = _Registered((), ("1",), False, {0: "OTP"})


class RegisteredTemplates:
    """What one business has registered."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], _Registered] = OrderedDict()

    def register(self, given: Mapping[str, Any]) -> Complaint | None:
        """Keep one, approved at once."""
        name, language = given.get("name"), given.get("language")
        if not isinstance(name, str) or not isinstance(language, str) or not name or not language:
            return Complaint(100, "Invalid parameter", "name, language, category and components are required")
        self._known[name, language] = _registered(
            objects(given.get("components")), str(given.get("category", "")).upper()
        )
        while len(self._known) > _MOST:
            self._known.popitem(last=False)
        return None

    def complaint(self, content: Mapping[str, Any]) -> Complaint | None:
        """What Meta would say to this message; None: it is taken."""
        components = objects(content.get("components"))
        for place, component in enumerate(components):
            if (found := _value_complaint(component, place)) is not None:
                return found
        language = content.get("language")
        code = language.get("code", "") if isinstance(language, dict) else ""
        name = str(content.get("name", ""))
        known = self._known.get((name, str(code))) or (_OTP if name == "otp" else None)
        if known is not None:
            return next(_unfilled(known, components), None)
        if any(registered == name for registered, _ in self._known):
            return Complaint(
                132001,
                "Template name does not exist in the translation",
                f"template name ({name}) does not exist in {code}",
            )
        return None


def objects(value: object) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _registered(components: Sequence[Mapping[str, Any]], category: str) -> _Registered:
    by_type = {str(one.get("type", "")).upper(): one for one in components}
    header = by_type.get("HEADER", {})
    buttons: dict[int, str] = {}
    for place, button in enumerate(objects(by_type.get("BUTTONS", {}).get("buttons"))):
        kind = str(button.get("type", "")).upper()
        if kind in {"OTP", "COPY_CODE"} or (kind == "URL" and _PLACE.search(str(button.get("url", "")))):
            buttons[place] = kind
    body = _PLACE.findall(str(by_type.get("BODY", {}).get("text", "")))
    if category == "AUTHENTICATION":
        # Meta writes its text itself; the one place in it is the code.
        body = ["1"]
    return _Registered(
        header=_PLACE.findall(str(header.get("text", ""))),
        body=tuple(dict.fromkeys(body)),
        file=str(header.get("format", "")).upper() in _FILES,
        buttons=buttons,
    )


def _value_complaint(component: Mapping[str, Any], place: int) -> Complaint | None:
    for number, parameter in enumerate(objects(component.get("parameters"))):
        kind = str(parameter.get("type", ""))
        value = parameter.get(kind)
        where = f"components[{place}]['parameters'][{number}]"
        if not value:
            return Complaint(
                131008,
                "Required parameter is missing",
                f"{where}: Parameter of type {kind:.20} is missing {kind:.20} value",
            )
        if kind == "text" and _BROKEN.search(str(value)):
            return Complaint(
                132018,
                "There was an issue with the parameters",
                f"{where}: Param text cannot have new-line/tab characters or more than 4 consecutive spaces",
            )
    return None


def _unfilled(known: _Registered, components: Sequence[Mapping[str, Any]]) -> Iterator[Complaint]:
    header, body = ([*_parameters(components, kind)] for kind in ("header", "body"))
    for part, wanted, given in (
        ("header", len(known.header) + known.file, header),
        ("body", len(known.body), body),
    ):
        if len(given) != wanted:
            yield Complaint(
                132000,
                "Number of parameters does not match the expected number of params",
                f"{part}: number of localizable_params ({len(given)}) does not match the expected number of params ({wanted})",
            )
    named = {name for name in known.body if not name.isdecimal()}
    if named and named != {one.get("parameter_name") for one in body}:
        yield Complaint(100, "Invalid parameter", "body: Parameter name is missing or empty")
    for place, kind in known.buttons.items():
        filled = [
            parameter.get(_BUTTONS[kind])
            for one in components
            if one.get("type") == "button" and str(one.get("index")) == str(place)
            for parameter in objects(one.get("parameters"))
        ]
        if not any(filled):
            yield Complaint(
                131008,
                "Required parameter is missing",
                f"buttons: Button at index {place} of type {'Url' if kind != 'COPY_CODE' else kind} requires a parameter",
            )
        elif kind == "OTP" and len(str(filled[0])) > _LONGEST_CODE:
            yield Complaint(
                131009,
                "Parameter value is not valid",
                f"buttons: the code is longer than {_LONGEST_CODE} characters",
            )


def _parameters(components: Sequence[Mapping[str, Any]], kind: str) -> Iterator[dict[str, Any]]:
    for one in components:
        if str(one.get("type", "")).lower() == kind:
            yield from objects(one.get("parameters"))
