"""How the router and notify meet over what people write back: who wrote, who wants no more, what is answered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.ids import NotificationId, RecipientAddressId, RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx
from tidings.kernel.ids import TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Correspondent:
    """A person who wrote."""

    channel: Channel
    address: NormalisedAddress = field(repr=False)
    #: As the vendor shows them.
    name: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordOptOut:
    """A person wants no more messages at an address, or wants them again."""

    channel: Channel
    address: NormalisedAddress = field(repr=False)
    recipient_id: RecipientId | None
    #: The word that they wrote, as the list of keywords has it, and its language.
    keyword: str
    language: str
    #: None: it was said to another tenant, over a number that both share.
    conversation_id: str | None
    at: datetime


class Correspondents(Protocol):
    """What notify offers for what people write; all of it joins the caller's transaction."""

    async def find(self, tx: TenantTx, wrote: Sequence[Correspondent]) -> list[RecipientId | None]:
        """Who has that address, in the same order; where several have it, the one that was written to last."""
        ...

    async def ensure(self, tx: TenantTx, wrote: Sequence[Correspondent]) -> list[RecipientId]:
        """The same; one who is not known is made, as an anonymous recipient with that address."""
        ...

    async def address_of(
        self, tx: TenantTx, recipient_id: RecipientId, *, channel: Channel, address_hash: str
    ) -> RecipientAddressId | None:
        """Which of their addresses has this hash, under the tenant's pepper; None where it is not theirs any more."""
        ...

    async def stop(self, tx: TenantTx, opt_outs: Sequence[KeywordOptOut]) -> None:
        """Suppress each address for its channel, reason `opt_out`, and announce `optout.recorded.v1`; doing it again changes nothing."""
        ...

    async def start(self, tx: TenantTx, opt_outs: Sequence[KeywordOptOut]) -> list[bool]:
        """Release what was suppressed as `opt_out`; whether there was anything. Nothing else is released by it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyKey:
    """What tells one order to answer from another."""

    conversation_id: str
    #: The same for the same order, so that it is sent once.
    idempotency_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationReply:
    """An answer within a conversation."""

    conversation_id: str
    recipient_id: RecipientId
    channel: Channel
    #: The address that the conversation is with: it goes there, whichever is the recipient's first choice by now.
    address_id: RecipientAddressId
    text: str = field(repr=False)
    #: The same for the same order, so that it is sent once.
    idempotency_key: str
    actor: str
    #: The vendor that the person wrote over, and what they wrote to; both None: that account is not the tenant's any more.
    vendor: str | None = None
    sender: str | None = field(default=None, repr=False)
    is_test: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyResult:
    """What became of it: a notification like any other, through all gates."""

    notification_id: NotificationId
    #: False: the same order was given before.
    created: bool
    status: Literal["queued", "scheduled", "suppressed", "expired", "failed"]


class Replier(Protocol):
    """What notify offers to those who answer."""

    async def reply(self, tenant_id: TenantId, reply: ConversationReply) -> ReplyResult:
        """Order it; it is accepted when this returns. A refusal says what is wrong with it."""
        ...

    async def replied(self, tenant_id: TenantId, *, key: ReplyKey, text: str) -> ReplyResult | None:
        """What became of the same order when it was given before; None where it was not, or too long ago.

        Nothing is ordered. A refusal where the key was given with another text.
        """
        ...
