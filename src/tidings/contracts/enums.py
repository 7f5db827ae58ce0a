"""Words that every service uses the same way: channels, priorities, categories, use cases, statuses."""

from enum import StrEnum
from typing import Annotated, Final, Literal, get_args

from msgspec import Meta

from tidings.contracts.tenants import Channel

Priority = Literal["critical", "high", "normal", "low"]
UseCase = Literal["otp", "txn", "marketing", "alert", "conversational"]

CHANNELS: Final[tuple[Channel, ...]] = get_args(Channel)
#: A notification that leaves the choice of channel to the router's ladder.
AUTO: Final = "auto"
#: Channels with messages that can carry files.
WITH_FILES: Final[frozenset[Channel]] = frozenset({"email"})

#: A row of the registry of categories; whether it exists is for the registry to say.
Category = Annotated[
    str,
    Meta(
        pattern=r"^[a-z][a-z0-9_]{1,62}\Z",
        description="must be a category such as transactional or marketing",
    ),
]
#: The name of an adapter.
Vendor = Annotated[
    str,
    Meta(
        pattern=r"^[a-z][a-z0-9_]{1,62}\Z",
        description="must be the name of an adapter, such as smtp",
    ),
]


class NotificationStatus(StrEnum):
    """Where a notification stands; it only moves forward."""

    QUEUED = "queued"
    SCHEDULED = "scheduled"
    DISPATCHED = "dispatched"
    DELIVERED = "delivered"
    FAILED = "failed"
    BOUNCED = "bounced"
    SUPPRESSED = "suppressed"
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
