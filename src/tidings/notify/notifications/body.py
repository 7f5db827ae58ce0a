"""A body, shown again: the exact words where they are kept, otherwise rendered once more and proven by its digest.

Of a regulated category the words themselves are kept. Of others nothing is but their digest, so showing one means rendering it
from the frozen version and the sealed variables, in the language and time zone of then. Where the digest agrees, it is what
was sent. A name that was changed since makes it differ.
"""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import islice

from msgspec import structs

from tidings.contracts.enums import AUTO
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.operator_notices import WITHHELD
from tidings.contracts.tenants import Channel
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.blobs.store import BlobError, BlobStore
from tidings.kernel.db import CallerRole, Database
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.mapping import by_name
from tidings.kernel.refusals import RefusalError
from tidings.notify.accept.row import NotificationRow
from tidings.notify.decide.reasons import GateReason
from tidings.notify.decide.trace import decode
from tidings.notify.dispatch import exact_bodies
from tidings.notify.dispatch import store as dispatch_store
from tidings.notify.dispatch.compose import ComposeAsk, Composed, Composer, Composition, letterhead_of
from tidings.notify.dispatch.exact_bodies import refs_of
from tidings.notify.facts.load import FactsLoader
from tidings.notify.facts.model import Facts, PersonFacts
from tidings.notify.notifications.errors import BodyGoneError, BodyWithheldError
from tidings.notify.notifications.model import Notification
from tidings.notify.notifications.store import find_one
from tidings.notify.preference_center.links import UnsubscribeLinks
from tidings.notify.recipients.errors import ErasedRecipientError
from tidings.notify.render.model import Rendered


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBody:
    """A message as the person sees it."""

    channel: Channel
    rendered: Rendered = field(repr=False)
    #: Whether it is proven to be what was rendered then; None where nothing was rendered yet.
    exact: bool | None
    #: The names of the template's pictures that it carries.
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BodyReader:
    """Shows bodies, and notes who looked."""

    db: Database
    _: KW_ONLY
    loader: FactsLoader
    keyring: Keyring
    composer: Composer
    links: UnsubscribeLinks
    audit: AuditLog
    blobs: Callable[[], BlobStore]

    async def read(
        self,
        tenant_id: TenantId,
        notification_id: NotificationId,
        *,
        channel: Channel | None = None,
        role: CallerRole | None,
        actor: str,
    ) -> ShownBody:
        """The body, by `channel` where one is named; a `BodyGoneError` where it can't be rendered any more."""
        shared = await self.loader.shared()
        async with self.db.tenant(tenant_id, caller_role=role) as tx:
            one = await find_one(tx, notification_id)
            if one.template_key in WITHHELD:
                raise BodyWithheldError
            pending = (await dispatch_store.load_pending(tx, [notification_id]))[notification_id]
            if channel is not None:
                _check_words_for(channel, one, pending)
            # No addresses are shown; one channel is named so that the keys come along.
            facts = await self.loader.load(tx, shared, [one.recipient_id], channels=["inapp"])
            pepper = await self.keyring.pepper(tx)
            entry = Entry("notification", notification_id, "body_revealed", actor)
            await self.audit.append(tx, [entry])
        kept = await self._kept(one, pending, facts, channel)
        if kept is not None:
            return kept
        shown = (await self.put_into_words(tenant_id, facts, pepper, [(one, pending)], channel=channel))[0]
        if isinstance(shown, RefusalError):
            raise shown
        return shown

    async def _kept(
        self, one: Notification, pending: NotificationRow, facts: Facts, asked: Channel | None
    ) -> ShownBody | None:
        """The exact words, where they are kept and can be opened."""
        refs, owner = refs_of(pending.body_ref), facts.people.get(one.recipient_id)
        if not refs or owner is None or owner.erased:
            return None
        channel = asked or one.final_channel or next(reversed(refs))
        reader = facts.people.get(one.reader_id)
        if channel not in refs or reader is None or reader.key is None:
            return None
        try:
            body = await exact_bodies.read(self.blobs(), reader.key, one.id, refs[channel])
        except (BlobError, DestroyedKeyError, UnreadableError):
            return None
        return ShownBody(
            channel=channel,
            rendered=by_name(Rendered, body, whatsapp=None),
            exact=True,
            pictures=body.pictures,
        )

    async def put_into_words(
        self,
        tenant_id: TenantId,
        facts: Facts,
        pepper: Pepper,
        several: Sequence[tuple[Notification, NotificationRow]],
        *,
        channel: Channel | None = None,
    ) -> list[ShownBody | RefusalError]:
        """A set at once, one answer each in the same order; the caller audits who looked."""
        asks: list[ComposeAsk] = []
        wanted: list[tuple[Notification, list[Channel]] | RefusalError] = []
        for one, pending in several:
            if one.template_key in WITHHELD:
                wanted.append(BodyWithheldError())
                continue
            owner, reader = facts.people.get(one.recipient_id), _reader(one, facts)
            if owner is None or reader is None or owner.erased:
                wanted.append(ErasedRecipientError())
                continue
            channels = [channel] if channel is not None else _channels(one, pending)
            wanted.append((one, channels))
            asks += [
                ComposeAsk(
                    pending=pending,
                    channel=each,
                    owner=owner.key,
                    reader=reader,
                    links=self.links.of_message(
                        tenant_id,
                        policy=facts.categories.get(pending.category),
                        recipient_id=reader.id,
                        channel=each,
                        pepper=pepper,
                        at=pending.created_at,
                        address_id=_address_id(one, each),
                    ),
                )
                for each in channels
            ]
        composed = iter(
            await self.composer.compose(
                asks, {tenant_id: letterhead_of(facts, pepper, {ask.channel for ask in asks})}
            )
        )
        return [
            place
            if isinstance(place, RefusalError)
            else _chosen(place[0], place[1], list(islice(composed, len(place[1]))), asked=channel)
            for place in wanted
        ]


