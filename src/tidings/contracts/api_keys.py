"""What happens to API keys, as events; ids and facts, never a secret or its hash."""

from datetime import datetime

from msgspec import Struct


class ApiKeyCreated(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A key came to be."""

    key_id: str
    role: str
    environment: str
    scopes: tuple[str, ...]
    expires_at: datetime | None = None


class ApiKeyRotated(Struct, frozen=True, kw_only=True):
    """A key got a successor; both work until the overlap ends."""

    key_id: str
    successor_id: str
    overlap_ends_at: datetime


class ApiKeyRevoked(Struct, frozen=True, kw_only=True):
    """A key stopped working."""

    key_id: str


API_KEY_EVENTS: dict[str, type[Struct]] = {
    "api_key.created.v1": ApiKeyCreated,
    "api_key.rotated.v1": ApiKeyRotated,
    "api_key.revoked.v1": ApiKeyRevoked,
}
