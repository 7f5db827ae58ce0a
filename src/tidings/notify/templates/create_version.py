"""The use case "here is a new version": a draft, and its template where there is none yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.errors import AlreadyExistsError
from tidings.kernel.mapping import attributes
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.categories.store import load_categories
from tidings.notify.ids import TEMPLATE, TEMPLATE_VERSION
from tidings.notify.templates import store
from tidings.notify.templates.device_names import device_remedy
from tidings.notify.templates.errors import TemplateVersionTakenError
from tidings.notify.templates.model import (
    LocaleText,
    Priority,
    Source,
    Template,
    TemplateName,
    TemplateVersion,
    VersionSource,
    VersionStatus,
)
from tidings.notify.templates.semver import Semver

DEFAULT_LOCALE = "en"
#: What is wrong with a key whose template was put away.
ARCHIVED_KEY: Final = FieldError(
    "key", "belongs to a template that was archived; restore it (POST …/restore), or choose another"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionSpec:
    """What an author wants to be a version."""

    semver: Semver
    variables_schema: Mapping[str, Any]
    locales: Mapping[str, Source]
    samples: Mapping[str, Mapping[str, Any]]
    fallback_chain: Sequence[str] = ()
    #: Of the template; needed with its first version, and not changed by later ones.
    category: str | None = None
    default_locale: str | None = None
    template_fallback_chain: Sequence[str] | None = None
    default_priority: Priority | None = None
    partials: Mapping[str, str] = field(default_factory=dict)
    strings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    layout: str | None = None
    #: Given for what a machine has drafted.
    provenance: Mapping[str, Any] | None = None


async def create_version(
    tx: store.Side, name: TemplateName, spec: VersionSpec, *, actor: str, audit: AuditLog, clock: Clock
) -> tuple[Template, TemplateVersion]:
    """The draft; nothing is checked yet but its form."""
    now = clock.now()
    template = await store.lock_template(tx, name)
    if template is None:
        template = await _add_template(tx, name, spec, actor=actor, now=now)
    else:
        refuse_changes(template, spec)
    version = new_draft(template, spec, actor=actor, now=now)
    try:
        await store.add_versions(tx, [version], created_by=actor, now=now)
    except AlreadyExistsError as error:
        raise TemplateVersionTakenError(
            f"{name} has a version {spec.semver} already; choose a higher one"
        ) from error
    await audit.append(tx, [created_entry(template, version, actor)])
    return template, version


def new_draft(template: Template, spec: VersionSpec, *, actor: str, now: datetime) -> TemplateVersion:
    """A new version of what an author wants: a draft."""
    return TemplateVersion(
        id=TEMPLATE_VERSION.new(now),
        template_id=template.id,
        tenant_id=template.tenant_id,
        semver=spec.semver,
        status=VersionStatus.DRAFT,
        source=_source(template, spec),
        created_by=actor,
        approver_user_id=None,
        supersedes_id=None,
        published_at=None,
        archived_at=None,
        version=1,
        updated_at=now,
        **content_of(spec),
        provenance=spec.provenance,
    )


def content_of(spec: VersionSpec) -> dict[str, Any]:
    """What a version says, by the fields that hold it."""
    return {
        **attributes(spec, "variables_schema samples partials strings layout"),
        "fallback_chain": tuple(spec.fallback_chain),
        "locales": {tag: LocaleText(source=source) for tag, source in spec.locales.items()},
    }


def created_entry(template: Template, version: TemplateVersion, actor: str) -> Entry:
    """What the audit says of a new version."""
    return Entry(
        entity_type="template",
        entity_id=template.id,
        action="version.created",
        actor=actor,
        after={
            **attributes(template, "key channel"),
            "version_id": version.id,
            "semver": str(version.semver),
        },
    )


def _source(template: Template, spec: VersionSpec) -> VersionSource:
    if spec.provenance is not None:
        return VersionSource.AI_DRAFTED
    return VersionSource.PLATFORM if template.tenant_id is None else VersionSource.TENANT


def new_template(name: TemplateName, spec: VersionSpec, *, now: datetime) -> store.NewTemplate:
    """The template that a first version brings; an `InvalidError` where it does not say what is needed."""
    if remedy := device_remedy(name.key):
        raise InvalidError([FieldError("key", remedy)])
    if spec.category is None:
        raise InvalidError([FieldError("category", "is required with the first version of a template")])
    return store.NewTemplate(
        id=TEMPLATE.new(now),
        key=name.key,
        channel=name.channel,
        category=spec.category,
        default_locale=spec.default_locale or DEFAULT_LOCALE,
        fallback_chain=spec.template_fallback_chain or (),
        default_priority=spec.default_priority or "normal",
    )


def category_fault(name: str, known: Mapping[str, CategoryPolicy]) -> FieldError | None:
    """Why a new template can't have this category; None where it can."""
    policy = known.get(name)
    if policy is not None and not policy.retired:
        return None
    usable = ", ".join(sorted(one for one, policy in known.items() if not policy.retired))
    return FieldError(
        "category",
        f"{'is not a known category' if policy is None else 'is retired'}; must be one of {usable}",
    )


async def _add_template(
    tx: store.Side, name: TemplateName, spec: VersionSpec, *, actor: str, now: datetime
) -> Template:
    fresh = new_template(name, spec, now=now)
    if fault := category_fault(fresh.category, await load_categories(tx)):
        raise InvalidError([fault])
    await store.add_templates(tx, [fresh], created_by=actor, now=now)
    template = await store.lock_template(tx, name)
    if template is None:
        raise InvalidError([ARCHIVED_KEY])
    return template


def refuse_changes(template: Template, spec: VersionSpec) -> None:
    """The template's own facts hold for what is being sent now; a draft must not change them."""
    known = {
        "category": (spec.category, template.category),
        "default_locale": (spec.default_locale, template.default_locale),
        "default_priority": (spec.default_priority, template.default_priority),
        "template_fallback_chain": (
            None if spec.template_fallback_chain is None else tuple(spec.template_fallback_chain),
            template.fallback_chain,
        ),
    }
    wrong = [
        FieldError(field, f"is {shown(there)} for this template already; leave it out")
        for field, (wanted, there) in known.items()
        if wanted is not None and wanted != there
    ]
    if wrong:
        raise InvalidError(wrong)


def shown(value: object) -> str:
    """A value in a sentence."""
    return ", ".join(value) or "empty" if isinstance(value, tuple) else str(value)
