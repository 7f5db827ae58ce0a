"""What statuses mean to the state machine: those of receipts, and those that answers are kept under."""

from typing import Final

from tidings.contracts.delivery import Evidence
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.router.state_machine.model import ANSWER_NEVER_LEARNED

#: What a receipt amounts to; what is not here says that the message did not arrive.
REACHED: Final[dict[str, int]] = {
    "accepted": 1,
    "sent": 2,
    "delivered": 3,
    "delivered_read": 4,
    "opened": 4,
    "clicked": 4,
}
WANTED: Final[dict[str, int]] = {"accepted": 1, "sent": 2, "delivered": 3, "read": 4}
EVIDENCE: Final[dict[int, Evidence]] = {1: "accepted", 2: "sent", 3: "delivered", 4: "read"}
ARRIVED: Final = REACHED["delivered"]
#: Receipts that a message did not arrive, and will not.
LOST: Final = frozenset(
    {"failed_temp", "failed_perm", "rejected_by_provider", "rejected_by_recipient", "bounced"}
)
#: Of these the person's side is the cause: another vendor of the channel would hear the same.
OF_PERSON: Final = frozenset({"rejected_by_recipient", "bounced"})
OF_ADDRESS: Final = frozenset({"invalid_address", "hard_bounce"})

#: What is kept of all that was heard: the heavier. All receipts are heard again in every turn, in whatever order they came.
WEIGHT: Final[dict[str, int]] = {
    "accepted": 1,
    "sent": 2,
    "failed_temp": 3,
    "failed_perm": 3,
    "rejected_by_provider": 3,
    "rejected_by_recipient": 4,
    "bounced": 4,
    "delivered": 5,
    "delivered_read": 6,
    "opened": 6,
    "clicked": 6,
}


def is_of_person(refused: Refused) -> bool:
    """Whether another vendor would hear the same: it is the address, or its owner, and not the vendor."""
    return (
        is_of_address(refused.code)
        or refused.status == "rejected_by_recipient"
        or refused.effect in OF_ADDRESS
    )


def is_of_address(code: str) -> bool:
    """Whether a refusal is about the address itself (RFC 3463, 5.1.x)."""
    return code.startswith("5.1.") or code == "5.1"


def told_as(outcome: Outcome) -> tuple[str, str | None]:
    """Status and reason under which an attempt is kept."""
    match outcome:
        case Accepted():
            return "accepted", None
        case Refused(code=code, permanent=True, status=status):
            return status or ("failed_perm" if is_of_address(code) else "rejected_by_provider"), code
        case Refused(code=code) | TryLater(code=code):
            return "failed_temp", code
        case Unlearned():
            return "timed_out", ANSWER_NEVER_LEARNED
