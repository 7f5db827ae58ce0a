"""How operators are told of something by a notification: they are recipients of their tenant for it, and only then."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tidings.contracts.backoffice import AlertSeverity
from tidings.kernel.db import TenantTx

#: The platform's template, unless the tenant has one of its own with this key.
TEMPLATE = "operator_alert"


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


class OperatorNotices(Protocol):
    """Sends them as any other message of the tenant: by its ladder, suppressions and limits."""

    async def send(self, tx: TenantTx, notices: Sequence[OperatorNotice]) -> Sequence[bool]:
        """Accept them in the transaction; whether each was."""
        ...
