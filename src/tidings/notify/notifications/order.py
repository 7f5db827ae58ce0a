"""A request to send, checked against everything that needs no transaction: template, category, times, sizes."""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from tidings.contracts.ids import RECIPIENT, NotificationId
from tidings.contracts.tenants import Channel
from tidings.contracts.words import AUTO, RESERVED_CHANNELS, WITH_FILES, Priority, UseCase
from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.categories.registry import Categories
from tidings.notify.dispatch.model import Pending
from tidings.notify.ids import TemplateVersionId
from tidings.notify.notifications.errors import BodyGoneError
from tidings.notify.notifications.model import AnyChannel, Pin
from tidings.notify.notifications.searchable import searchable_in
from tidings.notify.notifications.wire import AttachmentInput, NotificationInput
from tidings.notify.recipients.wish import RecipientWish, canonical_locale, wish_of
from tidings.notify.templates.model import Published
from tidings.notify.templates.resolve import Templates
from tidings.notify.tenants.locales import UNKNOWN_LOCALE, locale_exists

#: Variables are filled into a message; they are no document store.
MOST_VARIABLES_BYTES: Final = 64 * 1024
MOST_METADATA_BYTES: Final = 4 * 1024
#: Of all files of one notification together, before they are packed for mail.
MOST_ATTACHED_BYTES: Final = 7 * 1024 * 1024
#: Clocks differ; a little in the past is now.
_SKEW: Final = timedelta(minutes=1)
#: The ledger that keeps events from being sent twice has to outlive every schedule.
LONGEST_SCHEDULE: Final = timedelta(days=365)

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFile:
    """A file that goes along, unpacked."""

    filename: str = field(repr=False)
    media_type: str
    content: bytes = field(repr=False)
    inline_cid: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to say to whom, in order: everything but the recipient's row."""

    wish: RecipientWish
    #: The frozen version; for `auto` the one of the first channel.
    published: Published
    #: For `auto`: the frozen version of every channel.
    versions: Mapping[Channel, TemplateVersionId] | None
    channel: AnyChannel
    category: CategoryPolicy
    use_case: UseCase
    priority: Priority
    locale: str | None
    #: JSON.
    variables: bytes = field(repr=False)
    scheduled_for: datetime | None
    expires_at: datetime
    correlation_id: str | None
    source_event_id: str | None
    attachments: tuple[AttachedFile, ...] = field(repr=False)
    metadata: str | None = field(repr=False)
    #: Key and value of metadata that it is found by.
    searchable: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    #: Of an answer within a conversation.
    pin: Pin | None = None
    #: The notification that it repeats.
    resent_from: NotificationId | None = None
    #: Of the event that it answers.
    source_event_type: str | None = None
    source_event_produced_at: datetime | None = None


