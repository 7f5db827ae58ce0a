"""Entered secrets as JSON: a value goes in, and never comes out."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from tidings.contracts.moments import Moment
from tidings.kernel.errors import BadValueError
from tidings.kernel.mapping import by_name
from tidings.kernel.secrets import MAX_SECRET_BYTES
from tidings.router.sealed_secrets.change_secret import SecretWithReaders
from tidings.router.sealed_secrets.model import reference


class PutSecret(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A secret: an account's settings as an object, or one text such as a password."""

    value: Annotated[
        str | dict[str, Any],
        Meta(
            description='An account\'s settings as an object, `{"host": …, "password": …}`, or one text. It is never shown again.'
        ),
    ]

    def text(self) -> str:
        """What is sealed."""
        found = self.value if isinstance(self.value, str) else msgspec.json.encode(self.value).decode()
        if not found or len(found.encode()) > MAX_SECRET_BYTES:
            raise BadValueError("value", f"must have 1 to {MAX_SECRET_BYTES} bytes")
        if "\x00" in found:
            raise BadValueError("value", "must not contain a zero character")
        return found

    def __repr__(self) -> str:
        return "PutSecret(***)"


class SecretView(Struct, frozen=True, kw_only=True):
    """What may be known of a secret."""

    name: str
    #: What an account writes into `secret_ref`.
    ref: str
    version: int
    #: The accounts that read it.
    used_by: list[str]
    created_at: Moment
    updated_at: Moment
    updated_by: str

    @classmethod
    def of(cls, kept: SecretWithReaders) -> "SecretView":
        """The secret as it is shown."""
        one = kept.secret
        return by_name(cls, one, ref=reference(one.name), used_by=list(kept.used_by))


class SecretList(Struct, frozen=True, kw_only=True):
    """All secrets of an owner."""

    items: list[SecretView]
