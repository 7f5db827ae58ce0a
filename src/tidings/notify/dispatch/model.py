"""The change of status that dispatch decides for a notification."""

from dataclasses import dataclass, field
from datetime import datetime

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.messages import SentRecord
from tidings.notify.accept.row import NotificationRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Where a notification goes from the queue."""

    pending: NotificationRow
    status: NotificationStatus
    trace: str
    #: Why, where it ends or waits.
    reason: str | None = None
    #: When it is looked at again, where it waits.
    until: datetime | None = None
    locale: str | None = None
    snapshot: str | None = None
    #: What is kept of the message that is ready to go out.
    record: SentRecord | None = field(default=None, repr=False)
    #: JSON: by channel, where its exact words are.
    body_ref: str | None = None
    preferences_version: int | None = None
