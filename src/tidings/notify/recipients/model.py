"""Recipients and their addresses as they are stored: what is personal stays sealed."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from tidings.contracts.ids import RecipientAddressId, RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.ids import time_of

#: What a sealed box is for; bound into it together with the tenant and the recipient.
NAME_PURPOSE = "display_name"
#: What the list of a batch says of somebody alone.
LIST_VARIABLES_PURPOSE = "batch_list_variables"


def address_purpose(channel: str) -> str:
    """An address of one channel does not open as another's."""
    return f"address:{channel}"


class IdentityType(StrEnum):
    """What sort of somebody this is in the caller's own system."""

    GUEST = "guest"
    USER = "user"
    VENDOR = "vendor"
    #: Known by an id that says nothing, or by an address alone.
    ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who a recipient is in the caller's own system."""

    type: IdentityType
    #: None only for a recipient known by address alone.
    id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAddress:
    """One address of a recipient."""

    id: RecipientAddressId
    recipient_id: RecipientId
    channel: Channel
    #: Under the tenant's pepper.
    address_hash: str
    #: Under the recipient's key; never printed.
    ciphertext: bytes
    is_primary: bool
    verified: bool
    updated_at: datetime

    @property
    def created_at(self) -> datetime:
        """The time inside its id."""
        return time_of(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """A person or an account that can be written to."""

    id: RecipientId
    identity: Identity | None
    #: Under the recipient's key.
    display_name_ciphertext: bytes | None
    locale: str
    timezone: str
    tags: tuple[str, ...]
    attributes: dict[str, Any]
    #: The key was destroyed then.
    erased_at: datetime | None
    #: Counts changes of the recipient itself; also its ETag.
    version: int
    updated_at: datetime

    @property
    def created_at(self) -> datetime:
        """The time inside its id."""
        return time_of(self.id)
