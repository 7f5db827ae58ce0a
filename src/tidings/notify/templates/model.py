"""A template, its versions and their texts; which version may follow which state, and which locale is read."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from tidings.contracts.tenants import Channel
from tidings.contracts.vendor_templates import VendorTemplate
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import by_name
from tidings.notify.ids import TemplateId, TemplateVersionId
from tidings.notify.render.locale_fallback import choose_locale
from tidings.notify.render.model import Content, Direction, key_of_sources
from tidings.notify.templates.semver import Semver

Priority = Literal["critical", "high", "normal", "low"]


class BodyFormat(StrEnum):
    """What a body is written in."""

    HTML = "html"
    MJML = "mjml"
    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


class VersionStatus(StrEnum):
    """Where a version stands."""

    DRAFT = "draft"
    ACTIVE = "active"
    ARCHIVED = "archived"


class VersionSource(StrEnum):
    """Who wrote a version."""

    PLATFORM = "platform"
    TENANT = "tenant"
    AI_DRAFTED = "ai_drafted"


@dataclass(frozen=True, slots=True)
class TemplateName:
    """What a template is known by."""

    key: str
    channel: Channel

    def __str__(self) -> str:
        return f"{self.key} for {self.channel}"

    def version(self, semver: object) -> "VersionName":
        """One of its versions."""
        return VersionName(self.key, self.channel, str(semver))


@dataclass(frozen=True, slots=True)
class VersionName(TemplateName):
    """What a version of a template is known by."""

    semver: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatsappReference(VendorTemplate):
    """A template that is registered with WhatsApp; what is filled in are Handlebars texts."""

    def with_values(self, values: Mapping[str, str]) -> "WhatsappReference":
        """The same with other texts, each under the field that `values()` calls it by."""
        header = self.header
        if header is not None:
            header = replace(
                header,
                text=values.get("header.text"),
                link=values.get("header.link"),
                id=values.get("header.id"),
                filename=values.get("header.filename"),
            )
        return replace(
            self,
            header=header,
            parameters=tuple(values[f"parameters[{n}]"] for n in range(len(self.parameters))),
            named_parameters={name: values[f"named_parameters.{name}"] for name in self.named_parameters},
            buttons=tuple(
                replace(button, text=values[f"buttons[{n}].text"]) for n, button in enumerate(self.buttons)
            ),
            otp_button=values.get("otp_button"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What an author wrote for one locale."""

    format: BodyFormat
    body: str
    subject: str | None = None
    preheader: str | None = None
    #: The text alternative; made from the body where it is left out.
    text: str | None = None
    #: By the language where it is left out.
    direction: Direction | None = None
    #: What is sent instead of the body where WhatsApp asks for a template it has approved.
    whatsapp: WhatsappReference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """What rendering fills in; made once, when the version is published."""

    direction: Direction
    subject: str | None
    html: str | None
    text: str | None
    #: The reference with its parameters, as a JSON document.
    whatsapp: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPolicy:
    """Where links may lead."""

    #: Empty: anywhere.
    allowed: Sequence[str] = ()
    own_hosts: Sequence[str] = ()
    #: The names that `cid:` may say; None: any.
    assets: Collection[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssetFacts:
    """What is known of a picture without reading it."""

    media_type: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LocaleText:
    """One locale of a version."""

    source: Source
    #: None while it is a draft.
    compiled: Compiled | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A key and a channel, and what holds for all versions."""

    id: TemplateId
    #: None: the platform's.
    tenant_id: TenantId | None
    key: str
    channel: Channel
    category: str
    active_version_id: TemplateVersionId | None
    default_locale: str
    #: Locales to try before the default.
    fallback_chain: tuple[str, ...]
    default_priority: Priority
    version: int
    updated_at: datetime
    #: The platform's version that it was customised from last; None: it is the tenant's own from the beginning.
    platform_semver: str | None = None

    @property
    def name(self) -> TemplateName:
        """Its key and its channel."""
        return TemplateName(self.key, self.channel)

    def newer_than(self, platforms: str | None) -> str | None:
        """The platform's version in force, where it is newer than the one that this was customised from."""
        if self.platform_semver is None or platforms is None:
            return None
        return platforms if Semver.parse(platforms) > Semver.parse(self.platform_semver) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateVersion:
    """One version of a template; its content never changes once it was published."""

    id: TemplateVersionId
    template_id: TemplateId
    tenant_id: TenantId | None
    semver: Semver
    status: VersionStatus
    source: VersionSource
    created_by: str
    approver_user_id: str | None
    #: The version that was active before this one was published.
    supersedes_id: TemplateVersionId | None
    variables_schema: Mapping[str, Any]
    fallback_chain: tuple[str, ...]
    #: Sample variables by name, for previews and for the trial at publishing.
    samples: Mapping[str, Mapping[str, Any]]
    locales: Mapping[str, LocaleText]
    published_at: datetime | None
    archived_at: datetime | None
    version: int
    updated_at: datetime
    #: Texts that the others call by `{{> name}}`.
    partials: Mapping[str, str] = field(default_factory=dict)
    #: By locale and name: what `{{t "name"}}` prints.
    strings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: The tenant's layout that bodies are set into.
    layout: str | None = None
    #: Where an AI draft comes from.
    provenance: Mapping[str, Any] | None = None
    approved_at: datetime | None = None
    #: The pictures that its mails carry, by name; their bytes are read by themselves.
    assets: Mapping[str, AssetFacts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A published version together with its template: everything that accepting and rendering need."""

    template: Template
    version: TemplateVersion

    def content_for(self, locale: str) -> Content:
        """The texts for a reader of `locale`, by both fallback chains."""
        chosen = choose_locale(
            locale,
            self.version.locales,
            self.version.fallback_chain,
            (*self.template.fallback_chain, self.template.default_locale),
        )
        compiled = self.version.locales[chosen].compiled
        if compiled is None:
            raise LookupError(f"{self.version.id} is not published")
        sources = (compiled.subject, compiled.html, compiled.text, compiled.whatsapp)
        return by_name(Content, compiled, key=key_of_sources(*sources), locale=chosen)
