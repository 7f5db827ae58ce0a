"""Validates orders against everything that needs no transaction: template, category, times, sizes."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from tidings.contracts.enums import AUTO, WITH_FILES, NotificationStatus, Priority, UseCase
from tidings.contracts.ids import NOTIFICATION, NotificationId, RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.mapping import attributes
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.kernel.tracing import current_traceparent
from tidings.notify.accept.attachments import Stored
from tidings.notify.accept.order import Order, OrderedBy
from tidings.notify.accept.row import ATTACHMENTS_PURPOSE, VARIABLES_PURPOSE, NotificationRow
from tidings.notify.accept.searchable import search_hash, searchable_in
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.categories.registry import Categories
from tidings.notify.ids import TemplateVersionId
from tidings.notify.recipients.recipient_input import RecipientSpec, canonical_locale
from tidings.notify.templates.model import Published
from tidings.notify.templates.resolve import TemplateResolver
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
#: Nothing is planned for longer by an event.
LONGEST_PLAN: Final = timedelta(days=730)

_encode = msgspec.json.Encoder().encode


class ValidOrder(msgspec.Struct, frozen=True, kw_only=True):
    """An order that can be met, as far as that is known without a transaction; it has its id, and only lacks the recipient's row."""

    id: NotificationId
    order: Order
    recipient: RecipientSpec
    #: The frozen version; for `auto` the one of the first channel.
    published: Published
    #: For `auto`: the frozen version of every channel.
    versions: Mapping[Channel, TemplateVersionId] | None
    category: CategoryPolicy
    use_case: UseCase
    priority: Priority
    locale: str | None
    #: JSON.
    variables: bytes
    scheduled_for: datetime | None
    expires_at: datetime
    #: JSON.
    metadata: str | None
    #: Key and value of metadata that it is found by.
    searchable: tuple[tuple[str, str], ...]
    #: Where its files lie, where it has any.
    files: Stored | None = None
    #: The place in a trace that it comes from: the request's, as a rule.
    traceparent: str | None = None

    def __repr__(self) -> str:
        return f"ValidOrder({self.id}, ***)"

    @property
    def is_urgent(self) -> bool:
        """Whether the express dispatcher takes it."""
        return self.priority in ("critical", "high")

    def as_row(self, recipient_id: RecipientId, key: DataKey, pepper: Pepper) -> NotificationRow:
        """The row of the notification; what is personal is sealed with the recipient's key."""
        order, template, version = self.order, self.published.template, self.published.version
        return NotificationRow(
            tenant_id=order.by.tenant_id,
            id=self.id,
            created_at=time_of(self.id),
            recipient_id=recipient_id,
            status=NotificationStatus.QUEUED if self.scheduled_for is None else NotificationStatus.SCHEDULED,
            channel=order.channel,
            category=self.category.category,
            use_case=self.use_case,
            priority=self.priority,
            retention_class=self.category.retention_class,
            locale=self.locale,
            template_id=template.id,
            template_version_id=version.id,
            template_key=template.key,
            template_semver=str(version.semver),
            template_versions=self.versions,
            # Under the pepper: a code of six digits would be found from its plain hash at once.
            variables_hash=pepper.hash(f"variables:{self.variables.decode()}"),
            variables=key.seal(self.variables, VARIABLES_PURPOSE),
            attachments=key.seal(self.files.manifest, ATTACHMENTS_PURPOSE) if self.files else None,
            scheduled_for=self.scheduled_for,
            expires_at=self.expires_at,
            is_test=order.by.is_test,
            source_event_id=order.source_event_id,
            source_event_type=order.source_event_type,
            source_event_produced_at=order.source_event_produced_at,
            time_slot=order.time_slot,
            correlation_id=order.correlation_id,
            metadata=self.metadata,
            pin=order.pin,
            traceparent=self.traceparent,
            digest_key=order.digest_key,
            resent_from=order.resent_from,
            batch_id=order.batch_id,
            found_by=tuple((key, search_hash(pepper, key, text)) for key, text in self.searchable),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OrderValidator:
    """Validates orders."""

    templates: TemplateResolver
    categories: Categories
    clock: Clock
    #: The names in metadata that a tenant's notifications are found by.
    searchable: Callable[[TenantId], Sequence[str]] = lambda _: ()

    async def validate(self, order: Order, *, may_lack: Container[str] = ()) -> ValidOrder:
        """The order with all that is chosen for it; an `InvalidError` that names every wrong field where it can't be met.

        `may_lack`: variables that may be missing, of an order that is only a pattern of others.
        """
        now, tenant_id = self.clock.now(), order.by.tenant_id
        wrong = list(order.wrong)
        if order.locale is not None and not locale_exists(order.locale):
            wrong.append(FieldError("locale", UNKNOWN_LOCALE))
        wrong += _wrong_with_event(order)
        published, versions = await self._frozen(order, wrong)
        if published is None:
            raise InvalidError(wrong)
        template = published.template
        category = await self._category(tenant_id, order.category or template.category, wrong)
        scheduled_for, expires_at = _times(order, category, now, wrong)
        variables = _sized(order.variables, "variables", MOST_VARIABLES_BYTES, wrong)
        metadata = (
            _sized(order.metadata, "metadata", MOST_METADATA_BYTES, wrong).decode()
            if order.metadata
            else None
        )
        found_by = searchable_in(order.metadata, self.searchable(tenant_id), wrong) if order.metadata else ()
        if order.attachments:
            _wrong_with_files(order, versions or {}, wrong)
        if wrong or order.recipient is None or category is None:
            raise InvalidError(wrong)
        for version in versions.values() if versions else (published,):
            self.templates.check_variables(version, order.variables, may_lack=may_lack)
        return ValidOrder(
            id=NOTIFICATION.new(now),
            order=order,
            recipient=order.recipient,
            published=published,
            versions={channel: v.version.id for channel, v in versions.items()} if versions else None,
            category=category,
            use_case=order.use_case or category.default_use_case,
            priority=order.priority or template.default_priority,
            locale=canonical_locale(order.locale) if order.locale is not None else None,
            variables=variables,
            scheduled_for=scheduled_for,
            expires_at=expires_at,
            metadata=metadata,
            searchable=found_by,
            traceparent=current_traceparent(),
        )

    async def published_for(self, order: Order) -> list[Published]:
        """The versions that the order may be said in; none where its template is not there."""
        first, versions = await self._frozen(order, [])
        return list(versions.values()) if versions else [first] if first is not None else []

    async def repeat(
        self, by: OrderedBy, row: NotificationRow, variables: bytes, files: Stored | None
    ) -> ValidOrder | None:
        """The order behind a notification that is to be sent once more: its frozen words, with a new life.

        None where its template or its category is no longer there.
        """
        now = self.clock.now()
        category = await self._category(by.tenant_id, row.category, [])
        found = await self.templates.versions(by.tenant_id, [row.template_version_id])
        published = found.get(row.template_version_id)
        if category is None or published is None:
            return None
        metadata = msgspec.json.decode(row.metadata) if row.metadata else None
        recipient = RecipientSpec(id=row.recipient_id)
        return ValidOrder(
            id=NOTIFICATION.new(now),
            # Without its event: that was answered once, and this is for a person who asked.
            order=Order(
                by=by,
                recipient=recipient,
                template=row.template_key,
                **attributes(row, "channel correlation_id pin"),
                resent_from=row.id,
            ),
            recipient=recipient,
            published=published,
            versions=row.template_versions,
            category=category,
            **attributes(row, "use_case priority locale metadata"),
            variables=variables,
            scheduled_for=None,
            expires_at=now + timedelta(seconds=category.default_expiry_seconds),
            searchable=searchable_in(metadata, self.searchable(by.tenant_id), []),
            files=files,
            traceparent=current_traceparent(),
        )

    async def _frozen(
        self, order: Order, wrong: list[FieldError]
    ) -> tuple[Published | None, dict[Channel, Published] | None]:
        in_force = await self.templates.channels(order.by.tenant_id, order.template)
        wanted = (
            in_force if order.channel == AUTO else {c: v for c, v in in_force.items() if c == order.channel}
        )
        if not wanted:
            there = f"; it is for {', '.join(sorted(in_force))}" if in_force else ""
            of = "any channel" if order.channel == AUTO else order.channel
            wrong.append(FieldError("template", f"must be the key of a template published for {of}{there}"))
            return None, None
        found = await self.templates.versions(order.by.tenant_id, wanted.values())
        versions = {channel: found[wanted[channel]] for channel in sorted(wanted)}
        first = next(iter(versions.values()))
        return first, versions if order.channel == AUTO else None

    async def _category(
        self, tenant_id: TenantId, name: str, wrong: list[FieldError]
    ) -> CategoryPolicy | None:
        known = await self.categories.of(tenant_id)
        policy = known.get(name)
        if policy is None:
            wrong.append(FieldError("category", f"must be one of {', '.join(sorted(known))}"))
        return policy


def _wrong_with_event(order: Order) -> list[FieldError]:
    """What is said about an event that has no name."""
    if order.source_event_id is not None:
        return []
    return [
        FieldError(field, "needs source_event_id beside it; name the event, or leave it out")
        for field in ("source_event_type", "source_event_produced_at")
        if getattr(order, field) is not None
    ]


def _times(
    order: Order, category: CategoryPolicy | None, now: datetime, wrong: list[FieldError]
) -> tuple[datetime | None, datetime]:
    scheduled_for, begins = order.scheduled_for, now
    if scheduled_for is not None:
        if scheduled_for < now - _SKEW:
            wrong.append(FieldError("scheduled_for", "must not be in the past; leave it out to send now"))
        elif scheduled_for > now + LONGEST_SCHEDULE:
            wrong.append(FieldError("scheduled_for", f"must be within the next {LONGEST_SCHEDULE.days} days"))
        begins = max(now, scheduled_for)
        # What is due already waits for nothing.
        scheduled_for = scheduled_for if scheduled_for > now else None
    expires_at = order.expires_at
    if expires_at is None:
        seconds = category.default_expiry_seconds if category is not None else 0
        return scheduled_for, begins + timedelta(seconds=seconds)
    if expires_at <= begins:
        what = "scheduled_for" if scheduled_for is not None else "the present"
        wrong.append(FieldError("expires_at", f"must be later than {what}"))
    elif expires_at > now + 2 * LONGEST_SCHEDULE:
        wrong.append(FieldError("expires_at", f"must be within the next {2 * LONGEST_SCHEDULE.days} days"))
    return scheduled_for, expires_at


def _sized(value: Any, name: str, most: int, wrong: list[FieldError]) -> bytes:
    encoded = _encode(value)
    if len(encoded) > most:
        wrong.append(FieldError(name, f"must take at most {most} bytes as JSON"))
    return encoded


def _wrong_with_files(order: Order, versions: Mapping[Channel, Published], wrong: list[FieldError]) -> None:
    """Files that no message could carry are refused, and don't vanish."""
    channel = order.channel
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
    names = [file.filename for file in order.attachments]
    wrong += [
        FieldError(f"attachments[{place}].filename", "is there twice")
        for place, name in enumerate(names)
        if name in names[:place]
    ]
    if sum(len(file.content) for file in order.attachments) > MOST_ATTACHED_BYTES:
        wrong.append(
            FieldError("attachments", f"must take at most {MOST_ATTACHED_BYTES} bytes together, unpacked")
        )
