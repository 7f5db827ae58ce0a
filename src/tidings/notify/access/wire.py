"""API keys as JSON: what requests bring and answers show."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from tidings.contracts.moments import Moment
from tidings.contracts.scopes import effective_scopes
from tidings.contracts.text import Label
from tidings.kernel.db import CallerRole
from tidings.kernel.mapping import by_name
from tidings.notify.access.model import ApiKey, KeySpec, KeyState

#: A month and a bit.
_LONGEST_OVERLAP = 35 * 86_400


class CreateKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key to be."""

    name: Label
    role: CallerRole
    #: Left out: all that the role can hold and you have yourself.
    scopes: Annotated[list[str], Meta(max_length=100)] | None = None
    environment: Literal["live", "test"] = "live"
    expires_at: Moment | None = None

    def spec(self) -> KeySpec:
        """The same, for the use case."""
        return by_name(KeySpec, self, scopes=None if self.scopes is None else frozenset(self.scopes))


class RotateKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a key is to be rotated."""

    #: For how long the old key goes on working; 0 ends it at once.
    overlap_seconds: Annotated[int, Meta(ge=0, le=_LONGEST_OVERLAP)] = 86_400
    #: Left out: as long a life as the old one had.
    expires_at: Moment | None = None


class KeyView(Struct, frozen=True, kw_only=True):
    """A key, without its secret."""

    id: str
    #: Null: a key of the platform.
    tenant_id: str | None
    name: str
    state: KeyState
    role: CallerRole
    scopes: list[str]
    environment: Literal["live", "test"]
    created_by: str
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Moment | None
    revoked_at: Moment | None
    rotated_from: str | None
    rotated_to: str | None
    overlap_ends_at: Moment | None

    @classmethod
    def of(cls, key: ApiKey, now: datetime) -> "KeyView":
        """The key as it is shown at `now`."""
        return by_name(cls, key, state=key.state(now), scopes=sorted(effective_scopes(key.role, key.scopes)))


class NewKey(Struct, frozen=True, kw_only=True):
    """A new key with its secret, which is shown this once."""

    #: `tdk_…`: send it as `Authorization: Bearer tdk_…`. Null when an Idempotency-Key repeats the answer.
    api_key: str | None
    key: KeyView
    message: str = "Keep api_key somewhere safe: it is not kept here and can't be shown again."

    def again(self) -> "NewKey":
        """The answer to a repeated request; the secret is not kept, so it can't be in it."""
        return NewKey(
            api_key=None,
            key=self.key,
            message="The first request made this key and its answer held the secret; rotate it if that was lost.",
        )