def _reader(one: Notification, facts: Facts) -> PersonFacts | None:
    """Who read it, by the clock on their wall of then."""
    instead = any(line.reason == GateReason.GUARDIAN_INSTEAD for line in decode(one.trace))
    person = facts.people.get(one.recipient_id)
    routing = person.choices.guardian_routing if person is not None else None
    if instead and routing is not None:
        person = facts.people.get(RecipientId(routing.guardian_id))
    zone = (one.render_snapshot or {}).get("time_zone")
    return structs.replace(person, timezone=zone) if person is not None and zone else person


def _address_id(one: Notification, channel: Channel) -> str | None:
    """The address that its links are of; those of older messages are of the recipient alone."""
    kept = one.render_snapshot or {}
    return kept.get("to", {}).get(channel) if kept.get("bound") else None


def _channels(one: Notification, pending: NotificationRow) -> list[Channel]:
    """The one that delivered, or was asked for; for `auto`, all that there are words for."""
    if one.final_channel is not None:
        return [one.final_channel]
    if one.channel != AUTO:
        return [one.channel]
    return list(pending.template_versions or ())


def _check_words_for(channel: Channel, one: Notification, pending: NotificationRow) -> None:
    known = list(pending.template_versions or ()) if one.channel == AUTO else [one.channel]
    if channel not in known:
        raise BadValueError("channel", f"must be one that the template has a text for: {', '.join(known)}")


def _chosen(
    one: Notification,
    channels: Sequence[Channel],
    composed: Sequence[Composition],
    *,
    asked: Channel | None,
) -> ShownBody | BodyGoneError:
    digest = (one.render_snapshot or {}).get("digest")
    words = [(channel, c) for channel, c in zip(channels, composed, strict=True) if isinstance(c, Composed)]
    if not words:
        reasons = ", ".join(sorted({c.reason for c in composed if not isinstance(c, Composed)}))
        return BodyGoneError(f"the body of {one.id} can't be rendered any more: {reasons or 'no channel'}")
    # A notification for any channel keeps one digest: the channel whose words agree with it is the one.
    channel, chosen = next((pair for pair in words if pair[1].snapshot.digest == digest), words[0])
    agrees = None if digest is None else chosen.snapshot.digest == digest
    if asked is not None and asked not in {one.final_channel, one.channel}:
        # That digest may be of another step's words: it proves these, or says nothing.
        agrees = agrees or None
    return ShownBody(
        channel=channel,
        rendered=chosen.rendered,
        exact=agrees,
        pictures=tuple(picture.filename for picture in chosen.pictures),
    )
