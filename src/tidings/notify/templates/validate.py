"""The validator that stands before publishing: everything that is wrong with a version at once, then the compiled texts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tidings.contracts.inbox import IN_APP
from tidings.contracts.sms_segments import MANY_SEGMENTS, MOST_SEGMENTS, measure
from tidings.contracts.templates import TemplateFinding
from tidings.kernel.mapping import by_name
from tidings.kernel.refusals import FieldError
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.inbox_content.model import ContentFault
from tidings.notify.inbox_content.read import read_content
from tidings.notify.render.model import Brand, Content, Rendered, RenderFailed, RenderJob
from tidings.notify.templates.assemble import AssembledTexts, AssemblyContext, assemble, marked, place_of
from tidings.notify.templates.assets import crowd_fault, shown_in, unknown_in_styles, with_cids
from tidings.notify.templates.bundle.layout import ASSETS, FACTS, asset_file, partial_file, strings_file
from tidings.notify.templates.errors import CompileError, UnpublishableError
from tidings.notify.templates.expand.source_map import MappedText, SourcePosition
from tidings.notify.templates.faults import Fault, Severity
from tidings.notify.templates.message_links import empty_link, has_links, link_warnings, written_at
from tidings.notify.templates.model import (
    BodyFormat,
    Compiled,
    LinkPolicy,
    LocaleText,
    Source,
    TemplateVersion,
)
from tidings.notify.templates.parse_errors import parse_fault
from tidings.notify.templates.sample_faults import failing_at, remedy_of
from tidings.notify.templates.syntax import find_faults
from tidings.notify.templates.tools import Tools
from tidings.notify.templates.variables import Checker, schema_faults
from tidings.notify.templates.whatsapp_faults import filled_faults, reference_faults

#: Channels whose messages can be HTML.
_HTML_CHANNELS: Final = frozenset({"email"})
#: Channels whose messages can be JSON.
_JSON_CHANNELS: Final = frozenset({"push", "inapp", "webhook"})
_TRIAL_ZONE: Final = "UTC"
#: A longer report is of no use.
_MOST_FINDINGS: Final = 200
_MOST_OF_ONE: Final = 50
_LONGEST: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationReport:
    """What was found, and what was compiled on the way."""

    findings: tuple[TemplateFinding, ...]
    #: Those that could be compiled.
    locales: Mapping[str, LocaleText]

    @property
    def errors(self) -> tuple[TemplateFinding, ...]:
        """What stands in the way of publishing."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    def refuse_errors(self) -> None:
        """An `UnpublishableError` with the whole report where there are any."""
        if self.errors:
            raise UnpublishableError(self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationRequest:
    """A version with everything that checking and compiling it needs."""

    version: TemplateVersion
    around: AssemblyContext
    links: LinkPolicy
    #: The locales of the key's other channels.
    siblings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    category: CategoryPolicy | None = None


def examine(asked: ValidationRequest, tools: Tools) -> ValidationReport:
    """Everything that is wrong with a version. It takes its time in native tools: only a child process calls it."""
    return _Examination(asked.version, asked.around, asked.links, tools, asked.category).run(asked.siblings)


@dataclass(slots=True)
class _Examination:
    version: TemplateVersion
    around: AssemblyContext
    links: LinkPolicy
    tools: Tools
    category: CategoryPolicy | None
    findings: list[TemplateFinding] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    partials: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)
    pictures: set[str] = field(default_factory=set)
    assembled: dict[str, AssembledTexts] = field(default_factory=dict)

    def run(self, siblings: Mapping[str, Sequence[str]]) -> ValidationReport:
        self._facts()
        compiled: dict[str, LocaleText] = {}
        sound: dict[str, LocaleText] = {}
        for locale, text in self.version.locales.items():
            before = len(self.findings)
            self._channel(locale, text.source)
            made = self._locale(locale)
            if made is None:
                continue
            compiled[locale] = replace(text, compiled=made)
            if not any(finding.severity == "error" for finding in self.findings[before:]):
                sound[locale] = compiled[locale]
        self._strings()
        self._unused()
        self._assets(compiled)
        self._missing_locales(siblings)
        known = ("variables_schema", "preview_samples")
        if not any(f.severity == "error" and f.field.startswith(known) for f in self.findings):
            self._trial(sound)
        return ValidationReport(findings=self._told(), locales=compiled)

    def _told(self) -> tuple[TemplateFinding, ...]:
        """Each once, and not without end; where some are left out the last one says so."""
        unique = tuple(dict.fromkeys(self.findings))
        if len(unique) <= _MOST_FINDINGS:
            return unique
        told, rest = unique[:_MOST_FINDINGS], unique[_MOST_FINDINGS:]
        worst: Severity = "error" if any(f.severity == "error" for f in rest) else "warning"
        what = f"there are {len(rest)} more findings than the {_MOST_FINDINGS} that are listed"
        place = SourcePosition(f"{self.around.folder}/{FACTS}", "")
        last = Fault(what, "fix those; the others are listed then", severity=worst)
        return *told, finding_of(place, last, None)

    def _facts(self) -> None:
        version = self.version
        broken = schema_faults(version.variables_schema)
        self._fields(broken)
        default = self.around.default_locale
        if default.lower() not in {tag.lower() for tag in version.locales}:
            self._fact(
                "locales",
                f"{default}, the template's default locale, is missing",
                f"add a text for {default}",
            )
        if not version.samples:
            self._fact("preview_samples", "there is no sample to try the texts with", "add at least one")
        if not broken:
            checker = Checker(version.variables_schema)
            for name, sample in version.samples.items():
                self._fields(checker.faults(sample, field=f"preview_samples.{name}"))

    def _channel(self, locale: str, source: Source) -> None:
        channel = self.around.channel
        wrong = (
            source.format in (BodyFormat.HTML, BodyFormat.MJML, BodyFormat.MARKDOWN)
            and channel not in _HTML_CHANNELS
        ) or (source.format is BodyFormat.JSON and channel not in _JSON_CHANNELS)
        if wrong:
            self._at_part(
                locale, "format", f"a body in {source.format} can't be sent by {channel}", "write it in text"
            )
        if channel == "email" and not source.subject:
            self._at_part(locale, "subject", "a mail has no subject", "add one; it is required for email")
        if source.whatsapp is not None and channel != "whatsapp":
            self._at_part(locale, "whatsapp", f"{channel} knows no templates of WhatsApp", "leave it out")
        elif source.whatsapp is not None:
            for part, what, how, severity in reference_faults(source.whatsapp):
                self._at_part(locale, part, what, how, severity)

    def _locale(self, locale: str) -> Compiled | None:
        made = assemble(self.version, locale, self.around)
        self.assembled[locale] = made
        self.partials |= made.partials
        self.strings |= made.strings
        for place, fault in made.faults[:_MOST_OF_ONE]:
            self._note(place, fault, locale)
        readable = True
        for text in made.texts.values():
            readable &= self._part(locale, text)
        if made.broken or not readable:
            # It is not known that something is unused in a text that can't be read.
            self.used.add("*")
            self.partials |= set(self.version.partials)
        if made.faults or not readable:
            return None
        links = replace(self.links, assets=frozenset(self.version.assets))
        for part, fault in _remarks(made, links):
            self._note(made.texts[part].place_of(fault.line, fault.column), fault, locale)
        result = _compiled(locale, made, links)
        if isinstance(result, Compiled):
            for name in unknown_in_styles(result.html, self.version.assets):
                what = f"a style names the picture {name}, which the version does not have"
                self._at_part(locale, "body", what, "upload it, or correct the name")
            return self._with_pictures(result)
        for fault in result[:_MOST_OF_ONE]:
            # Markdown is HTML by then, and has other lines.
            line = None if made.source.format is BodyFormat.MARKDOWN else fault.line
            self._note(made.texts["body"].place_of(line, fault.column), fault, locale)
        return None

    def _with_pictures(self, compiled: Compiled) -> Compiled:
        if not self.version.assets or compiled.html is None:
            return compiled
        html = with_cids(compiled.html, self.version.assets)
        self.pictures.update(shown_in(html, self.version.assets))
        return replace(compiled, html=html)

    def _assets(self, compiled: Mapping[str, LocaleText]) -> None:
        """Pictures that nothing shows, where all texts could be looked at."""
        assets = self.version.assets
        home = f"{self.around.folder}/{ASSETS}"
        if assets and self.around.channel != "email":
            fault = Fault(f"{self.around.channel} can't carry pictures", "take them away, or link to them")
            self._note(SourcePosition(home, "assets"), fault, None)
        elif fault_of_all := crowd_fault(assets):
            what, _, how = fault_of_all.partition("; ")
            self._note(SourcePosition(home, "assets"), Fault(f"the version {what}", how), None)
        for name in sorted(assets if len(compiled) == len(self.version.locales) else ()):
            if name not in self.pictures:
                fault = Fault(
                    f"the picture {name} is not shown by any text",
                    f'take it away, or show it: <img src="cid:{name}">',
                    severity="warning",
                )
                place = SourcePosition(f"{self.around.folder}/{asset_file(name)}", f"assets.{name}")
                self._note(place, fault, None)

    def _part(self, locale: str, text: MappedText) -> bool:
        """Note what is wrong with one text; whether it can be read at all."""
        read = self.tools.parse(text.text)
        if "error" not in read:
            for fault in find_faults(read["tree"], self.version.variables_schema, self.used):
                self._note(text.place_of(fault.line, fault.column), fault, locale)
            if self.category is not None and not has_links(self.category):
                for fault in link_warnings(read["tree"], self.category.category):
                    self._note(text.place_of(fault.line, fault.column), fault, locale)
            return True
        fault = parse_fault(text.text, str(read["error"]))
        self._note(text.place_of(fault.line, fault.column), fault, locale)
        return False

    def _strings(self) -> None:
        """Strings that a locale lacks; those of another one are printed then."""
        languages = {tag.lower(): names for tag, names in self.version.strings.items()}
        for locale in self.version.locales:
            own = languages.get(locale.lower(), {})
            for name in sorted(self.strings - set(own)):
                others = [tag for tag, names in self.version.strings.items() if name in names]
                if others:
                    place = SourcePosition(
                        f"{self.around.folder}/{strings_file(locale)}", f"strings.{locale}.{name}", locale
                    )
                    fault = Fault(
                        f"the string {name} is missing in {locale}",
                        f"translate it; {', '.join(others)} has it",
                        severity="warning",
                    )
                    self._note(place, fault, locale)

    def _unused(self) -> None:
        properties = self.version.variables_schema.get("properties")
        declared = properties if isinstance(properties, Mapping) else {}
        if "*" not in self.used:
            for name in declared:
                if name not in self.used:
                    self._fact(
                        f"variables_schema.properties.{name}",
                        f"the variable {name} is not used in any text",
                        "take it away, or use it",
                        "warning",
                    )
        for name in self.version.partials:
            if name not in self.partials:
                place = SourcePosition(f"{self.around.folder}/{partial_file(name)}", f"partials.{name}")
                self._note(
                    place,
                    Fault(
                        f"the partial {name} is not used in any text",
                        "take it away, or call it",
                        severity="warning",
                    ),
                    None,
                )

    def _missing_locales(self, siblings: Mapping[str, Sequence[str]]) -> None:
        there = {tag.lower() for tag in self.version.locales}
        for channel, tags in siblings.items():
            for tag in tags:
                if tag.lower() not in there:
                    self._fact(
                        "locales",
                        f"{tag} is missing; the {channel} of this key has it",
                        f"add a text for {tag}",
                        "warning",
                    )
        for tag in self.version.fallback_chain:
            if tag.lower() not in there:
                self._fact(
                    "fallback_chain", f"{tag} has no text", f"add one for {tag}, or leave it out", "warning"
                )

    def _trial(self, sound: Mapping[str, LocaleText]) -> None:
        """Render every locale with every sample: what fails now would fail for people later."""
        names: list[tuple[str, str]] = []
        jobs: list[RenderJob] = []
        for locale, text in sound.items():
            for sample, variables in self.version.samples.items():
                assert text.compiled is not None  # noqa: S101
                names.append((locale, sample))
                content = trial_content(self.version, locale, text.compiled)
                jobs.append(trial_job(content, variables, locale, self.links, self.category))
        results = self.tools.render(jobs)
        looked = 0
        for (locale, sample), job, result in zip(names, jobs, results, strict=True):
            told = result
            place = place_of(self.version.locales[locale].source, locale, self.around, "body")
            if isinstance(result, RenderFailed):
                place = written_at(result, place)
                looked += 1
                if looked <= _MOST_OF_ONE and (
                    failing := failing_at(self.tools, self.assembled[locale], job, result)
                ):
                    place, told = failing.place, replace(result, detail=failing.why)
            for fault in self._trial_faults(sample, told):
                self._note(place, fault, locale)
            if isinstance(result, Rendered) and self.around.channel == IN_APP:
                self._trial_item(locale, sample, result)
            if isinstance(result, Rendered) and result.whatsapp is not None:
                for part, what, how in filled_faults(result.whatsapp, sample):
                    self._at_part(locale, part, what, how)

    def _trial_faults(self, sample: str, result: Rendered | RenderFailed) -> Iterator[Fault]:
        if isinstance(result, RenderFailed) and (fault := empty_link(result, self.category)):
            yield fault
        elif isinstance(result, RenderFailed):
            how = remedy_of(result.detail) or "mend the text or the sample"
            yield Fault(f"it fails with the sample {sample}: {result.detail}", how)
        elif not (result.html or result.text or "").strip():
            yield Fault(f"it is empty with the sample {sample}", "write something for this case too")
        elif self.around.channel == "sms":
            segments = measure(result.text or "").segments
            if segments > MOST_SEGMENTS:
                yield Fault(
                    f"it takes {segments} segments with the sample {sample}, more than the {MOST_SEGMENTS} that vendors take",
                    "make it shorter",
                )
            elif segments > MANY_SEGMENTS:
                yield Fault(
                    f"it takes {segments} segments with the sample {sample}, each of which is paid for",
                    "make it shorter, or see in the preview what plainer characters would save",
                    severity="warning",
                )

    def _trial_item(self, locale: str, sample: str, result: Rendered) -> None:
        """What the in-app inbox makes of it."""
        source = self.version.locales[locale].source
        item = read_content(
            result.subject,
            result.text,
            json=source.format is BodyFormat.JSON,
            allowed=(*self.links.own_hosts, *self.links.allowed) if self.links.allowed else (),
        )
        if isinstance(item, ContentFault):
            what = f"with the sample {sample} it is no item of an inbox: {item.field} {item.remedy}"
            part = "subject" if item.field == "subject" else "body"
            self._at_part(locale, part, what, "correct it; docs/inbox.md shows the form")

    def _fields(self, errors: Iterable[FieldError]) -> None:
        for error in errors:
            what, _, how = error.remedy.partition("; ")
            self._fact(error.field, f"{error.field.rsplit('.', 1)[-1]} {what}", how or "correct it")

    def _fact(self, at: str, what: str, how: str, severity: Severity = "error") -> None:
        place = SourcePosition(f"{self.around.folder}/{FACTS}", at)
        self._note(place, Fault(what, how, severity=severity), None)

    def _at_part(self, locale: str, part: str, what: str, how: str, severity: Severity = "error") -> None:
        place = place_of(self.version.locales[locale].source, locale, self.around, part)
        self._note(place, Fault(what, how, severity=severity), locale)

    def _note(self, place: SourcePosition, fault: Fault, locale: str | None) -> None:
        self.findings.append(finding_of(place, fault, locale))


