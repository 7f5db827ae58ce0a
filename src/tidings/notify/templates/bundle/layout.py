"""Where each part of a template lies in the zip: one folder per key and channel, in it one per locale."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from tidings.notify.templates.model import BodyFormat

TEMPLATES: Final = "templates"
LAYOUTS: Final = "layouts"
ASSETS: Final = "assets"
#: The folders of a bundle; whatever else lies beside them is none of our business.
FOLDERS: Final = (TEMPLATES, LAYOUTS, ASSETS)

FACTS: Final = "template.json"
STRINGS: Final = "strings.json"
PARTIALS: Final = "partials"
_SUFFIX: Final = ".hbs"
#: One-line texts and the text alternative, by their field.
_TEXTS: Final = {"subject": "subject.txt", "preheader": "preheader.txt", "text": "text.txt"}
_BODIES: Final = {
    BodyFormat.HTML: "body.html",
    BodyFormat.MJML: "body.mjml",
    BodyFormat.TEXT: "body.txt",
    BodyFormat.MARKDOWN: "body.md",
    BodyFormat.JSON: "body.json",
}
_FIELDS: Final = {file: field for field, file in _TEXTS.items()}
_FORMATS: Final = {file: format_ for format_, file in _BODIES.items()}
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class BundlePath:
    """What a path stands for."""

    kind: Literal["facts", "text", "body", "strings", "partial", "layout", "asset"]
    #: Of the template; empty for what belongs to none.
    key: str = ""
    channel: str = ""
    locale: str = ""
    #: The field of a text; the name of a partial, a layout or an asset.
    name: str = ""
    format: BodyFormat | None = None


def place_of(path: str) -> BundlePath | None:
    """What belongs at this path; None where nothing does."""
    match path.split("/"):
        case ["templates", key, channel, "template.json"]:
            return BundlePath(kind="facts", key=key, channel=channel)
        case ["templates", key, channel, "partials", file] if _stem(file):
            return BundlePath(kind="partial", key=key, channel=channel, name=_stem(file))
        case ["templates", key, channel, "assets", file]:
            return BundlePath(kind="asset", key=key, channel=channel, name=file)
        case ["templates", key, channel, locale, "strings.json"]:
            return BundlePath(kind="strings", key=key, channel=channel, locale=locale)
        case ["templates", key, channel, locale, file] if file in _FIELDS:
            return BundlePath(kind="text", key=key, channel=channel, locale=locale, name=_FIELDS[file])
        case ["templates", key, channel, locale, file] if file in _FORMATS:
            return BundlePath(
                kind="body", key=key, channel=channel, locale=locale, name="body", format=_FORMATS[file]
            )
        case ["layouts", file] if _stem(file):
            return BundlePath(kind="layout", name=_stem(file))
        case ["assets", *parts] if parts and all(_NAME.fullmatch(part) for part in parts):
            return BundlePath(kind="asset", name="/".join(parts))
    return None


def folder_of(key: str, channel: str) -> str:
    """Where a template lies."""
    return f"{TEMPLATES}/{key}/{channel}"


def text_file(locale: str, field: str) -> str:
    """Where a text of a locale lies in its template's folder."""
    return f"{locale}/{_TEXTS[field]}"


def body_file(locale: str, format_: BodyFormat) -> str:
    """Where the body of a locale lies in its template's folder."""
    return f"{locale}/{_BODIES[format_]}"


def strings_file(locale: str) -> str:
    """Where the strings of a locale lie in its template's folder."""
    return f"{locale}/{STRINGS}"


def partial_file(name: str) -> str:
    """Where a partial lies in its template's folder."""
    return f"{PARTIALS}/{name}{_SUFFIX}"


def asset_file(name: str) -> str:
    """Where a picture lies in its template's folder."""
    return f"{ASSETS}/{name}"


def layout_file(name: str) -> str:
    """Where a layout lies."""
    return f"{LAYOUTS}/{name}{_SUFFIX}"


def file_of(field: str, formats: dict[str, BodyFormat]) -> tuple[str, str]:
    """The file in a template's folder that a field of the version comes from, and the locale it is of."""
    match field.split(".", 2):
        case ["locales", locale, part]:
            part = part.partition(".")[0].partition("[")[0]
            if part in _TEXTS:
                return text_file(locale, part), locale
            if part == "body":
                return body_file(locale, formats.get(locale, BodyFormat.TEXT)), locale
            return FACTS, locale
        case ["strings", locale, *_]:
            return strings_file(locale), locale
        case ["partials", name, *rest]:
            return partial_file(".".join([name, *rest])), ""
    return FACTS, ""


def _stem(file: str) -> str:
    stem = file.removesuffix(_SUFFIX)
    return stem if stem != file and _NAME.fullmatch(stem) else ""