class OrderDesk:
    """Checks requests."""

    def __init__(
        self,
        *,
        templates: Templates,
        categories: Categories,
        clock: Clock,
        searchable: Callable[[TenantId], Sequence[str]] = lambda _: (),
    ) -> None:
        """`searchable`: the names in metadata that a tenant's notifications are found by."""
        self._templates = templates
        self._categories = categories
        self._clock = clock
        self._searchable = searchable

    async def check(self, tenant_id: TenantId, given: NotificationInput) -> Order:
        """The order behind a request; an error that names every wrong field where there is none."""
        now = self._clock.now()
        wrong: list[FieldError] = []
        wish = _wish(given, wrong)
        if given.channel in RESERVED_CHANNELS:
            # Whether a template has words for it does not matter.
            raise InvalidError(
                [*wrong, FieldError("channel", f"is reserved: {given.channel} is not there yet")]
            )
        if given.locale is not None and not locale_exists(given.locale):
            wrong.append(FieldError("locale", UNKNOWN_LOCALE))
        wrong += _wrong_with_event(given)
        published, versions = await self._frozen(tenant_id, given, wrong)
        if published is None:
            raise InvalidError(wrong)
        template = published.template
        category = await self._category(tenant_id, given.category or template.category, wrong)
        scheduled_for, expires_at = _times(given, category, now, wrong)
        variables = _sized(given.variables, "variables", MOST_VARIABLES_BYTES, wrong)
        metadata = (
            _sized(given.metadata, "metadata", MOST_METADATA_BYTES, wrong).decode()
            if given.metadata
            else None
        )
        found_by = searchable_in(given.metadata, self._searchable(tenant_id), wrong) if given.metadata else ()
        attachments = _unpacked(given.attachments, wrong) if given.attachments else ()
        if attachments:
            _carried(given.channel, versions or {}, wrong)
        if wrong or wish is None or category is None:
            raise InvalidError(wrong)
        for version in versions.values() if versions else (published,):
            self._templates.check_variables(version, given.variables)
        return Order(
            wish=wish,
            published=published,
            versions={channel: v.version.id for channel, v in versions.items()} if versions else None,
            channel=given.channel,
            category=category,
            use_case=given.use_case or category.default_use_case,
            priority=_priority(given, template.default_priority),
            locale=canonical_locale(given.locale) if given.locale is not None else None,
            variables=variables,
            scheduled_for=scheduled_for,
            expires_at=expires_at,
            correlation_id=given.correlation_id,
            source_event_id=given.source_event_id,
            attachments=attachments,
            metadata=metadata,
            searchable=found_by,
            source_event_type=given.source_event_type,
            source_event_produced_at=given.source_event_produced_at,
        )

    async def repeat(
        self, tenant_id: TenantId, pending: Pending, variables: bytes, *, wish: RecipientWish
    ) -> Order:
        """The order behind a notification that is to be sent once more: its frozen words, with a new life."""
        now = self._clock.now()
        wrong: list[FieldError] = []
        category = await self._category(tenant_id, pending.category, wrong)
        found = await self._templates.versions(tenant_id, [pending.template_version_id])
        published = found.get(pending.template_version_id)
        if category is None or published is None:
            raise BodyGoneError(
                f"{pending.id} can't be sent again: its template or its category is no longer there"
            )
        metadata = msgspec.json.decode(pending.metadata) if pending.metadata else None
        return Order(
            wish=wish,
            published=published,
            versions=pending.template_versions,
            channel=pending.channel,
            category=category,
            use_case=pending.use_case,
            priority=pending.priority,
            locale=pending.locale,
            variables=variables,
            scheduled_for=None,
            expires_at=now + timedelta(seconds=category.default_expiry_seconds),
            correlation_id=pending.correlation_id,
            # The event was answered once; this is for a person who asked.
            source_event_id=None,
            attachments=(),
            metadata=pending.metadata,
            searchable=searchable_in(metadata, self._searchable(tenant_id), []),
            pin=pending.pin,
            resent_from=pending.id,
        )

    async def _frozen(
        self, tenant_id: TenantId, given: NotificationInput, wrong: list[FieldError]
    ) -> tuple[Published | None, dict[Channel, Published] | None]:
        in_force = await self._templates.channels(tenant_id, given.template)
        wanted = (
            in_force if given.channel == AUTO else {c: v for c, v in in_force.items() if c == given.channel}
        )
        if not wanted:
            there = f"; it is for {', '.join(sorted(in_force))}" if in_force else ""
            of = "any channel" if given.channel == AUTO else given.channel
            wrong.append(FieldError("template", f"must be the key of a template published for {of}{there}"))
            return None, None
        found = await self._templates.versions(tenant_id, wanted.values())
        versions = {channel: found[wanted[channel]] for channel in sorted(wanted)}
        first = next(iter(versions.values()))
        return first, versions if given.channel == AUTO else None

    async def _category(
        self, tenant_id: TenantId, name: str, wrong: list[FieldError]
    ) -> CategoryPolicy | None:
        known = await self._categories.of(tenant_id)
        policy = known.get(name)
        if policy is None:
            wrong.append(FieldError("category", f"must be one of {', '.join(sorted(known))}"))
        return policy


