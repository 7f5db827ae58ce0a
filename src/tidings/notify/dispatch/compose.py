"""Renders stored notifications, for one channel each: the frozen version, the variables, the person's language.

The same function serves a first step, a later one, and the reader of a body. The digest of what was
rendered stays with the notification, so that a body shown later can be known to be the one that was sent. It is under
the tenant's pepper: from a plain one, a code of six digits could be found by trying.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import msgspec

from tidings.contracts.messages import Attachment
from tidings.contracts.tenants import Channel
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.logs import get_logger, why
from tidings.notify.accept.row import VARIABLES_PURPOSE, NotificationRow
from tidings.notify.facts.model import Facts, PersonFacts
from tidings.notify.ids import TemplateVersionId
from tidings.notify.preference_center.links import MessageLinks
from tidings.notify.recipients.model import NAME_PURPOSE
from tidings.notify.render.model import (
    Brand,
    Content,
    Rendered,
    Renderer,
    RenderFailed,
    RenderJob,
    key_of_sources,
)
from tidings.notify.templates.assets import shown_in
from tidings.notify.templates.model import BodyFormat, Published
from tidings.notify.templates.resolve import TemplateResolver

_encode = msgspec.json.Encoder().encode
_log = get_logger("dispatch")


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is kept of a rendering: nothing of its text."""

    locale: str
    time_zone: str
    direction: str
    #: Of subject, HTML and text, under the tenant's pepper.
    digest: str
    bytes: int
    #: By channel, the id of the address that was written to last: what its vendor says later is about that one.
    to: dict[str, str] = {}
    #: Who was written to, where it was not the recipient: the address is under their key.
    reader: str | None = None
    #: Whether its links are of that address, and not of the recipient alone, as they were in older messages.
    bound: bool = False


class ComposeAsk(msgspec.Struct, frozen=True, kw_only=True):
    """One message to render."""

    pending: NotificationRow
    channel: Channel
    #: The recipient it was accepted for: the variables are under their key.
    owner: DataKey | None
    #: Who reads it: their name, language and time zone.
    reader: PersonFacts
    #: Where they can say no; None where they can't.
    links: MessageLinks | None = None

    def __repr__(self) -> str:
        return f"ComposeAsk({self.pending!r}, {self.channel})"


class Composed(msgspec.Struct, frozen=True, kw_only=True):
    """A message in words."""

    rendered: Rendered
    #: The language that was asked for; the texts may be in another.
    locale: str
    #: The reader's own.
    name: str | None
    snapshot: Snapshot
    #: Those of the template's pictures that it shows.
    pictures: tuple[Attachment, ...] = ()
    #: The text is a JSON document.
    is_json: bool = False

    def __repr__(self) -> str:
        return f"Composed({self.locale}, {self.snapshot!r}, ***)"


class NotComposed(msgspec.Struct, frozen=True, kw_only=True):
    """It can't be rendered, now or later."""

    reason: str
    #: Where the text failed: `file:line:expression`, or its locale; never a value.
    where: str | None = None


Composition: TypeAlias = Composed | NotComposed


@dataclass(frozen=True, slots=True, kw_only=True)
class Letterhead:
    """What all messages of a tenant have in common."""

    pepper: Pepper = field(repr=False)
    name: str | None = None
    allowed_link_domains: tuple[str, ...] = ()
    brands: Mapping[Channel, Brand] = field(default_factory=dict)

    def brand_on(self, channel: Channel) -> Brand:
        """How the tenant looks on a channel."""
        return self.brands.get(channel) or Brand(name=self.name or "")


