"""Their word → our word: what a report means for the message, and for the address.

A code that stands in the status map is read there; what is said here holds for all the others.
"""

from datetime import datetime
from typing import Final

from tidings.contracts.callback_forms import Canonical, Effect, ReadEvent
from tidings.router.adapters.callbacks.mail_events import mail_words
from tidings.router.adapters.callbacks.status_events import status_event
from tidings.router.bounces.report import BounceReport

#: Types of feedback that are no complaint of the person: an excuse, and a report about our own signature.
NO_COMPLAINT: Final = frozenset({"not-spam", "auth-failure"})
_ARRIVING: Final[dict[str, Canonical]] = {
    "delivered": "delivered",
    "relayed": "sent",
    "expanded": "sent",
    "delayed": "sent",
}


def event_of(report: BounceReport, attempt_id: str, *, received_at: datetime) -> ReadEvent | None:
    """The event that a report is; None where it says nothing about the message.

    Of an attempt each word with its code is known once: the same bounce, sent again, changes nothing.
    """
    status, effect = _meaning(report)
    if status is None:
        return None
    word = "unreadable_mail" if report.kind == "unreadable" else report.word
    return status_event(
        message_id=attempt_id,
        word=word,
        status=status,
        at=report.at,
        discriminator=report.code or "-",
        received_at=received_at,
        code=report.code,
        reason=mail_words(report.words),
        effect=effect,
    )


def _meaning(report: BounceReport) -> tuple[Canonical | None, Effect | None]:
    match report.kind:
        case "auto_reply":
            return None, None
        case "unreadable":
            return "unknown", None
        case "feedback":
            return (None, None) if report.word in NO_COMPLAINT else ("complaint", "complaint")
    if report.word != "failed":
        return _ARRIVING.get(report.word, "unknown"), None
    return _failed(report.code or "")


def _failed(code: str) -> tuple[Canonical, Effect | None]:
    """By the registry of RFC 3463: the second number says what it is about."""
    match code.split("."):
        case ["5", "1", "7" | "8"]:
            # The sender's address.
            return "rejected_by_provider", None
        case ["5", "1", _]:
            return "bounced", "hard_bounce"
        case ["5", "2", "1"]:
            return "bounced", "hard_bounce"
        case ["5", "3" | "5" | "6", _]:
            # The other server, the conversation, the content: the address may be good.
            return "failed_perm", None
        case ["5", "7", _]:
            return "rejected_by_provider", None
        case _:
            # A full mailbox, no way there, tried for days, or no reason given: for good only after several.
            return "bounced", "soft_bounce"
