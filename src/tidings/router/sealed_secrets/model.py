"""A secret that was entered: what may be known of it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

SCHEME: Final = "sealed"
#: The platform's key that seals the platform's own.
PLATFORM_PURPOSE: Final = "account_secrets"


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedSecret:
    """A secret as it is stored."""

    name: str
    box: bytes = field(repr=False)
    version: int
    created_at: datetime
    updated_at: datetime
    updated_by: str


def reference(name: str) -> str:
    """How an account names it."""
    return f"{SCHEME}://{name}"


def subject_of(name: str) -> str:
    """The subject of the key that seals it: each has one of its own, so that removing a secret destroys it."""
    return f"secret/{name}"


def purpose_of(name: str) -> str:
    """What its box is bound to."""
    return f"account-secret:{name}"
