"""Templates as JSON: what requests bring and answers show."""

import re
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel, Locale
from tidings.contracts.text import Reason
from tidings.contracts.words import CHANNELS, Category, Priority
from tidings.kernel.errors import BadValueError
from tidings.notify.templates.create_version import VersionWish
from tidings.notify.templates.model import BodyFormat, Source, Template, Version, VersionSource, VersionStatus
from tidings.notify.templates.semver import Semver
from tidings.notify.templates.store import VersionLine

_KEY = re.compile(r"[a-z][a-z0-9]*(?:[_.-][a-z0-9]+)*")
_LONGEST_KEY = 100

SemverText = Annotated[str, Meta(max_length=64, description="must be a version such as 1.4.0 or 2.0.0-rc.1")]
Line = Annotated[
    str,
    Meta(
        min_length=1, max_length=1000, pattern=r"^[^\x00-\x1f\x7f]*$", description="must be one line of text"
    ),
]
Body = Annotated[str, Meta(min_length=1, max_length=300_000)]
Chain = Annotated[tuple[Locale, ...], Meta(max_length=20)]


def key_of(text: str) -> str:
    """The key in a path; a `BadValueError` where it is none."""
    if len(text) > _LONGEST_KEY or not _KEY.fullmatch(text):
        raise BadValueError("key", "must be lower-case words such as order_confirmation")
    return text


def channel_of(text: str) -> Channel:
    """The channel in a path; a `BadValueError` where it is none."""
    for channel in CHANNELS:
        if channel == text:
            return channel
    raise BadValueError("channel", f"must be one of {', '.join(CHANNELS)}")


class LocaleSource(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The texts of one locale, in Handlebars."""

    body: Body
    format: BodyFormat = BodyFormat.TEXT
    subject: Line | None = None
    #: What a mailbox shows beside the subject.
    preheader: Line | None = None
    #: The text alternative; made from the body where it is left out.
    text: Body | None = None
    #: By the language where it is left out.
    direction: Literal["ltr", "rtl"] | None = None

    def source(self) -> Source:
        """The same for the inside."""
        return Source(
            format=self.format,
            body=self.body,
            subject=self.subject,
            preheader=self.preheader,
            text=self.text,
            direction=self.direction,
        )

    @classmethod
    def of(cls, source: Source) -> "LocaleSource":
        """The same for the outside."""
        return cls(
            body=source.body,
            format=source.format,
            subject=source.subject,
            preheader=source.preheader,
            text=source.text,
            direction=source.direction,
        )


class CreateVersion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A version to be; a draft until it is published."""

    semver: SemverText
    #: JSON Schema 2020-12 of the variables.
    variables_schema: dict[str, Any]
    locales: Annotated[dict[Locale, LocaleSource], Meta(min_length=1, max_length=60)]
    #: Variables by a name of your choice; publishing tries every locale with each.
    preview_samples: Annotated[dict[str, dict[str, Any]], Meta(max_length=20)] = {}
    #: Locales to try before those of the template.
    fallback_chain: Chain = ()
    #: Needed with the first version of a template; leave it out later.
    category: Category | None = None
    #: With the first version; `en` where it is left out.
    default_locale: Locale | None = None
    #: With the first version: locales to try before the default.
    template_fallback_chain: Chain | None = None
    #: With the first version.
    default_priority: Priority | None = None

    def wish(self) -> VersionWish:
        """The same for the inside."""
        return VersionWish(
            semver=Semver.parse(self.semver),
            variables_schema=self.variables_schema,
            locales={tag: text.source() for tag, text in self.locales.items()},
            samples=self.preview_samples,
            fallback_chain=self.fallback_chain,
            category=self.category,
            default_locale=self.default_locale,
            template_fallback_chain=self.template_fallback_chain,
            default_priority=self.default_priority,
        )


class PublishVersion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why it is published; for the audit."""

    reason: Reason | None = None


class RollBack(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to go back to."""

    #: The version that the present one took the place of where this is left out.
    to: SemverText | None = None
    reason: Reason | None = None


class TemplateView(Struct, frozen=True, kw_only=True):
    """A template."""

    id: str
    key: str
    channel: Channel
    #: Whose it is.
    owner: Literal["tenant", "platform"]
    category: str
    default_locale: str
    fallback_chain: tuple[str, ...]
    default_priority: Priority
    #: The version in force; null while nothing is published.
    active_version: str | None
    version: int
    updated_at: Moment

    @classmethod
    def of(cls, template: Template, active: str | None) -> "TemplateView":
        """The template as it is shown."""
        return cls(
            id=template.id,
            key=template.key,
            channel=template.channel,
            owner="platform" if template.tenant_id is None else "tenant",
            category=template.category,
            default_locale=template.default_locale,
            fallback_chain=template.fallback_chain,
            default_priority=template.default_priority,
            active_version=active,
            version=template.version,
            updated_at=template.updated_at,
        )


class VersionSummary(Struct, frozen=True, kw_only=True):
    """A version without its texts."""

    id: str
    semver: str
    status: VersionStatus
    source: VersionSource
    locales: tuple[str, ...]
    created_by: str
    published_at: Moment | None
    archived_at: Moment | None

    @classmethod
    def of(cls, line: VersionLine) -> "VersionSummary":
        """The version as a list shows it."""
        return cls(
            id=line.id,
            semver=line.semver,
            status=line.status,
            source=line.source,
            locales=line.locales,
            created_by=line.created_by,
            published_at=line.published_at,
            archived_at=line.archived_at,
        )


class VersionView(Struct, frozen=True, kw_only=True):
    """A version with its texts."""

    id: str
    template_id: str
    semver: str
    status: VersionStatus
    source: VersionSource
    variables_schema: dict[str, Any]
    locales: dict[str, LocaleSource]
    preview_samples: dict[str, Any]
    fallback_chain: tuple[str, ...]
    created_by: str
    supersedes_id: str | None
    published_at: Moment | None
    archived_at: Moment | None
    version: int
    updated_at: Moment

    @classmethod
    def of(cls, version: Version) -> "VersionView":
        """The version as it is shown."""
        return cls(
            id=version.id,
            template_id=version.template_id,
            semver=str(version.semver),
            status=version.status,
            source=version.source,
            variables_schema=dict(version.variables_schema),
            locales={tag: LocaleSource.of(text.source) for tag, text in version.locales.items()},
            preview_samples=dict(version.samples),
            fallback_chain=version.fallback_chain,
            created_by=version.created_by,
            supersedes_id=version.supersedes_id,
            published_at=version.published_at,
            archived_at=version.archived_at,
            version=version.version,
            updated_at=version.updated_at,
        )
