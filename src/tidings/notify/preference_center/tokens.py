"""What an opt-out link carries: which tenant it is of, and a secret that stands for the recipient, the channel and the category.

A token is made from the tenant's pepper and not by chance. So all messages of a month to one address of a recipient about one
category share one, a message that is rendered again has the same link, and a set that is sent twice stores nothing anew.
Only the hash is stored: a reader of the table can't make a link of it.
"""

import base64
import hashlib
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from ulid_transform import bytes_to_ulid, ulid_to_bytes

from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.keys.pepper import Pepper
from tidings.notify.ids import OptOutTokenId
from tidings.notify.recipients.consent import CONFIRM_WITHIN

#: How long the links of a month work after that month; laws ask for weeks, and old mail is read late.
LASTS: Final = timedelta(days=400)
#: What a token opens: the pages for saying no, or the one that asks for a yes.
Purpose = Literal["opt_out", "confirm"]
_TENANT_BYTES: Final = 16
_SECRET_BYTES: Final = 24
_FORM: Final = re.compile(r"[A-Za-z0-9_-]{54}")


@dataclass(frozen=True, slots=True, kw_only=True)
class OptOutScope:
    """What a token lets its recipient choose anew."""

    recipient_id: RecipientId
    channel: Channel
    #: None: every category that can be unsubscribed from.
    category: str | None
    #: Of the address that the message went to; None for links of older messages, and where it went to several devices.
    address_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OptOutToken:
    """A token as its link has it, and as it is stored."""

    tenant_id: TenantId
    scope: OptOutScope
    purpose: Purpose = "opt_out"
    text: str = field(repr=False)
    token_hash: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredToken:
    """A token that was found again."""

    id: OptOutTokenId
    scope: OptOutScope
    purpose: Purpose
    expires_at: datetime
    consumed_at: datetime | None

    def confirms(self, asked_at: datetime | None) -> bool:
        """Whether it was made for the consent that was asked for at that time, and not for an earlier one."""
        return (
            self.purpose == "confirm"
            and asked_at is not None
            and self.expires_at == asked_at + CONFIRM_WITHIN
        )


def make_token(
    tenant_id: TenantId, scope: OptOutScope, *, pepper: Pepper, at: datetime, address_id: str | None = None
) -> OptOutToken:
    """The token of this scope in the month of `at`.

    By the id of the address and not by its hash: a message that is shown again knows the id for good.
    """
    month = at.astimezone(UTC)
    said = f"opt-out:{scope.recipient_id}:{scope.channel}:{scope.category or ''}:{month:%Y-%m}"
    if address_id is not None:
        said = f"{said}:{address_id}"
    text = _text(tenant_id, said, pepper)
    next_month = (month.replace(day=1) + timedelta(days=32)).replace(
        day=1, hour=0, minute=0, second=0, microsecond=0
    )
    return OptOutToken(
        tenant_id=tenant_id,
        scope=scope,
        text=text,
        token_hash=hash_of(text),
        expires_at=next_month + LASTS,
    )


def make_confirmation(
    tenant_id: TenantId, scope: OptOutScope, *, pepper: Pepper, at: datetime
) -> OptOutToken:
    """The token that confirms a consent that was asked for at that time."""
    said = f"confirm:{scope.recipient_id}:{scope.channel}:{at.astimezone(UTC).isoformat()}"
    text = _text(tenant_id, said, pepper)
    return OptOutToken(
        tenant_id=tenant_id,
        scope=scope,
        purpose="confirm",
        text=text,
        token_hash=hash_of(text),
        expires_at=at + CONFIRM_WITHIN,
    )


def make_way_on(tenant_id: TenantId, scope: OptOutScope, *, text: str, expires_at: datetime) -> OptOutToken:
    """The token that leads from a confirmation to the page of choices, for as long as that can be confirmed.

    It is made from the confirmation's own: the holder of that is let in, and coming twice stores nothing anew.
    """
    way_on = _text(tenant_id, f"way-on:{scope.recipient_id}", Pepper(text.encode()))
    return OptOutToken(
        tenant_id=tenant_id, scope=scope, text=way_on, token_hash=hash_of(way_on), expires_at=expires_at
    )


def no_address(said: str) -> NormalisedAddress:
    """For hashing what is not an address under a pepper of addresses: begins as none of them can.

    Otherwise a recipient with an address that reads like `said` would have the same hash, in a column that many may read.
    """
    return NormalisedAddress(f"\x00{said}")


def _text(tenant_id: TenantId, said: str, pepper: Pepper) -> str:
    return text_of(
        tenant_id, bytes.fromhex(pepper.hash(no_address(said)).removeprefix("sha256:"))[:_SECRET_BYTES]
    )


def text_of(tenant_id: TenantId, secret: bytes) -> str:
    """What a link holds: its tenant, and a secret of 24 bytes."""
    raw = ulid_to_bytes(tenant_id.removeprefix(f"{TENANT.prefix}_")) + secret
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def hash_of(text: str) -> str:
    """As it is stored; the secret inside is too long to be found by trying."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def tenant_of_token(text: str) -> TenantId | None:
    """The tenant that a token names; None where it is no token at all."""
    if not _FORM.fullmatch(text):
        return None
    raw = base64.urlsafe_b64decode(text + "==")
    # The last letter has bits to spare: of its spellings only one is the token.
    if base64.urlsafe_b64encode(raw).rstrip(b"=").decode() != text:
        return None
    return TenantId(f"{TENANT.prefix}_{bytes_to_ulid(raw[:_TENANT_BYTES])}")
