"""What is different between two versions, by locale and field."""

import difflib
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from tidings.notify.templates.model import TemplateVersion

_TEXTS = ("subject", "preheader", "body", "text")


class Change(Struct, frozen=True, kw_only=True):
    """One field that is different."""

    #: Null for what holds for all locales.
    locale: str | None
    #: `subject`, `body`, `variables_schema`, `partials.footer`, ….
    field: str
    #: Null where it was not there.
    before: Any
    #: Null where it is not there any more.
    after: Any
    #: The lines that differ, as a patch.
    unified: str


class DiffView(Struct, frozen=True, kw_only=True):
    """Two versions side by side."""

    from_version: str
    to_version: str
    locales_added: tuple[str, ...]
    locales_removed: tuple[str, ...]
    changes: tuple[Change, ...]
    #: All patches, one after the other.
    unified: str


def diff(before: TemplateVersion, after: TemplateVersion) -> DiffView:
    """Everything that an author would call different."""
    changes = tuple(_changes(before, after))
    return DiffView(
        from_version=str(before.semver),
        to_version=str(after.semver),
        locales_added=tuple(sorted(set(after.locales) - set(before.locales))),
        locales_removed=tuple(sorted(set(before.locales) - set(after.locales))),
        changes=changes,
        unified="".join(change.unified for change in changes),
    )


def _changes(before: TemplateVersion, after: TemplateVersion) -> Iterator[Change]:
    old, new = dict(_fields(before)), dict(_fields(after))
    for locale, field in sorted(old.keys() | new.keys(), key=lambda at: (at[0] or "", at[1])):
        one, two = old.get((locale, field)), new.get((locale, field))
        if one != two:
            name = f"{locale}/{field}" if locale else field
            yield Change(
                locale=locale,
                field=field,
                before=one,
                after=two,
                unified=_unified(one, two, f"{before.semver}/{name}", f"{after.semver}/{name}"),
            )


def _fields(version: TemplateVersion) -> Iterator[tuple[tuple[str | None, str], Any]]:
    for locale, text in version.locales.items():
        for part in _TEXTS:
            if (written := getattr(text.source, part)) is not None:
                yield (locale, part), written
        yield (locale, "format"), text.source.format.value
        if text.source.direction is not None:
            yield (locale, "direction"), text.source.direction
        if text.source.whatsapp is not None:
            yield (locale, "whatsapp"), msgspec.to_builtins(text.source.whatsapp)
    for locale, strings in version.strings.items():
        for name, written in strings.items():
            yield (locale, f"strings.{name}"), written
    for name, written in version.partials.items():
        yield (None, f"partials.{name}"), written
    for name, facts in version.assets.items():
        yield (None, f"assets.{name}"), msgspec.to_builtins(facts)
    yield (None, "variables_schema"), dict(version.variables_schema)
    yield (None, "preview_samples"), dict(version.samples)
    if version.fallback_chain:
        yield (None, "fallback_chain"), list(version.fallback_chain)
    if version.layout is not None:
        yield (None, "layout"), version.layout


def _unified(before: Any, after: Any, old_name: str, new_name: str) -> str:
    lines = difflib.unified_diff(
        _lines(before),
        _lines(after),
        fromfile=old_name if before is not None else "/dev/null",
        tofile=new_name if after is not None else "/dev/null",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _lines(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return value.splitlines(keepends=True)
    written = msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=2)
    return written.decode().splitlines(keepends=True)
