"""Whether an answer speaks against the vendor."""

from typing import Final

from tidings.contracts.adapters import OUR_CODES
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater

#: Codes of vendors that did not take our credentials: HTTP, SMTP, SMTP's enhanced ones (RFC 4954, 6), SMPP.
NOT_LET_IN: Final = frozenset(
    {
        "401",
        "403",
        "530",
        "535",
        "5.7.0",
        "5.7.8",
        "5.7.9",
        "login_required",
        "token",
        "ESME_RINVPASWD",
        "ESME_RINVSYSID",
        "ESME_RBINDFAIL",
    }
)
#: The cause of an unanswered call.
NO_ANSWER: Final = "late"
#: SMTP's words about one mailbox (RFC 3463): the next one may well be taken.
_ONE_MAILBOX: Final = ("4.1.", "4.2.", "450")
#: The account may not send as one sender: the next message may have another.
_ONE_SENDER: Final = "sender_not_allowed"


def cause_of(outcome: Outcome) -> str:
    """The code of a failure: the vendor's, or ours where there was no answer."""
    return outcome.code if isinstance(outcome, Refused | TryLater) else NO_ANSWER


def is_failure(outcome: Outcome) -> bool | None:
    """Whether the vendor failed; None where the answer says nothing about it.

    A refusal because of the address or the message is an answer as good as any.
    """
    if isinstance(outcome, Accepted):
        return False
    if isinstance(outcome, TryLater):
        own = outcome.code in OUR_CODES or outcome.code == _ONE_SENDER
        return None if own or outcome.code.startswith(_ONE_MAILBOX) else True
    if isinstance(outcome, Refused):
        # Telegram says 403 for a person who has blocked the bot.
        return outcome.code in NOT_LET_IN and outcome.status != "rejected_by_recipient"
    return True
