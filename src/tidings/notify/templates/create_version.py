"""The use case "here is a new version": a draft, and its template where there is none yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidings.contracts.tenants import Channel
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import AlreadyExistsError, MissingReferenceError
from tidings.kernel.ids import TEMPLATE, TEMPLATE_VERSION
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.templates import store
from tidings.notify.templates.errors import TemplateVersionTakenError
from tidings.notify.templates.model import (
    LocaleText,
    Priority,
    Source,
    Template,
    Version,
    VersionSource,
    VersionStatus,
)
from tidings.notify.templates.semver import Semver

DEFAULT_LOCALE = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionWish:
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
    tx: store.Side,
    wish: VersionWish,
    *,
    key: str,
    channel: Channel,
    actor: str,
    audit: AuditLog,
    clock: Clock,
) -> tuple[Template, Version]:
    """The draft; nothing is checked yet but its form."""
    now = clock.now()
    template = await store.lock_template(tx, key=key, channel=channel)
    if template is None:
        template = await _add_template(tx, wish, key=key, channel=channel, actor=actor, clock=clock)
    else:
        refuse_changes(template, wish)
    version = Version(
        id=TEMPLATE_VERSION.new(now),
        template_id=template.id,
        tenant_id=template.tenant_id,
        semver=wish.semver,
        status=VersionStatus.DRAFT,
        source=_source(tx, wish),
        created_by=actor,
        approver_user_id=None,
        supersedes_id=None,
        variables_schema=wish.variables_schema,
        fallback_chain=tuple(wish.fallback_chain),
        samples=wish.samples,
        locales={tag: LocaleText(source=source) for tag, source in wish.locales.items()},
        published_at=None,
        archived_at=None,
        version=1,
        updated_at=now,
        partials=wish.partials,
        strings=wish.strings,
        layout=wish.layout,
        provenance=wish.provenance,
    )
    try:
        await store.add_version(tx, version, now=now)
    except AlreadyExistsError as error:
        raise TemplateVersionTakenError(
            f"{key} for {channel} has a version {wish.semver} already; choose a higher one"
        ) from error
    entry = Entry(
        entity_type="template",
        entity_id=template.id,
        action="version.created",
        actor=actor,
        after={"key": key, "channel": channel, "version_id": version.id, "semver": str(wish.semver)},
    )
    await audit.append(tx, [entry])
    return template, version


def _source(tx: store.Side, wish: VersionWish) -> VersionSource:
    if wish.provenance is not None:
        return VersionSource.AI_DRAFTED
    return VersionSource.TENANT if isinstance(tx, TenantTx) else VersionSource.PLATFORM


async def _add_template(
    tx: store.Side, wish: VersionWish, *, key: str, channel: Channel, actor: str, clock: Clock
) -> Template:
    if wish.category is None:
        raise InvalidError([FieldError("category", "is required with the first version of a template")])
    now = clock.now()
    try:
        await store.add_template(
            tx,
            id=TEMPLATE.new(now),
            key=key,
            channel=channel,
            category=wish.category,
            default_locale=wish.default_locale or DEFAULT_LOCALE,
            fallback_chain=wish.template_fallback_chain or (),
            default_priority=wish.default_priority or "normal",
            created_by=actor,
            now=now,
        )
    except MissingReferenceError as error:
        raise InvalidError([FieldError("category", "is not a known category")]) from error
    template = await store.lock_template(tx, key=key, channel=channel)
    if template is None:
        raise InvalidError([FieldError("key", "belongs to a template that was archived; choose another")])
    return template


def refuse_changes(template: Template, wish: VersionWish) -> None:
    """The template's own facts hold for what is being sent now; a draft must not change them."""
    known = {
        "category": (wish.category, template.category),
        "default_locale": (wish.default_locale, template.default_locale),
        "default_priority": (wish.default_priority, template.default_priority),
        "template_fallback_chain": (
            None if wish.template_fallback_chain is None else tuple(wish.template_fallback_chain),
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
