"""Templates as JSON: what requests bring and answers show."""

import re
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, convert, to_builtins

from tidings.contracts.enums import CHANNELS, Category, Priority
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel, Locale
from tidings.contracts.text import Reason
from tidings.kernel.errors import BadValueError
from tidings.kernel.mapping import attributes, by_name
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.templates.create_version import VersionSpec
from tidings.notify.templates.device_names import device_remedy
from tidings.notify.templates.model import (
    BodyFormat,
    Source,
    Template,
    TemplateVersion,
    VersionSource,
    VersionStatus,
    WhatsappReference,
)
from tidings.notify.templates.semver import Semver
from tidings.notify.templates.store import TemplateLine, VersionLine
from tidings.notify.templates.whatsapp_wire import Whatsapp

_KEY = re.compile(r"[a-z][a-z0-9]*(?:[_.-][a-z0-9]+)*")
_LONGEST_KEY = 100

SemverText = Annotated[str, Meta(max_length=64, description="must be a version such as 1.4.0 or 2.0.0-rc.1")]
Line = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1000,
        pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*\Z",
        description="must be one line of text",
    ),
]
Body = Annotated[str, Meta(min_length=1, max_length=300_000)]
#: One text of a version, which may be empty.
Piece = Annotated[str, Meta(max_length=300_000)]
PartialName = Annotated[
    str,
    Meta(
        max_length=64,
        pattern=r"^[a-z][a-z0-9_-]*\Z",
        description="must be a lower-case name such as footer or order_row",
    ),
]
StringName = Annotated[
    str,
    Meta(
        max_length=100,
        pattern=r"^[A-Za-z][A-Za-z0-9_.-]*\Z",
        description="must be a name such as greeting or footer.address",
    ),
]
StringsByLocale = Annotated[
    dict[Locale, Annotated[dict[StringName, Annotated[str, Meta(max_length=10_000)]], Meta(max_length=1000)]],
    Meta(max_length=60),
]
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