def _wrong_with_event(given: NotificationInput) -> list[FieldError]:
    """What is said about an event that has no name."""
    if given.source_event_id is not None:
        return []
    return [
        FieldError(field, "needs source_event_id beside it; name the event, or leave it out")
        for field in ("source_event_type", "source_event_produced_at")
        if getattr(given, field) is not None
    ]


def _wish(given: NotificationInput, wrong: list[FieldError]) -> RecipientWish | None:
    try:
        if isinstance(given.recipient, str):
            return RecipientWish(id=RECIPIENT.parse(given.recipient, field="recipient"))
        return wish_of(given.recipient, field="recipient")
    except BadValueError as error:
        wrong.append(FieldError(error.field, error.remedy))
    except InvalidError as error:
        wrong += error.errors
    return None


def _times(
    given: NotificationInput, category: CategoryPolicy | None, now: datetime, wrong: list[FieldError]
) -> tuple[datetime | None, datetime]:
    scheduled_for, begins = given.scheduled_for, now
    if scheduled_for is not None:
        if scheduled_for < now - _SKEW:
            wrong.append(FieldError("scheduled_for", "must not be in the past; leave it out to send now"))
        elif scheduled_for > now + LONGEST_SCHEDULE:
            wrong.append(FieldError("scheduled_for", f"must be within the next {LONGEST_SCHEDULE.days} days"))
        begins = max(now, scheduled_for)
        # What is due already waits for nothing.
        scheduled_for = scheduled_for if scheduled_for > now else None
    expires_at = given.expires_at
    if expires_at is None:
        seconds = category.default_expiry_seconds if category is not None else 0
        return scheduled_for, begins + timedelta(seconds=seconds)
    if expires_at <= begins:
        what = "scheduled_for" if scheduled_for is not None else "the present"
        wrong.append(FieldError("expires_at", f"must be later than {what}"))
    elif expires_at > now + 2 * LONGEST_SCHEDULE:
        wrong.append(FieldError("expires_at", f"must be within the next {2 * LONGEST_SCHEDULE.days} days"))
    return scheduled_for, expires_at


def _priority(given: NotificationInput, default: Priority) -> Priority:
    if given.priority is None:
        return default
    return "critical" if given.priority == "urgent" else given.priority


def _sized(value: Any, name: str, most: int, wrong: list[FieldError]) -> bytes:
    encoded = _encode(value)
    if len(encoded) > most:
        wrong.append(FieldError(name, f"must take at most {most} bytes as JSON"))
    return encoded


def _carried(channel: AnyChannel, versions: Mapping[Channel, Published], wrong: list[FieldError]) -> None:
    """Files that no message could carry are refused, and don't vanish."""
    can = ", ".join(sorted(WITH_FILES))
    if channel == AUTO:
        if not WITH_FILES & versions.keys():
            there = ", ".join(sorted(versions))
            wrong.append(
                FieldError(
                    "attachments",
                    f"can go by {can} alone, and the template is for {there}; publish it for {can}, or leave them out",
                )
            )
    elif channel not in WITH_FILES:
        wrong.append(
            FieldError(
                "attachments",
                f"can't go by {channel}; channels that carry files: {can}. Choose one of them or auto, or leave them out",
            )
        )


def _unpacked(given: Sequence[AttachmentInput], wrong: list[FieldError]) -> tuple[AttachedFile, ...]:
    files: list[AttachedFile] = []
    names: set[str] = set()
    for i, item in enumerate(given):
        at = f"attachments[{i}]"
        try:
            content = base64.b64decode(item.content, validate=True)
        except (binascii.Error, ValueError):
            wrong.append(FieldError(f"{at}.content", "must be base64"))
            continue
        if item.filename in names:
            wrong.append(FieldError(f"{at}.filename", "is there twice"))
        names.add(item.filename)
        files.append(
            AttachedFile(
                filename=item.filename,
                media_type=item.media_type,
                content=content,
                inline_cid=item.inline_cid,
            )
        )
    if sum(len(file.content) for file in files) > MOST_ATTACHED_BYTES:
        wrong.append(
            FieldError("attachments", f"must take at most {MOST_ATTACHED_BYTES} bytes together, unpacked")
        )
    return tuple(files)
