"""What is known of a notification when a receipt comes in."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.notify.ids import BatchId

#: What people do with a message: no status, only the first time of each is kept.
Engagement = Literal["read", "opened", "clicked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A notification, locked until the end of the transaction."""

    id: NotificationId
    recipient_id: RecipientId
    status: NotificationStatus
    #: As asked for.
    channel: str
    #: The channel that delivered.
    final_channel: str | None
    category: str
    template_key: str
    correlation_id: str | None
    is_test: bool
    #: The batch that it is part of.
    batch_id: BatchId | None
    #: What has been done with it already.
    done: frozenset[Engagement]
    #: Its recipient or its reader was erased: nothing is learned of them any more.
    erased: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A recipient read or opened a message, or followed a link."""

    notification_id: NotificationId
    what: Engagement
    #: Who was written to.
    recipient_id: RecipientId
    #: The channel that carried it.
    channel: str
    at: datetime
    source: Literal["vendor", "tracking", "inbox"]
    attempt_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounce:
    """A message came back, or was lost after it had been taken."""

    notification_id: NotificationId
    #: The router's attempt whose message it was.
    attempt_id: str
    #: A code.
    reason: str
    at: datetime
    #: Its vendor only says that it did not arrive: where one has said that it did, that is believed.
    lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """A line for notify's own log."""

    id: str
    notification_id: NotificationId
    execution_id: str | None
    attempt_id: str | None
    channel: str
    vendor: str
    outcome: str
    code: str | None
    #: When it was heard.
    heard_at: datetime
