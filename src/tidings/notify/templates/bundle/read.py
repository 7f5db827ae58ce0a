"""From files to versions: what each folder wants to be, or everything that is wrong with its files."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tidings.contracts.templates import TemplateFinding
from tidings.contracts.tenants import Channel, Locale
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import decode
from tidings.kernel.http.errors import MalformedBodyError
from tidings.kernel.refusals import InvalidError
from tidings.notify.templates.assets import Asset, crowd_fault, fault_of
from tidings.notify.templates.bundle.findings import error, warning
from tidings.notify.templates.bundle.layout import (
    ASSETS,
    FACTS,
    BundlePath,
    file_of,
    folder_of,
    partial_file,
    place_of,
)
from tidings.notify.templates.bundle.texts import TextFault, broken_json, from_file
from tidings.notify.templates.create_version import VersionSpec
from tidings.notify.templates.expand.expand import BODY
from tidings.notify.templates.layouts_store import LONGEST
from tidings.notify.templates.model import BodyFormat
from tidings.notify.templates.wire import CreateVersion, PartialName, channel_of, key_of


class LocaleManifest(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What a locale has besides texts."""

    direction: Any = None
    whatsapp: Any = None


class TemplateManifest(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """`template.json`: the version without its texts, by the names that the API has for the same."""

    semver: str
    variables_schema: dict[str, Any]
    category: Any = None
    default_locale: Any = None
    template_fallback_chain: Any = None
    default_priority: Any = None
    fallback_chain: Any = None
    preview_samples: Any = None
    layout: Any = None
    ai_provenance: Any = None
    locales: dict[str, LocaleManifest] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTemplate:
    """A version that a folder holds."""

    key: str
    channel: Channel
    spec: VersionSpec
    formats: dict[str, BodyFormat]
    assets: Sequence[Asset] = ()

    def place(self, of: str) -> tuple[str, str]:
        """The file that a field comes from, and the locale it is of."""
        file, locale = file_of(of, self.formats)
        return f"{folder_of(self.key, self.channel)}/{file}", locale


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBundle:
    """What the files say."""

    templates: Sequence[ReadTemplate]
    layouts: Mapping[str, str]
    findings: Sequence[TemplateFinding]


@dataclass(slots=True)
class _Folder:
    facts: bytes | None = None
    locales: defaultdict[str, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    strings: dict[str, bytes] = field(default_factory=dict)
    partials: dict[str, str] = field(default_factory=dict)
    assets: list[Asset] = field(default_factory=list)


def read_bundle(files: Mapping[str, bytes]) -> ReadBundle:
    """Every template and layout among the files; each file that can't be read has a finding."""
    findings: list[TemplateFinding] = []
    folders: dict[tuple[str, str], _Folder] = {}
    layouts: dict[str, str] = {}
    for path, raw in sorted(files.items()):
        place = place_of(path)
        if place is None:
            findings.append(_misplaced(path))
        elif place.kind == "asset" and not place.key:
            findings.append(
                warning(
                    path,
                    "is not kept: a picture belongs to a template",
                    "move it to templates/<key>/<channel>/assets/",
                )
            )
        elif place.kind == "asset":
            asset_folder = folders.setdefault((place.key, place.channel), _Folder())
            if fault := fault_of(place.name, raw):
                what, _, how = fault.partition("; ")
                findings.append(error(path, what, how, field="assets"))
            else:
                asset_folder.assets.append(Asset(place.name, raw))
        else:
            folder = (
                None if place.kind == "layout" else folders.setdefault((place.key, place.channel), _Folder())
            )
            findings += _sorted_in(folder, layouts, path, place, raw)
    templates: list[ReadTemplate] = []
    for (key, channel), folder in sorted(folders.items()):
        made = _template(key, channel, folder)
        if isinstance(made, ReadTemplate):
            templates.append(made)
        else:
            findings += made
    if not folders and not layouts and not findings:
        findings.append(
            error("", "has no template in it", "put them at templates/<key>/<channel>/template.json")
        )
    return ReadBundle(templates=templates, layouts=layouts, findings=findings)


def _misplaced(path: str) -> TemplateFinding:
    return error(
        path,
        "is not where anything of a template belongs",
        "take it out, or move it: templates/<key>/<channel>/template.json, …/<locale>/subject.txt, preheader.txt, "
        "body.(html|mjml|txt|md|json), text.txt or strings.json, …/partials/<name>.hbs, …/assets/<name>, layouts/<name>.hbs",
    )


def _sorted_in(
    folder: _Folder | None, layouts: dict[str, str], path: str, place: BundlePath, raw: bytes
) -> Iterator[TemplateFinding]:
    text = from_file(raw)
    if isinstance(text, TextFault):
        yield _broken(path, text, place.locale)
        # What it should have been is not missing as well.
        text = "?"
    if folder is None:
        if not _is(place.name, PartialName):
            yield error(path, "has a name that can't be called", _rule(PartialName))
        elif place.name == BODY:
            yield error(path, "has the name of the place for the body", "give the layout another name")
        if not 1 <= len(text) <= LONGEST:
            yield error(path, "is empty or too long", f"use 1 to {LONGEST} characters")
        layouts[place.name] = text
        return
    match place.kind:
        case "facts":
            folder.facts = raw
        case "strings":
            folder.strings[place.locale] = raw
        case "partial":
            folder.partials[place.name] = text
        case "body":
            if "body" in folder.locales[place.locale]:
                yield error(
                    path, "is a second body of its locale", "leave one of them out", locale=place.locale
                )
            folder.locales[place.locale] |= {"body": text, "format": place.format}
        case _:
            folder.locales[place.locale][place.name] = text


def _template(key: str, channel: str, folder: _Folder) -> ReadTemplate | list[TemplateFinding]:
    home = folder_of(key, channel)
    try:
        key, known_channel = key_of(key), channel_of(channel)
    except BadValueError as bad:
        return [error(home, f"is not named after a {bad.field}", f"the {bad.field} {bad.remedy}")]
    if folder.facts is None:
        return [error(f"{home}/{FACTS}", "is missing", "add it: it says the version and its variables")]
    facts = _read_json(f"{home}/{FACTS}", folder.facts, TemplateManifest)
    strings = {
        locale: _read_json(f"{home}/{locale}/strings.json", raw, dict[str, str], locale)
        for locale, raw in folder.strings.items()
    }
    wrong = [found for result in (facts, *strings.values()) if isinstance(result, list) for found in result]
    wrong += _names(home, folder)
    if crowd := crowd_fault({asset.name: asset.facts for asset in folder.assets}):
        what, _, how = crowd.partition("; ")
        wrong.append(error(f"{home}/{ASSETS}", what, how, field="assets"))
    wrong += [
        error(f"{home}/{locale}", "has no body", "add body.html, .mjml, .txt, .md or .json", locale=locale)
        for locale, texts in folder.locales.items()
        if "body" not in texts
    ]
    if wrong or not isinstance(facts, TemplateManifest):
        return wrong
    formats = {locale: texts["format"] for locale, texts in folder.locales.items()}
    try:
        version = decode(msgspec.json.encode(_version(facts, folder, strings)), CreateVersion)
        spec = version.spec()
    except BadValueError as bad:
        return [
            error(f"{home}/{FACTS}", f"{bad.field} is not acceptable", f"it {bad.remedy}", field=bad.field)
        ]
    except InvalidError as invalid:
        return list(refused(home, formats, invalid))
    return ReadTemplate(key=key, channel=known_channel, spec=spec, formats=formats, assets=folder.assets)


def _names(home: str, folder: _Folder) -> Iterator[TemplateFinding]:
    for locale in sorted({*folder.locales, *folder.strings}):
        if not _is(locale, Locale):
            yield error(f"{home}/{locale}", "is not named after a language", _rule(Locale))
    for name in folder.partials:
        if not _is(name, PartialName):
            yield error(f"{home}/{partial_file(name)}", "has a name that can't be called", _rule(PartialName))


def _is(name: str, kind: Any) -> bool:
    try:
        msgspec.convert(name, kind)
    except msgspec.ValidationError:
        return False
    return True


def _rule(kind: Any) -> str:
    """What a name has to be, in the words that the API has for it."""
    return f"it {next(meta.description for meta in kind.__metadata__ if isinstance(meta, msgspec.Meta))}"


def _version(facts: TemplateManifest, folder: _Folder, strings: Mapping[str, Any]) -> dict[str, Any]:
    """The body of the request that would make the same version."""
    made: dict[str, Any] = msgspec.to_builtins(facts)
    named = made.pop("locales", {})
    # A locale that template.json names and no folder fills is found by the decoder: it has no body.
    made["locales"] = {
        tag: {**named.get(tag, {}), **folder.locales.get(tag, {})} for tag in {*named, *folder.locales}
    }
    made |= {"strings": strings} if strings else {}
    made |= {"partials": folder.partials} if folder.partials else {}
    return made


def refused(home: str, formats: dict[str, BodyFormat], invalid: InvalidError) -> Iterator[TemplateFinding]:
    """Wrong fields of a version, as findings in the files that they come from."""
    for wrong in invalid.errors:
        file, locale = file_of(wrong.field, formats)
        what = f"{wrong.field or 'it'} is not acceptable"
        yield error(f"{home}/{file}", what, f"it {wrong.remedy}", locale=locale or None, field=wrong.field)


def _read_json(path: str, raw: bytes, kind: Any, locale: str | None = None) -> Any:
    if broken := broken_json(raw):
        return [_broken(path, broken, locale)]
    try:
        return decode(raw.removeprefix(b"\xef\xbb\xbf"), kind)
    except InvalidError as invalid:
        return [
            error(
                path,
                f"{wrong.field or 'it'} is not acceptable",
                f"it {wrong.remedy}",
                locale=locale,
                field=wrong.field,
            )
            for wrong in invalid.errors
        ]
    except MalformedBodyError:
        return [error(path, "is not valid JSON", "mend it", locale=locale)]


def _broken(path: str, broken: TextFault, locale: str | None) -> TemplateFinding:
    return error(path, broken.what, broken.how, locale=locale or None, line=broken.line, column=broken.column)
