"""What vendors say about a message after its attempt, as far as it concerns more than its ladder."""

from typing import Final

from msgspec import Struct

from tidings.contracts.callback_forms import Canonical, Effect
from tidings.contracts.moments import Moment

RECEIPT_SUBJECT: Final = "notification.delivery.receipt.v1"

#: Told beside everything that has an effect on the address.
TOLD: Final[frozenset[Canonical]] = frozenset({"delivered_read", "bounced", "complaint", "opened", "clicked"})
#: That a message did not arrive. Told once its ladder is over; until then the outcome tells of it.
LOST: Final[frozenset[Canonical]] = frozenset(
    {"failed_temp", "failed_perm", "rejected_by_provider", "rejected_by_recipient"}
)


class ReceiptTold(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that a vendor said; no address, no text. Its event's id is the receipt's: told once."""

    notification_id: str
    recipient_id: str
    execution_id: str
    attempt_id: str
    #: When that attempt began: the address that was written to is the one of then.
    attempted_at: Moment
    channel: str
    vendor: str
    status: Canonical
    recorded_at: Moment
    #: What it means for the address.
    effect: Effect | None = None
    #: The vendor's, cleaned.
    code: str | None = None
    #: As the vendor says.
    occurred_at: Moment | None = None
    #: Of one that was lost: it had been said before that it arrived.
    arrived: bool = False


RECEIPT_EVENTS: dict[str, type[Struct]] = {RECEIPT_SUBJECT: ReceiptTold}
