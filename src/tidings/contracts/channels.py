"""What happens to channels, as events; names and ids, never a reference nor a secret."""

from typing import Final, Protocol

from msgspec import Struct

from tidings.contracts.enums import CHANNELS
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError

CHANNEL_DEGRADED: Final = "channel.degraded.v1"
CHANNEL_RESTORED: Final = "channel.restored.v1"


def channel_named(text: str) -> Channel:
    """The channel of this name; a `BadValueError` where there is none."""
    for channel in CHANNELS:
        if channel == text:
            return channel
    raise BadValueError("channel", f"must be one of {', '.join(CHANNELS)}")


class ChannelsSetUp(Protocol):
    """What notify can say of a tenant's channels."""

    async def of(self, tx: TenantTx) -> frozenset[str]:
        """Those that the tenant has set up and not switched off."""
        ...


class CredentialRotated(Struct, frozen=True, kw_only=True):
    """Messages go out with another credential from now on."""

    vendor: str
    #: Every channel that is sent through this account.
    channels: tuple[str, ...]


class ChannelDegraded(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A vendor account takes no more messages for a while: its circuit has left CLOSED."""

    account_id: str
    vendor: str
    #: What its adapter can send over.
    channels: tuple[str, ...]
    #: `31 of 40 calls failed`, or `by hand`.
    reason: str
    #: A person has said so.
    held: bool = False
    #: The calls of the last minute, where they are the reason.
    calls: int = 0
    failed: int = 0
    slow: int = 0
    #: From when on it may be tried again; left out where only a person will say.
    until: Moment | None = None


class ChannelRestored(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A vendor account takes messages again: its circuit is CLOSED."""

    account_id: str
    vendor: str
    channels: tuple[str, ...]
    reason: str
    #: A person has said so.
    held: bool = False


CHANNEL_EVENTS: dict[str, type[Struct]] = {
    "channel.credential_rotated.v1": CredentialRotated,
    CHANNEL_DEGRADED: ChannelDegraded,
    CHANNEL_RESTORED: ChannelRestored,
}
