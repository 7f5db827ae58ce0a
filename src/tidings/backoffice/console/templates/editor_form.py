"""What an editor's form says, as the API takes it: texts of two locales side by side, and the JSON around them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

SIDES: Final = ("left", "right")
#: Fields of a locale, by channel; the others have the body alone.
TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "email": ("subject", "preheader", "body", "text"),
    "inapp": ("subject", "body"),
    "push": ("subject", "body"),
    "whatsapp": ("body", "whatsapp"),
}
FORMATS: Final[Mapping[str, tuple[str, ...]]] = {
    "email": ("html", "mjml", "markdown", "text"),
    "inapp": ("json", "text"),
    "push": ("json", "text"),
    "webhook": ("json", "text"),
}
#: What the API leaves out where it is so.
USUAL_FORMAT: Final = "text"
#: Fields of the whole version that are written as JSON.
PARTS: Final = ("variables_schema", "preview_samples", "strings", "partials")


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorFault:
    """Something that is wrong, and where."""

    #: As the API names it: `locales.fa-AF.body`, `preview_samples`.
    field: str
    what: str
    how: str = ""
    line: int | None = None
    column: int | None = None
    is_warning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedVersion:
    """A version as it is in the form."""

    #: The stored version with what was typed over it.
    version: Mapping[str, Any]
    #: What differs, as the API takes it in `changes` and in PATCH.
    changes: Mapping[str, Any] = field(default_factory=dict)
    #: JSON that can't be read, as it was typed, by its field.
    unreadable: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[EditorFault, ...] = ()


def texts_of(channel: str) -> tuple[str, ...]:
    """The fields of a locale on this channel."""
    return TEXTS.get(channel, ("body",))


def formats_of(channel: str) -> tuple[str, ...]:
    """The formats of a body on this channel, the usual one first."""
    return FORMATS.get(channel, ("text",))


def sides_of(version: Mapping[str, Any], query: Mapping[str, str], default_locale: str) -> tuple[str, ...]:
    """The locales that stand side by side: those that are asked for, or the default one beside one that is read the other way."""
    known = list(version["locales"])
    left = query.get("left") or (default_locale if default_locale in known else known[0])
    if asked := query.get("right"):
        return (left,) if asked == left else (left, asked)
    others = [tag for tag in known if tag != left]
    others.sort(key=lambda tag: (is_rtl(tag, version) == is_rtl(left, version), known.index(tag)))
    return (left, *others[:1])


def is_rtl(tag: str, version: Mapping[str, Any]) -> bool:
    """Whether a locale is read from right to left."""
    from babel import Locale, UnknownLocaleError

    said = version["locales"].get(tag, {}).get("direction")
    if said:
        return bool(said == "rtl")
    try:
        return bool(Locale.parse(tag, sep="-").text_direction == "rtl")
    except (UnknownLocaleError, ValueError):
        return tag.partition("-")[0] in ("ps", "ku", "ur", "ug", "sd", "dv", "yi")


def read_form(version: Mapping[str, Any], channel: str, fields: Mapping[str, str]) -> TypedVersion:
    """What was typed over the stored version; JSON that can't be read is a fault at its field."""
    faults: list[EditorFault] = []
    unreadable: dict[str, str] = {}

    def parsed(where: str, text: str, stored: Any) -> Any:
        try:
            return json.loads(text) if text.strip() else None
        except ValueError as error:
            unreadable[where] = text
            faults.append(_unreadable(where, error))
            return stored

    locales: dict[str, Any] = {}
    for side in SIDES:
        tag, body = fields.get(side, ""), fields.get(f"{side}-body")
        if not tag or body is None:
            continue
        source = dict(version["locales"].get(tag, {}))
        for name in texts_of(channel):
            text = lines(fields.get(f"{side}-{name}", ""))
            if name == "whatsapp":
                source[name] = parsed(f"locales.{tag}.whatsapp", text, source.get(name))
            else:
                source[name] = text if name == "body" else text or None
        new = formats_of(channel)[0] if tag not in version["locales"] else USUAL_FORMAT
        source["format"] = fields.get(f"{side}-format") or source.get("format") or new
        kept = {
            name: value
            for name, value in source.items()
            if value is not None and (name, value) != ("format", USUAL_FORMAT)
        }
        if kept != version["locales"].get(tag):
            locales[tag] = kept
    changes: dict[str, Any] = {"locales": locales} if locales else {}
    for name in PARTS:
        if name in fields:
            value = parsed(name, fields[name], version[name])
            value = {} if value is None else value
            if value != version[name]:
                changes[name] = value
    if "layout" in fields and (fields["layout"] or None) != version["layout"]:
        changes["layout"] = fields["layout"] or None
    merged = {**version, **changes, "locales": {**version["locales"], **locales}}
    return TypedVersion(version=merged, changes=changes, unreadable=unreadable, faults=tuple(faults))


def lines(text: str) -> str:
    """A text with the line breaks that files have; forms send those of the telegraph."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def pretty(value: Any) -> str:
    """JSON as people edit it; empty where there is nothing."""
    return json.dumps(value, indent=2, ensure_ascii=False) if value else ""


def found_faults(findings: list[dict[str, Any]]) -> tuple[EditorFault, ...]:
    """What the validator found."""
    return tuple(
        EditorFault(
            field=one["field"],
            what=one["what"],
            how=one["how"],
            line=one.get("line"),
            column=one.get("column"),
            is_warning=one["severity"] == "warning",
        )
        for one in findings
    )


def next_semver(taken: list[str]) -> str:
    """The minor number after the highest."""
    numbers = [one.partition("-")[0].partition("+")[0].split(".") for one in taken]
    highest = max(
        (tuple(map(int, one)) for one in numbers if len(one) == 3 and all(map(str.isdigit, one))),
        default=(0, 9, 0),
    )
    return "1.0.0" if not taken else f"{highest[0]}.{highest[1] + 1}.0"


def _unreadable(where: str, error: ValueError) -> EditorFault:
    line = getattr(error, "lineno", None)
    return EditorFault(
        field=where,
        what=f"is no JSON: {getattr(error, 'msg', 'can not be read')}",
        line=line,
        column=getattr(error, "colno", None),
    )
