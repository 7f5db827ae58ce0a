"""How operators are told of something by a notification: they are recipients of their tenant for it, and only then."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from tidings.contracts.backoffice import AlertSeverity
from tidings.kernel.db import TenantTx

#: The platform's template, unless the tenant has one of its own with this key.
TEMPLATE = "operator_alert"
#: The same of an invitation.
INVITATION = "operator_invitation"
#: Templates whose messages hold what makes the reader somebody: their words are shown to nobody but the recipient.
WITHHELD = frozenset({INVITATION})


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorNotice:
    """One message to one operator."""

    operator_id: str
    name: str = field(repr=False)
    email: str = field(repr=False)
    #: For text messages; None: mail alone.
    phone: str | None = field(repr=False, default=None)
    language: str
    severity: AlertSeverity
    #: The gravest alert, in a few words.
    title: str
    #: How many other alerts this message is about.
    more: int
    #: Where they are looked after.
    url: str
    #: Two notices of one key are one message.
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationMail:
    """An invitation to the console, with the link that makes somebody an operator."""

    operator_id: str
    name: str = field(repr=False)
    email: str = field(repr=False)
    language: str
    #: Who invites them, as colleagues know them.
    inviter: str = field(repr=False)
    join_url: str = field(repr=False)
    expires_at: datetime


class InvitationMailer(Protocol):
    """Sends invitations as any other message of the tenant; nobody reads their words afterwards."""

    async def send(self, tx: TenantTx, mail: InvitationMail) -> bool:
        """Accept it in the transaction of the invitation; False where the tenant sends no mail to that address."""
        ...


class OperatorNotices(Protocol):
    """Sends them as any other message of the tenant: by its ladder, suppressions and limits."""

    async def send(self, tx: TenantTx, notices: Sequence[OperatorNotice]) -> Sequence[bool]:
        """Accept them in the transaction; whether each was."""
        ...
