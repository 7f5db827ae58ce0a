"""The validator that stands before publishing: every fault of every locale at once, then the compiled texts."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from tidings.contracts.tenants import Channel
from tidings.kernel.refusals import FieldError
from tidings.notify.render.model import Content, Rendered, Renderer, RenderFailed, RenderJob
from tidings.notify.templates.errors import CompileError, UnpublishableError
from tidings.notify.templates.model import BodyFormat, Compiled, LinkPolicy, LocaleText, Source, Version
from tidings.notify.templates.syntax import syntax_faults
from tidings.notify.templates.variables import Checker, schema_faults

#: Channels whose messages can be HTML.
_HTML_CHANNELS: Final = frozenset({"email", "inapp"})
_TRIAL_ZONE: Final = "UTC"


class Parser(Protocol):
    """Reads Handlebars."""

    async def parse(self, source: str) -> Mapping[str, Any]:
        """`{"tree"}` or `{"error"}`."""
        ...


class Engine(Parser, Renderer, Protocol):
    """What publishing needs of the renderer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publishable:
    """A version whose locales are compiled and have been tried."""

    locales: Mapping[str, LocaleText]


async def validate(
    version: Version, *, channel: Channel, default_locale: str, links: LinkPolicy, engine: Engine
) -> Publishable:
    """The compiled locales; an `UnpublishableError` that names every fault."""
    faults = list(_version_faults(version, default_locale))
    compiled: dict[str, LocaleText] = {}
    for locale, text in version.locales.items():
        found = list(_channel_faults(locale, text.source, channel))
        found += await _source_faults(locale, text.source, version.variables_schema, engine)
        if not found:
            # The tools take milliseconds and hold no lock of ours: other work goes on meanwhile.
            result = await asyncio.to_thread(_compiled, locale, text.source, links)
            if isinstance(result, FieldError):
                found.append(result)
            else:
                compiled[locale] = replace(text, compiled=result)
        faults += found
    if not faults:
        faults += await _trial_faults(version, compiled, links, engine)
    if faults:
        raise UnpublishableError(faults)
    return Publishable(locales=compiled)


def _version_faults(version: Version, default_locale: str) -> Iterator[FieldError]:
    broken = schema_faults(version.variables_schema)
    yield from broken
    if default_locale.lower() not in {tag.lower() for tag in version.locales}:
        yield FieldError("locales", f"must have {default_locale}, the template's default locale")
    if not version.samples:
        yield FieldError("preview_samples", "must have at least one sample, to try the texts with")
    if not broken:
        checker = Checker(version.variables_schema)
        for name, sample in version.samples.items():
            yield from checker.faults(sample, field=f"preview_samples.{name}")


def _channel_faults(locale: str, source: Source, channel: Channel) -> Iterator[FieldError]:
    if (
        source.format in (BodyFormat.HTML, BodyFormat.MJML, BodyFormat.MARKDOWN)
        and channel not in _HTML_CHANNELS
    ):
        yield FieldError(f"locales.{locale}.format", f"must be text for {channel}")
    if channel == "email" and not source.subject:
        yield FieldError(f"locales.{locale}.subject", "is required for email")


async def _source_faults(
    locale: str, source: Source, schema: Mapping[str, Any], engine: Parser
) -> list[FieldError]:
    faults: list[FieldError] = []
    for part in ("subject", "preheader", "body", "text"):
        written = getattr(source, part)
        if written is None:
            continue
        read = await engine.parse(written)
        at = f"locales.{locale}.{part}"
        if "error" in read:
            faults.append(FieldError(at, f"is not valid Handlebars: {read['error']}"))
        else:
            faults += [FieldError(at, fault) for fault in syntax_faults(read["tree"], schema)]
    return faults


def _compiled(locale: str, source: Source, links: LinkPolicy) -> Compiled | FieldError:
    # The tools are loaded by whoever publishes first, not by every start.
    from tidings.notify.templates.compile.locale_content import compile_source

    try:
        return compile_source(source, locale=locale, links=links)
    except CompileError as error:
        return FieldError(f"locales.{locale}.body", str(error))


async def _trial_faults(
    version: Version, compiled: Mapping[str, LocaleText], links: LinkPolicy, engine: Renderer
) -> list[FieldError]:
    """Render every locale with every sample: what fails now would fail for people later."""
    names: list[tuple[str, str]] = []
    jobs: list[RenderJob] = []
    for locale, text in compiled.items():
        for sample, variables in version.samples.items():
            assert text.compiled is not None  # noqa: S101
            names.append((locale, sample))
            jobs.append(
                RenderJob(
                    content=_trial_content(version, locale, text.compiled),
                    variables=variables,
                    locale=locale,
                    time_zone=_TRIAL_ZONE,
                    allowed_link_domains=tuple(links.allowed),
                    recipient_name="Sample Person",
                    tenant_name="Sample Tenant",
                    unsubscribe_url=_trial_link(links),
                    preferences_url=_trial_link(links),
                )
            )
    results = await engine.render(jobs)
    return [
        fault
        for (locale, sample), result in zip(names, results, strict=True)
        if (fault := _trial_fault(locale, sample, result)) is not None
    ]


def _trial_link(links: LinkPolicy) -> str:
    """A link that is allowed, as one to ourselves always is."""
    names = [*links.own_hosts, *links.allowed, "sample.invalid"]
    return f"https://{names[0].replace('*', 'sample')}/sample"


def _trial_content(version: Version, locale: str, compiled: Compiled) -> Content:
    # A draft can change between two tries, and what is compiled is known by its key: each try has its own.
    key = f"trial/{version.id}/{version.version}/{locale}/{hash((compiled.subject, compiled.html, compiled.text))}"
    return Content(
        key=key,
        locale=locale,
        direction=compiled.direction,
        subject=compiled.subject,
        html=compiled.html,
        text=compiled.text,
    )


def _trial_fault(locale: str, sample: str, result: Rendered | RenderFailed) -> FieldError | None:
    if isinstance(result, RenderFailed):
        return FieldError(f"locales.{locale}.body", f"fails with the sample {sample}: {result.detail}")
    if not (result.html or result.text or "").strip():
        return FieldError(f"locales.{locale}.body", f"is empty with the sample {sample}")
    return None
