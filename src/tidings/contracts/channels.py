"""What happens to channels, as events; names and ids, never a reference nor a secret."""

from msgspec import Struct


class CredentialRotated(Struct, frozen=True, kw_only=True):
    """Messages go out with another credential from now on."""

    vendor: str
    #: Every channel that is sent through this account.
    channels: tuple[str, ...]


CHANNEL_EVENTS: dict[str, type[Struct]] = {"channel.credential_rotated.v1": CredentialRotated}
