"""From versions to files, and from files to a zip: the same bytes for the same versions."""

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import msgspec

from tidings.notify.templates.assets import Asset
from tidings.notify.templates.bundle.layout import (
    FACTS,
    asset_file,
    body_file,
    folder_of,
    partial_file,
    strings_file,
    text_file,
)
from tidings.notify.templates.bundle.texts import json_file, to_file
from tidings.notify.templates.model import Template, TemplateVersion
from tidings.notify.templates.wire import LocaleSource

#: The oldest moment that a zip can say. Ours say no other, so that the same content is the same zip.
_MOMENT = (1980, 1, 1, 0, 0, 0)
_MODE = 0o100644


def files_of(
    template: Template, version: TemplateVersion, assets: Sequence[Asset] = ()
) -> Iterator[tuple[str, bytes]]:
    """The files of one version."""
    home = folder_of(template.key, template.channel)
    yield f"{home}/{FACTS}", json_file(_facts(template, version))
    for tag, text in sorted(version.locales.items()):
        source = text.source
        yield f"{home}/{body_file(tag, source.format)}", to_file(source.body)
        for field in ("subject", "preheader", "text"):
            written = getattr(source, field)
            if written is not None:
                yield f"{home}/{text_file(tag, field)}", to_file(written)
    for tag, strings in sorted(version.strings.items()):
        yield f"{home}/{strings_file(tag)}", json_file(dict(strings))
    for name, partial in sorted(version.partials.items()):
        yield f"{home}/{partial_file(name)}", to_file(partial)
    for asset in assets:
        yield f"{home}/{asset_file(asset.name)}", asset.content


def pack(files: Mapping[str, bytes]) -> bytes:
    """A zip of these files."""
    into = io.BytesIO()
    write_zip(into, iter(sorted(files.items())))
    return into.getvalue()


def write_zip(into: IO[bytes], files: Iterator[tuple[str, bytes]]) -> None:
    """Write a zip of files as they come."""
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, content in files:
            add_file(packed, path, content)


def add_file(packed: zipfile.ZipFile, path: str, content: bytes) -> None:
    """Add one file."""
    entry = zipfile.ZipInfo(path, _MOMENT)
    entry.external_attr = _MODE << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    packed.writestr(entry, content)


def _facts(template: Template, version: TemplateVersion) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "semver": str(version.semver),
        "category": template.category,
        "default_locale": template.default_locale,
        "default_priority": template.default_priority,
    }
    if template.fallback_chain:
        facts["template_fallback_chain"] = list(template.fallback_chain)
    if version.fallback_chain:
        facts["fallback_chain"] = list(version.fallback_chain)
    if version.layout is not None:
        facts["layout"] = version.layout
    if version.provenance is not None:
        facts["ai_provenance"] = version.provenance
    facts["variables_schema"] = version.variables_schema
    if version.samples:
        facts["preview_samples"] = version.samples
    if besides := {
        tag: more for tag, text in sorted(version.locales.items()) if (more := _besides(text.source))
    }:
        facts["locales"] = besides
    return facts


def _besides(source: Any) -> dict[str, Any]:
    """What a locale has that is no text."""
    shown: dict[str, Any] = msgspec.to_builtins(LocaleSource.of(source))
    return {name: shown[name] for name in ("direction", "whatsapp") if shown.get(name) is not None}
