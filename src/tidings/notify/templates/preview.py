"""The use case "preview": what a recipient would get: one locale of a version, rendered, whether it is published or not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from msgspec import structs

from tidings.contracts.ids import RecipientId
from tidings.contracts.templates import TemplateFinding
from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DestroyedKeyError
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.facts.load import FactsLoader
from tidings.notify.recipients.errors import ErasedRecipientError, UnknownRecipientError
from tidings.notify.recipients.model import NAME_PURPOSE
from tidings.notify.render.locale_fallback import choose_locale, fallbacks, siblings
from tidings.notify.render.model import Brand, Rendered, RenderFailed, RenderJob
from tidings.notify.templates import store
from tidings.notify.templates.assemble import place_of
from tidings.notify.templates.assets import Asset, with_data
from tidings.notify.templates.authoring import TenantAuthoring
from tidings.notify.templates.errors import InvalidVariablesError, UnpublishableError
from tidings.notify.templates.message_links import empty_link, has_links, written_at
from tidings.notify.templates.model import Compiled, LocaleText, TemplateVersion
from tidings.notify.templates.read_version import ReadVersion
from tidings.notify.templates.sample_faults import remedy_of
from tidings.notify.templates.validate import finding_of, trial_content, trial_link
from tidings.notify.templates.variables import Checker, schema_faults

#: How wide the frame is that shows it.
Width = Literal["desktop", "mobile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewRequest:
    """What is to be shown."""

    locale: str | None = None
    sample: str | None = None
    variables: Mapping[str, Any] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who would read it."""

    locale: str | None = None
    timezone: str = "UTC"
    name: str | None = field(default="Sample Person", repr=False)
    tenant_name: str | None = "Sample Tenant"
    #: How the tenant looks on the channel.
    brand: Brand = Brand(name="Sample Tenant")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What they would get."""

    channel: Channel
    rendered: Rendered = field(repr=False)
    preheader: str | None = field(repr=False)
    #: The locale that was wanted.
    wanted: str
    #: Why this locale and no other, in words.
    why: str
    #: The sample whose variables were used; None where they were given.
    sample: str | None
    #: What would fail a real message, though it is shown here.
    warnings: tuple[TemplateFinding, ...] = ()


async def read_reader(
    tx: store.Side, recipient_id: RecipientId, *, channel: Channel, loader: FactsLoader
) -> Reader:
    """A recipient as a reader; refused where there is none."""
    if not isinstance(tx, TenantTx):
        raise InvalidError([FieldError("recipient_id", "belongs to a tenant; name it with X-Tenant-Id")])
    facts = await loader.load(tx, await loader.shared(), [recipient_id], channels=[channel], guardians=False)
    person = facts.people.get(recipient_id)
    if person is None:
        raise UnknownRecipientError(f"there is no recipient with the id {recipient_id}")
    if person.erased:
        raise ErasedRecipientError
    name = None
    if person.key is not None and person.display_name_ciphertext is not None:
        try:
            name = person.key.unseal(person.display_name_ciphertext, NAME_PURPOSE).decode()
        except (DestroyedKeyError, UnreadableError):
            name = None
    return Reader(locale=person.locale, timezone=person.timezone, name=name, tenant_name=facts.tenant.name)


async def preview(
    read: ReadVersion,
    request: PreviewRequest,
    reader: Reader,
    *,
    engine: TenantAuthoring,
    assets: Sequence[Asset] = (),
) -> Preview:
    """What the reader would get, its pictures inside the HTML; refused with a report where it can't be compiled."""
    version, template = read.version, read.template
    wanted = request.locale or reader.locale or template.default_locale
    chain = (*template.fallback_chain, template.default_locale)
    chosen = choose_locale(wanted, version.locales, version.fallback_chain, chain)
    sample, variables = _variables(version, request)
    compiled = await _compiled(read, chosen, engine)
    content = trial_content(version, chosen, compiled)
    job = RenderJob(
        content=content,
        variables=variables,
        locale=wanted,
        time_zone=reader.timezone,
        allowed_link_domains=tuple(read.links.allowed),
        recipient_name=reader.name,
        tenant_name=reader.tenant_name,
        brand=reader.brand,
        unsubscribe_url=trial_link(read.links),
        preferences_url=trial_link(read.links),
    )
    jobs = [job]
    preheader = await engine.preheader(version, chosen, read.around)
    if preheader is not None:
        # It is part of the HTML; by itself it is one more subject.
        apart = replace(
            content, key=f"{content.key}/preheader", subject=preheader, html=None, text=None, whatsapp=None
        )
        jobs.append(structs.replace(job, content=apart))
    warnings: tuple[TemplateFinding, ...] = ()
    if read.category is not None and not has_links(read.category):
        linkless = [structs.replace(one, unsubscribe_url=None, preferences_url=None) for one in jobs]
        results = await engine.render(linkless)
        failed = next((r for r in results if isinstance(r, RenderFailed)), None)
        fault = empty_link(failed, read.category) if failed is not None else None
        if failed is not None and fault is not None:
            # It is shown as it is meant, and said that it can't be sent so.
            place = place_of(version.locales[chosen].source, chosen, read.around, "body")
            warnings = (finding_of(written_at(failed, place), replace(fault, severity="warning"), chosen),)
            results = await engine.render(jobs)
    else:
        results = await engine.render(jobs)
    result = results[0]
    if isinstance(result, RenderFailed):
        raise InvalidError([await _refusal(engine, read, chosen, job, result)])
    if assets and result.html:
        result = structs.replace(result, html=with_data(result.html, assets))
    return Preview(
        channel=template.channel,
        rendered=result,
        preheader=next((r.subject for r in results[1:] if isinstance(r, Rendered)), None),
        wanted=wanted,
        why=_why(wanted, chosen, version.fallback_chain, chain),
        sample=sample,
        warnings=warnings,
    )