def finding_of(place: SourcePosition, fault: Fault, locale: str | None) -> TemplateFinding:
    """A fault as a line of the report."""
    return by_name(
        TemplateFinding,
        place,
        severity=fault.severity,
        locale=place.locale or locale,
        what=fault.what[:_LONGEST],
        how=fault.how[:_LONGEST],
    )


def _compiled(locale: str, made: AssembledTexts, links: LinkPolicy) -> Compiled | tuple[Fault, ...]:
    # Only a child process gets here; the others need not load the tools.
    from tidings.notify.templates.compile.locale_content import compile_source

    try:
        return marked(made, compile_source(made.source, locale=locale, links=links, where=_where(made)))
    except CompileError as error:
        return error.faults


def _remarks(made: AssembledTexts, links: LinkPolicy) -> list[tuple[str, Fault]]:
    from tidings.notify.templates.compile.warnings import remarks

    return remarks(made.source, {part: text.text for part, text in made.texts.items()}, links)


def _where(made: AssembledTexts) -> Callable[[int], str]:
    # Markdown is HTML by then, and has other lines.
    markdown = made.source.format is BodyFormat.MARKDOWN

    def where(line: int) -> str:
        place = made.texts["body"].place_of(None if markdown else line)
        return place.file if markdown or place.line is None else f"{place.file}:{place.line}"

    return where


