"""A message that a vendor accepted and that people can answer, as executions hand it to conversations; no I/O."""

from dataclasses import dataclass, field
from datetime import datetime

from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.enums import UseCase
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.tenants import Channel
from tidings.router.policies.model import DEFAULT_SESSION_TTL_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message that a vendor took, and that can be answered."""

    channel: Channel
    #: `Accepted.sender`: what an answer will be written to.
    sender_id: str
    to: NormalisedAddress = field(repr=False)
    recipient_id: RecipientId | None
    notification_id: NotificationId
    account_id: str | None
    #: The vendor of that account, by which a confirmation goes out.
    vendor: str | None = None
    #: Its policy says what STOP is.
    use_case: UseCase | None = None
    #: Of that policy.
    ttl_seconds: int = DEFAULT_SESSION_TTL_SECONDS
    at: datetime