def _variables(version: TemplateVersion, request: PreviewRequest) -> tuple[str | None, Mapping[str, Any]]:
    if request.variables is not None:
        # A draft's schema may be anything yet.
        if faults := schema_faults(version.variables_schema):
            raise InvalidError(faults)
        if faults := Checker(version.variables_schema).faults(request.variables):
            raise InvalidVariablesError(faults)
        return None, request.variables
    names = list(version.samples)
    sample = request.sample if request.sample is not None else next(iter(names), None)
    if sample is None:
        raise InvalidError([FieldError("variables", "must be given: the version has no samples")])
    if sample not in version.samples:
        raise InvalidError([FieldError("sample", f"must be one of {', '.join(names) or 'none'}")])
    return sample, version.samples[sample]


async def _refusal(
    engine: TenantAuthoring, read: ReadVersion, locale: str, job: RenderJob, failed: RenderFailed
) -> FieldError:
    """Why the values fail the text, and where in the author's files."""
    failing = await engine.failing(job, failed, version=read.version, locale=locale, around=read.around)
    why = failing.why if failing else failed.detail
    where = failed.place.rpartition(":")[0]
    if failing is not None:
        place = failing.place
        where = ":".join(str(part) for part in (place.file, place.line, place.column) if part)
    how = remedy_of(why) or "change the values or the text"
    return FieldError(
        "variables", f"make the text fail{f' at {where}' if where else ''}: {why} ({failed.code}); {how}"
    )


async def _compiled(read: ReadVersion, locale: str, engine: TenantAuthoring) -> Compiled:
    there = read.version.locales[locale].compiled
    if there is not None:
        return there
    # Only what is shown has to be in order: others may still be at work on the other locales and on the samples.
    alone = replace(
        read,
        version=replace(
            read.version,
            locales={locale: LocaleText(source=read.version.locales[locale].source)},
            samples={},
        ),
    )
    report = await alone.validated(engine)
    made = report.locales.get(locale)
    wrong = any(found.locale == locale for found in report.errors)
    if wrong or made is None or made.compiled is None:
        # Where the reading itself was stopped, no locale is named.
        raise UnpublishableError(
            [found for found in report.findings if found.locale == locale] or report.findings
        )
    return made.compiled


def _why(wanted: str, chosen: str, version_chain: Sequence[str], template_chain: Sequence[str]) -> str:
    if chosen.lower() == wanted.lower():
        return "it is the one that was wanted"
    if wanted.lower().startswith(f"{chosen.lower()}-"):
        return f"there is no text for {wanted}; it is the same language"
    if siblings(wanted, [chosen]):
        return f"there is no text for {wanted}; it is another region of the same language"
    if chosen.lower() in (tag.lower() for tag in version_chain):
        return f"there is no text for {wanted}; it is in the version's fallback chain"
    if chosen.lower() in (tag.lower() for tag in fallbacks("und", (), template_chain)):
        return f"there is no text for {wanted}; it is in the template's fallback chain"
    return f"there is no text for {wanted} nor for any fallback"