def trial_job(
    content: Content,
    variables: Mapping[str, Any],
    locale: str,
    links: LinkPolicy,
    category: CategoryPolicy | None = None,
) -> RenderJob:
    """A message to a made-up recipient, with the links that messages of this category have."""
    link = trial_link(links) if category is None or has_links(category) else None
    return RenderJob(
        content=content,
        variables=variables,
        locale=locale,
        time_zone=_TRIAL_ZONE,
        allowed_link_domains=tuple(links.allowed),
        recipient_name="Sample Person",
        tenant_name="Sample Tenant",
        brand=Brand(name="Sample Tenant"),
        unsubscribe_url=link,
        preferences_url=link,
    )


def trial_link(links: LinkPolicy) -> str:
    """A link that is allowed, as one to ourselves always is."""
    names = [*links.own_hosts, *links.allowed, "sample.invalid"]
    return f"https://{names[0].replace('*', 'sample')}/sample"


def trial_content(version: TemplateVersion, locale: str, compiled: Compiled) -> Content:
    """What is rendered for a try."""
    # A draft can change between two tries, and what is compiled is known by its key: each try has its own.
    parts = (compiled.subject, compiled.html, compiled.text, compiled.whatsapp)
    return by_name(
        Content, compiled, key=f"trial/{version.id}/{version.version}/{locale}/{hash(parts)}", locale=locale
    )