class Provenance(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where a text comes from that a machine has drafted."""

    model: Annotated[str, Meta(min_length=1, max_length=200)]
    #: A digest of what was asked for; the words themselves stay with whoever asked.
    prompt_hash: Annotated[str, Meta(min_length=1, max_length=200)]
    #: Who asked for it; cannot be the one who approves it.
    requested_by: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    #: Who has changed the draft since; none of them can approve it either. Kept by Tidings.
    changed_by: Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=1000)] = ()
    #: Anything else that is worth keeping: parameters, the tool, its version.
    details: Annotated[dict[str, Annotated[str, Meta(max_length=500)]], Meta(max_length=20)] = {}


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
    #: For WhatsApp: what is sent where it wants a registered template.
    whatsapp: Whatsapp | None = None

    def source(self) -> Source:
        """The same for the inside."""
        return by_name(
            Source,
            self,
            whatsapp=None
            if self.whatsapp is None
            else convert(to_builtins(self.whatsapp), WhatsappReference),
        )

    @classmethod
    def of(cls, source: Source) -> "LocaleSource":
        """The same for the outside."""
        return by_name(
            cls,
            source,
            whatsapp=None if source.whatsapp is None else convert(to_builtins(source.whatsapp), Whatsapp),
        )


class VersionContent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that a draft says; replaced as a whole."""

    #: JSON Schema 2020-12 of the variables.
    variables_schema: dict[str, Any]
    locales: Annotated[dict[Locale, LocaleSource], Meta(min_length=1, max_length=60)]
    #: Variables by a name of your choice; publishing tries every locale with each.
    preview_samples: Annotated[dict[str, dict[str, Any]], Meta(max_length=20)] = {}
    #: Locales to try before those of the template.
    fallback_chain: Chain = ()
    #: Texts that the others call by `{{> name}}`.
    partials: Annotated[dict[PartialName, Piece], Meta(max_length=100)] = {}
    #: By locale and name: what `{{t "name"}}` prints.
    strings: StringsByLocale = {}
    #: The layout of yours that the bodies are set into.
    layout: PartialName | None = None
    #: Needed where a machine has drafted the texts; somebody else has to approve them.
    ai_provenance: Provenance | None = None


class CreateVersion(VersionContent, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A version to be; a draft until it is published."""

    semver: SemverText
    #: Needed with the first version of a template; leave it out later.
    category: Category | None = None
    #: With the first version; `en` where it is left out.
    default_locale: Locale | None = None
    #: With the first version: locales to try before the default.
    template_fallback_chain: Chain | None = None
    #: With the first version.
    default_priority: Priority | None = None

    def spec(self) -> VersionSpec:
        """The same for the inside."""
        if wrong := [(name, remedy) for name in self.partials if (remedy := device_remedy(name))]:
            raise InvalidError([FieldError(f"partials.{name}", remedy) for name, remedy in wrong])
        return by_name(
            VersionSpec,
            self,
            semver=Semver.parse(self.semver),
            locales={tag: text.source() for tag, text in self.locales.items()},
            samples=self.preview_samples,
            provenance=None if self.ai_provenance is None else to_builtins(self.ai_provenance),
        )


class ChangeVersion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be different in a draft; what is left out stays."""

    variables_schema: dict[str, Any] | UnsetType = UNSET
    #: Those that are named; null takes one away.
    locales: Annotated[dict[Locale, LocaleSource | None], Meta(max_length=60)] | UnsetType = UNSET
    preview_samples: Annotated[dict[str, dict[str, Any]], Meta(max_length=20)] | UnsetType = UNSET
    fallback_chain: Chain | UnsetType = UNSET
    partials: Annotated[dict[PartialName, Piece], Meta(max_length=100)] | UnsetType = UNSET
    strings: StringsByLocale | UnsetType = UNSET
    layout: PartialName | UnsetType | None = UNSET

    def onto(self, version: TemplateVersion) -> VersionContent:
        """The whole of the draft with this change made."""
        there = VersionView.of(version)
        locales = dict(there.locales)
        for tag, text in ({} if isinstance(self.locales, UnsetType) else self.locales).items():
            if text is None:
                locales.pop(tag, None)
            else:
                locales[tag] = text
        if not locales:
            raise BadValueError("locales", "must keep at least one locale")
        names = ("variables_schema", "preview_samples", "fallback_chain", "partials", "strings", "layout")
        given = {name: value for name in names if (value := getattr(self, name)) is not UNSET}
        kept = {name: getattr(there, name) for name in names}
        return VersionContent(locales=locales, **(kept | given))


class PublishVersion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why it is published; for the audit."""

    reason: Reason | None = None


class Customise(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the platform's template is taken over."""

    #: Of the draft; 1.0.0, or the next minor number, where it is left out.
    semver: SemverText | None = None
    #: Copy nothing, and only note that the platform's version in force has been looked at.
    note_only: bool = False


class CustomisedView(Struct, frozen=True, kw_only=True):
    """What came of it."""

    key: str
    channel: Channel
    #: The platform's version that was copied, or noted.
    customised_from: str
    #: The number of the draft; null where it was only noted.
    draft: str | None


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
    #: The platform's version that it was customised from; null where it is the tenant's own from the beginning.
    customised_from: str | None
    #: The platform's version in force, where it is newer than that one; `diff` shows what has changed.
    platform_newer: str | None
    version: int
    updated_at: Moment

    @classmethod
    def of(cls, template: Template, active: str | None, platforms: str | None = None) -> "TemplateView":
        """The template as it is shown; `platforms` is the number of the platform's version in force."""
        return by_name(
            cls,
            template,
            owner="platform" if template.tenant_id is None else "tenant",
            active_version=active,
            customised_from=template.platform_semver,
            platform_newer=template.newer_than(platforms),
        )


class TemplateSummary(Struct, frozen=True, kw_only=True):
    """A template in a list."""

    id: str
    key: str
    channel: Channel
    #: Whose it is.
    owner: Literal["tenant", "platform"]
    category: str
    default_locale: str
    #: The version in force and its locales; null while nothing is published.
    active_version: str | None
    locales: tuple[str, ...]
    #: The newest version, whatever its state.
    latest_version: str | None
    latest_status: VersionStatus | None
    #: Who asked for the newest version, where it is an AI draft that waits for an approval.
    approval_asked_by: str | None
    #: How many notifications of this key were accepted in 30 days, for this channel or for whichever suits; null
    #: where they are not counted by template.
    accepted_30_days: int | None
    #: Put away as a whole; such ones are listed with `status=archived` only.
    archived: bool
    #: The platform's version that it was customised from, and the one in force where that is newer.
    customised_from: str | None
    platform_newer: str | None
    updated_at: Moment

    @classmethod
    def of(cls, line: TemplateLine, accepted: int | None) -> "TemplateSummary":
        """The template as a list shows it."""
        template = line.template
        return by_name(
            cls,
            template,
            owner="platform" if template.tenant_id is None else "tenant",
            **attributes(line, "locales latest_status approval_asked_by archived platform_newer"),
            active_version=line.active_semver,
            latest_version=line.latest_semver,
            accepted_30_days=accepted,
            customised_from=template.platform_semver,
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
        return by_name(cls, line)


class AssetView(Struct, frozen=True, kw_only=True):
    """A picture of a version; texts show it by `cid:` and its name."""

    name: str
    media_type: str
    size: int
    sha256: str


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
    partials: dict[str, str]
    strings: dict[str, dict[str, str]]
    layout: str | None
    #: The pictures that its mails carry, each at `…/assets/{name}`.
    assets: tuple[AssetView, ...]
    created_by: str
    #: Where an AI draft comes from, and who has read it and approved it.
    ai_provenance: Provenance | None
    approved_by: str | None
    approved_at: Moment | None
    supersedes_id: str | None
    published_at: Moment | None
    archived_at: Moment | None
    version: int
    updated_at: Moment

    @classmethod
    def of(cls, version: TemplateVersion) -> "VersionView":
        """The version as it is shown."""
        return by_name(
            cls,
            version,
            semver=str(version.semver),
            variables_schema=dict(version.variables_schema),
            locales={tag: LocaleSource.of(text.source) for tag, text in version.locales.items()},
            preview_samples=dict(version.samples),
            partials=dict(version.partials),
            strings={tag: dict(texts) for tag, texts in version.strings.items()},
            assets=tuple(
                by_name(AssetView, facts, name=name) for name, facts in sorted(version.assets.items())
            ),
            ai_provenance=None if version.provenance is None else convert(version.provenance, Provenance),
            approved_by=version.approver_user_id,
        )
