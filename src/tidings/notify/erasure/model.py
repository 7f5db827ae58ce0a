"""What an erasure came to, as its receipt tells it: ids, times and counts, nothing of the person."""

from datetime import date, datetime
from typing import Final, Literal, NewType

from msgspec import Struct

from tidings.contracts.ids import RecipientId
from tidings.contracts.moments import Moment
from tidings.kernel.ids import IdKind

ErasureId = NewType("ErasureId", str)
ERASURE: Final = IdKind("ers", ErasureId)

#: Stands before the signed bytes too, so that no other signature of ours can be taken for a receipt's.
FORMAT: Final = "tidings-erasure-v1"

Cause = Literal["request", "iam.user.deleted.v1"]


class DestroyedData(Struct, frozen=True, kw_only=True):
    """What is gone, or can't be read by anybody any more."""

    #: Versions of the recipient's own key.
    data_keys: int
    addresses: int
    display_name: bool
    #: Who they are in the caller's own system.
    identity: bool
    tags: int
    attributes: int
    #: All that they chose.
    preferences: bool
    #: Lines of the consent ledger that named where a yes or a no can be looked up; they name it no more.
    consent_evidence: int
    #: Plain copies of their addresses beside suppressions.
    suppressed_addresses: int
    #: What the router had learned about reaching them.
    profiles: int
    #: Notifications whose variables and files were sealed with the key.
    notifications_unreadable: int
    #: Of these, how many had metadata of the caller in the clear.
    metadata_cleared: int
    #: Requests of vendors about their messages whose raw bodies are destroyed; those that come later are not kept either.
    raw_callbacks: int
    #: Items of their in-app inbox.
    inbox_items: int = 0


class RetainedData(Struct, frozen=True, kw_only=True):
    """What stays, and why it says nothing about the person."""

    #: Hashes of addresses, so that nobody is written to again who must not be.
    suppressions: int
    #: Rows with ids, times and states, without content.
    notifications: int


class InFlight(Struct, frozen=True, kw_only=True):
    """A call to a vendor that was under way: whether the vendor took the message was not known yet."""

    notification_id: str
    channel: str
    vendor: str | None
    since: Moment


class ErasureStatement(Struct, frozen=True, kw_only=True):
    """What is signed."""

    format: str
    id: str
    tenant_id: str
    recipient_id: str
    erased_at: Moment
    cause: Cause
    #: The user or key that asked for it; `system` where an event did.
    requested_by: str
    destroyed: DestroyedData
    kept: RetainedData
    #: Notifications that waited and are not sent.
    stopped: int
    #: Notifications handed over and not over yet: no further step of theirs is taken.
    under_way: int
    #: Those of them that a vendor was being called for; they may yet arrive.
    in_flight: list[InFlight]
    #: Vendors that were given messages for this recipient in the past; they keep by their own rules.
    vendors: list[str]
    #: The last day on which a backup may still hold the destroyed key, in its wrapped form.
    backups_until: date
    #: The last day on which the raw body of a request that was found to be about no message of theirs may still name them:
    #: what they wrote themselves, and callbacks that found no message.
    raw_callbacks_until: date


class StoredReceipt(Struct, frozen=True, kw_only=True):
    """A receipt as it is kept."""

    id: ErasureId
    recipient_id: RecipientId
    erased_at: datetime
    #: JSON, exactly as it was signed.
    statement: str
    key_id: str
    signature: bytes
