"""What notify and the router tell each other about people: who is known, and what was learned about reaching them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol

from msgspec import Struct

from tidings.contracts.moments import Moment
from tidings.kernel.db import TenantTx

Known = Literal["KNOWN_YES", "KNOWN_NO", "UNKNOWN"]


class LearnedChannel(Struct, frozen=True, kw_only=True):
    """How well one channel reaches a recipient."""

    channel: str
    #: How likely a message arrives, as of now.
    score: float
    #: How much that is to be believed: 0 for nothing seen, towards 1 for much.
    confidence: float
    observations: int
    last_observed_at: Moment | None


class LearnedProfile(Struct, frozen=True, kw_only=True):
    """Everything that the router has learned about reaching a recipient, for that person's own eyes."""

    channels: list[LearnedChannel]
    has_whatsapp_business: Known
    voice_otp_supported: Known
    email_verified: bool
    #: In the clear; null where it is not known.
    telegram_chat_id: str | None
    viber_id: str | None
    last_successful_channel: str | None
    #: When each of these was learned.
    learned_at: dict[str, Moment]
    created_at: Moment
    updated_at: Moment


class ProfileAudit(Struct, frozen=True, kw_only=True):
    """Who changed a profile by hand, and when."""

    id: str
    at: Moment
    action: str
    actor: str


class ProfileTeller(Protocol):
    """What the router offers: to tell what it keeps about a recipient."""

    async def tell(self, tx: TenantTx, recipient_id: str) -> LearnedProfile | None:
        """All of it, in the clear; None where nothing is kept."""
        ...

    async def audited(
        self, tx: TenantTx, recipient_id: str, *, before: str | None, limit: int
    ) -> list[ProfileAudit]:
        """What was done by hand, the newest first; `before` is the last id of the page before."""
        ...


class MailboxNews(Protocol):
    """What the router offers: to hear which recipients have a proven mailbox."""

    async def told(self, tx: TenantTx, proven: Mapping[str, bool], *, at: datetime) -> None:
        """By recipient, whether they have a verified mail address now; in the transaction that changes it."""
        ...


class KnownRecipients(Protocol):
    """What notify offers: to say which recipients are known."""

    async def known(self, tx: TenantTx, recipient_ids: Sequence[str]) -> frozenset[str]:
        """Those who exist and were not erased."""
        ...