class Composer:
    """Composes sets, of one tenant or of several."""

    def __init__(self, *, templates: TemplateResolver, renderer: Renderer) -> None:
        self._templates = templates
        self._renderer = renderer

    async def compose(
        self,
        asks: Sequence[ComposeAsk],
        letterheads: Mapping[TenantId, Letterhead],
        *,
        headlines: bool = False,
    ) -> list[Composition]:
        """One answer each, in the same order; `letterheads` has one for each tenant of theirs.

        `headlines`: only what a digest tells of each, its subject, and its text where it is a short one.
        """
        versions = await self._versions(asks)
        found: list[Composition | None] = [None] * len(asks)
        jobs: list[tuple[int, RenderJob]] = []
        shown: dict[int, Published] = {}
        documents: set[int] = set()
        read: dict[TemplateVersionId, Mapping[str, Attachment]] = {}
        for place, ask in enumerate(asks):
            tenant_id, version_id = ask.pending.tenant_id, ask.pending.version_for(ask.channel)
            published = versions.get((tenant_id, version_id)) if version_id is not None else None
            if published is None or version_id is None:
                found[place] = NotComposed(reason="template_missing")
                continue
            if published.version.assets and ask.channel == "email" and not headlines:
                shown[place] = published
            variables = _variables(ask)
            if isinstance(variables, NotComposed):
                found[place] = variables
                continue
            locale = ask.pending.locale or ask.reader.locale
            content = self._templates.content_for(published, locale)
            if published.version.locales[content.locale].source.format is BodyFormat.JSON:
                documents.add(place)
            if headlines:
                content = _headline(content)
            head = letterheads[tenant_id]
            jobs.append(
                (
                    place,
                    RenderJob(
                        content=content,
                        tenant=tenant_id,
                        variables=msgspec.Raw(variables),
                        locale=locale,
                        time_zone=ask.reader.timezone,
                        allowed_link_domains=head.allowed_link_domains,
                        recipient_name=_name(ask.reader),
                        tenant_name=head.name,
                        brand=head.brand_on(ask.channel),
                        unsubscribe_url=ask.links.unsubscribe if ask.links is not None else None,
                        preferences_url=ask.links.preferences if ask.links is not None else None,
                    ),
                )
            )
        rendered = await self._renderer.render([job for _, job in jobs])
        for (place, job), result in zip(jobs, rendered, strict=True):
            if isinstance(result, RenderFailed):
                found[place] = NotComposed(reason=f"render_{result.code}", where=result.where or None)
            else:
                tenant_id = asks[place].pending.tenant_id
                found[place] = Composed(
                    rendered=result,
                    locale=job.locale,
                    name=job.recipient_name,
                    snapshot=_snapshot(result, job.time_zone, letterheads[tenant_id].pepper),
                    pictures=await self._pictures(tenant_id, shown[place], result, read)
                    if place in shown
                    else (),
                    is_json=place in documents,
                )
        return [composition for composition in found if composition is not None]

    async def _versions(
        self, asks: Sequence[ComposeAsk]
    ) -> dict[tuple[TenantId, TemplateVersionId], Published]:
        wanted = {
            (ask.pending.tenant_id, version_id)
            for ask in asks
            if (version_id := ask.pending.version_for(ask.channel)) is not None
        }
        return await self._templates.versions_of_all(wanted)

    async def _pictures(
        self,
        tenant_id: TenantId,
        published: Published,
        rendered: Rendered,
        read: dict[TemplateVersionId, Mapping[str, Attachment]],
    ) -> tuple[Attachment, ...]:
        """Those that it shows; `read` holds what this set has read, however full the memory is."""
        version = published.version
        names = shown_in(rendered.html, version.assets)
        if not names:
            return ()
        if version.id not in read:
            read[version.id] = await self._templates.pictures(tenant_id, published)
        there = read[version.id]
        return tuple(there[name] for name in names if name in there)


def _headline(content: Content) -> Content:
    """A mail's subject alone; of other messages the text as well, where that is not what a vendor has registered."""
    text = content.text if content.html is None else None
    return replace(content, key=key_of_sources(content.subject, text), html=None, text=text, whatsapp=None)


def letterhead_of(facts: Facts, pepper: Pepper, channels: Iterable[Channel]) -> Letterhead:
    """The letterhead of the tenant whose facts these are, on these channels."""
    tenant = facts.tenant
    return Letterhead(
        pepper=pepper,
        name=tenant.name,
        allowed_link_domains=tenant.policy.allowed_link_domains,
        brands={channel: tenant.brand_on(channel) for channel in channels},
    )


def _variables(ask: ComposeAsk) -> bytes | NotComposed:
    if ask.owner is None:
        return NotComposed(reason="recipient_erased")
    try:
        return ask.owner.unseal(ask.pending.variables, VARIABLES_PURPOSE)
    except DestroyedKeyError:
        return NotComposed(reason="recipient_erased")
    except UnreadableError as error:
        # One row that is damaged is no fault of the others of its set.
        _log.error("variables_unreadable", notification_id=ask.pending.id, **why(error))
        return NotComposed(reason="variables_unreadable")


def _name(person: PersonFacts) -> str | None:
    """Their display name, unsealed."""
    if person.key is None or person.display_name_ciphertext is None:
        return None
    try:
        return person.key.unseal(person.display_name_ciphertext, NAME_PURPOSE).decode()
    except (DestroyedKeyError, UnreadableError):
        return None


def _snapshot(rendered: Rendered, time_zone: str, pepper: Pepper) -> Snapshot:
    whole = "\0".join((rendered.subject or "", rendered.html or "", rendered.text or ""))
    return Snapshot(
        locale=rendered.locale,
        time_zone=time_zone,
        direction=rendered.direction,
        digest=pepper.hash(f"body:{whole}"),
        bytes=len(whole),
    )


_decode = msgspec.json.Decoder(Snapshot).decode


def with_address(snapshot: Snapshot, *, channel: str, address_id: str) -> Snapshot:
    """The same, and which address it goes to."""
    return msgspec.structs.replace(snapshot, to={channel: address_id}, bound=True)


def with_reader(snapshot: Snapshot, reader: str) -> Snapshot:
    """The same, and who was written to instead of the recipient."""
    return msgspec.structs.replace(snapshot, reader=reader)


def after(before: str | None, snapshot: Snapshot) -> Snapshot:
    """A later step's, which remembers the addresses of the steps before it."""
    earlier = _decode(before).to if before else {}
    return msgspec.structs.replace(snapshot, to={**earlier, **snapshot.to}) if earlier else snapshot


def encode_snapshot(snapshot: Snapshot) -> str:
    """As it is stored."""
    return _encode(snapshot).decode()
