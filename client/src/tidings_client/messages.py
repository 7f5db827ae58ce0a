"""What a program asks for: a message, its recipient, its attachments and options."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from msgspec import Struct


class Identity(Struct, frozen=True, omit_defaults=True):
    """What a recipient is called in your own system."""

    #: `guest`, `user`, … as the API has them.
    type: str
    id: str | None = None


class Address(Struct, frozen=True, omit_defaults=True):
    """An address of a recipient."""

    channel: str
    address: str
    primary: bool | None = None
    verified: bool | None = None

    def __repr__(self) -> str:
        return f"Address({self.channel!r}, ***)"


class Recipient(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A recipient to make or to bring up to date; what is left out stays as it is."""

    identity: Identity | None = None
    display_name: str | None = None
    locale: str | None = None
    timezone: str | None = None
    tags: Sequence[str] | None = None
    #: In the clear on the server: not for personal data.
    attributes: Mapping[str, Any] | None = None
    #: Added to those that are there.
    addresses: Sequence[Address] = ()

    def __repr__(self) -> str:
        return f"Recipient(identity={self.identity!r}, ***)"


class Attachment(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that goes along."""

    filename: str
    #: Such as `application/pdf`.
    media_type: str
    content: bytes
    #: The HTML refers to it as `cid:…`; None for a file that is attached.
    inline_cid: str | None = None

    def __repr__(self) -> str:
        return f"Attachment({self.filename!r}, {self.media_type!r}, {len(self.content)} bytes)"


class Options(TypedDict, total=False):
    """What may be said about a message beside its recipient and its template."""

    channel: str
    variables: Mapping[str, Any]
    use_case: str | None
    category: str | None
    priority: str | None
    locale: str | None
    scheduled_for: datetime | None
    expires_at: datetime | None
    correlation_id: str | None
    source_event_id: str | None
    source_event_type: str | None
    source_event_produced_at: datetime | None
    attachments: Sequence[Attachment]
    metadata: Mapping[str, Any] | None


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message: its template, variables and recipient."""

    #: An id (`rcp_…`), or a recipient to make or bring up to date.
    recipient: str | Recipient | Mapping[str, Any]
    template: str
    #: `auto` lets the tenant's ladder choose.
    channel: str = "auto"
    variables: Mapping[str, Any] = {}
    use_case: str | None = None
    category: str | None = None
    #: `critical`, `high`, `normal` or `low`.
    priority: str | None = None
    locale: str | None = None
    #: Moments need a time zone.
    scheduled_for: datetime | None = None
    expires_at: datetime | None = None
    #: Returned as given, and found by.
    correlation_id: str | None = None
    #: At most one notification for each event, template, recipient and channel.
    source_event_id: str | None = None
    #: What kind of event that was, and when it was produced; returned as given.
    source_event_type: str | None = None
    source_event_produced_at: datetime | None = None
    attachments: Sequence[Attachment] = ()
    #: Returned as given. In the clear on the server: not for personal data.
    metadata: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for name in ("scheduled_for", "expires_at", "source_event_produced_at"):
            moment: datetime | None = getattr(self, name)
            if moment is not None and moment.tzinfo is None:
                raise ValueError(f"{name} needs a time zone, for instance datetime.now(UTC)")

    def __repr__(self) -> str:
        return f"Message(template={self.template!r}, channel={self.channel!r}, ***)"
