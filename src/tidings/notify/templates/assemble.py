"""Puts the texts of one locale together: strings, partials and the layout set in, each line knowing where it came from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from tidings.contracts.tenants import Channel
from tidings.notify.render.locale_fallback import fallbacks
from tidings.notify.templates.bundle.layout import (
    FACTS,
    body_file,
    folder_of,
    layout_file,
    partial_file,
    text_file,
)
from tidings.notify.templates.errors import CompileError
from tidings.notify.templates.expand.expand import ExpansionNotes, SharedTexts, expand
from tidings.notify.templates.expand.source_map import MappedText, SourcePosition
from tidings.notify.templates.expand.strings import Into, TemplateStrings
from tidings.notify.templates.expand.whitespace import SETTLED
from tidings.notify.templates.faults import Fault
from tidings.notify.templates.model import BodyFormat, Compiled, Source, TemplateVersion

_MARKUP: Final = frozenset({BodyFormat.HTML, BodyFormat.MJML, BodyFormat.MARKDOWN})


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyContext:
    """What a version stands in."""

    key: str
    channel: Channel
    default_locale: str
    #: The template's locales to try before the default.
    template_chain: tuple[str, ...] = ()
    #: The tenant's layouts, by name.
    layouts: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Where the template's files lie."""
        return folder_of(self.key, self.channel)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledTexts:
    """The texts of one locale, whole."""

    source: Source
    #: By the part: `subject`, `body`, `whatsapp.parameters[0]`.
    texts: Mapping[str, MappedText]
    #: What was wrong on the way, each at its place.
    faults: tuple[tuple[SourcePosition, Fault], ...]
    partials: frozenset[str]
    strings: frozenset[str]
    #: Whether a text could not be read, so that it is not known what it uses.
    broken: bool = False
    #: Whether the blanks that belong to tags have been taken away.
    settled: bool = True


def assemble(version: TemplateVersion, locale: str, around: AssemblyContext) -> AssembledTexts:
    """The texts of a locale with everything in them that they call."""
    source = version.locales[locale].source
    found = ExpansionNotes()
    order = fallbacks(locale, version.fallback_chain, (*around.template_chain, around.default_locale))
    shared = SharedTexts(
        partials=_partials(version, around),
        strings=TemplateStrings(version.strings, order),
        folder=around.folder,
        tags=source.format is not BodyFormat.MARKDOWN,
    )
    texts = {
        part: expand(text, place, shared, found, into=_into(part, source.format))
        for part, text, place in _parts(source, locale, around)
        if part != "body"
    }
    texts["body"], format_ = _body(
        source, locale, around, shared, found, layout=_layout(version, around, found)
    )
    whole = {part: text.text for part, text in texts.items()}
    made = replace(
        source,
        format=format_,
        body=whole["body"],
        subject=whole.get("subject"),
        preheader=whole.get("preheader"),
        text=whole.get("text"),
    )
    if source.whatsapp is not None:
        filled = {name: texts[f"whatsapp.{name}"].text for name, _ in source.whatsapp.values()}
        made = replace(made, whatsapp=source.whatsapp.with_values(filled))
    return AssembledTexts(
        source=made,
        texts=texts,
        faults=tuple(found.faults),
        partials=frozenset(found.partials),
        strings=frozenset(found.strings),
        broken=found.broken,
        settled=shared.tags,
    )


def marked(made: AssembledTexts, compiled: Compiled) -> Compiled:
    """What was compiled, with the mark of settled texts; a text alternative made from the body has lines of its own."""
    if not made.settled:
        return compiled
    own_text = made.source.text is not None or compiled.html is None
    return replace(
        compiled,
        subject=_mark(compiled.subject),
        html=_mark(compiled.html),
        text=_mark(compiled.text) if own_text else compiled.text,
        whatsapp=_mark(compiled.whatsapp),
    )


def _mark(text: str | None) -> str | None:
    return None if text is None else f"{SETTLED}{text}"


def place_of(source: Source, locale: str, around: AssemblyContext, part: str) -> SourcePosition:
    """Where a part of a locale is written, as a whole."""
    return SourcePosition(_file(source, locale, around, part), f"locales.{locale}.{part}", locale)


def _file(source: Source, locale: str, around: AssemblyContext, part: str) -> str:
    if part in ("subject", "preheader", "text"):
        return f"{around.folder}/{text_file(locale, part)}"
    return f"{around.folder}/{body_file(locale, source.format) if part == 'body' else FACTS}"


def _parts(source: Source, locale: str, around: AssemblyContext) -> Iterator[tuple[str, str, SourcePosition]]:
    for part in ("subject", "preheader", "body", "text"):
        text = getattr(source, part)
        if text is not None:
            file = _file(source, locale, around, part)
            yield part, text, SourcePosition(file, f"locales.{locale}.{part}", locale, 1, 1)
    for name, text in source.whatsapp.values() if source.whatsapp else ():
        part = f"whatsapp.{name}"
        yield part, text, place_of(source, locale, around, part)


def _body(
    source: Source,
    locale: str,
    around: AssemblyContext,
    shared: SharedTexts,
    found: ExpansionNotes,
    *,
    layout: tuple[str, SourcePosition] | None,
) -> tuple[MappedText, BodyFormat]:
    _, text, place = next(part for part in _parts(source, locale, around) if part[0] == "body")
    into = _into("body", source.format)
    if layout is None:
        return expand(text, place, shared, found, into=into), source.format
    if source.format is not BodyFormat.MARKDOWN:
        return expand(text, place, shared, found, into=into, layout=layout), source.format
    # The layout is HTML; what goes into it has to be that first.
    from tidings.notify.templates.compile.locale_content import markdown_html

    inner = expand(text, place, shared, found, into=into).text
    try:
        inner = markdown_html(inner)
    except CompileError as error:
        found.faults += [(place, fault) for fault in error.faults]
    whole = SourcePosition(place.file, place.field, place.locale)
    return expand(inner, whole, shared, found, into=into, layout=layout), BodyFormat.HTML


def _layout(
    version: TemplateVersion, around: AssemblyContext, found: ExpansionNotes
) -> tuple[str, SourcePosition] | None:
    if version.layout is None:
        return None
    text = around.layouts.get(version.layout)
    if text is not None:
        return text, SourcePosition(layout_file(version.layout), f"layouts.{version.layout}", None, 1, 1)
    place = SourcePosition(f"{around.folder}/{FACTS}", "layout")
    fault = Fault(f"there is no layout {version.layout}", f"make it: PUT /api/v1/layouts/{version.layout}")
    found.faults.append((place, fault))
    return None


def _partials(version: TemplateVersion, around: AssemblyContext) -> dict[str, tuple[str, SourcePosition]]:
    shared = {
        name: (text, SourcePosition(layout_file(name), f"layouts.{name}", None, 1, 1))
        for name, text in around.layouts.items()
    }
    own = {
        name: (text, SourcePosition(f"{around.folder}/{partial_file(name)}", f"partials.{name}", None, 1, 1))
        for name, text in version.partials.items()
    }
    return shared | own


def _into(part: str, format_: BodyFormat) -> Into:
    if part != "body":
        return "text"
    return "markup" if format_ in _MARKUP else "json" if format_ is BodyFormat.JSON else "text"
