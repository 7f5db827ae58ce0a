"""What a mail vendor tells about a message, put into our words: shared by the forms of all of them."""

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple, get_args

from tidings.contracts.callback_forms import Canonical, Details, Effect, ReadEvent
from tidings.router.adapters.callbacks.parsing import FURTHEST_AHEAD
from tidings.router.adapters.kind import StatusSeed, seeds_of
from tidings.router.adapters.redaction import kept_code, kept_words

#: As attempts keep it.
_MOST_ID: Final = 200
_MOST_WORD: Final = 60
_MOST_WORDS: Final = 4000
#: `550 5.1.1`, which would be taken for somebody's number.
_REPLY_CODES: Final = re.compile(r"\b([245][0-9]{2})[ -]([245]\.[0-9]{1,3}\.[0-9]{1,3})\b")
_EFFECTS: Final[Mapping[str, Effect]] = {effect: effect for effect in get_args(Effect)}


class MailMeaning(NamedTuple):
    """What one of a vendor's codes says."""

    status: Canonical
    #: A word of ours; four of them have consequences for the address.
    reason: str

    @property
    def effect(self) -> Effect | None:
        """What it means for the address."""
        return _EFFECTS.get(self.reason)


def seeds(table: Mapping[str, MailMeaning]) -> tuple[StatusSeed, ...]:
    """A table of codes as the status map begins with it."""
    return seeds_of((code, *meaning) for code, meaning in table.items())


def mail_event(
    *,
    message_id: str,
    word: str,
    status: Canonical,
    at: datetime | None,
    discriminator: str,
    received_at: datetime,
    code: str | None = None,
    reason: str | None = None,
    effect: Effect | None = None,
) -> ReadEvent:
    """One event, with only so much of the vendor's words as may be kept."""
    words = _REPLY_CODES.sub(r"\1/\2", reason[:_MOST_WORDS]) if reason else None
    details = Details(code=kept_code(code), reason=kept_words(words), effect=effect)
    return ReadEvent(
        vendor_message_id=message_id[:_MOST_ID],
        word=word.lower()[:_MOST_WORD],
        status=status,
        occurred_at=at if at is not None and at - received_at <= FURTHEST_AHEAD else None,
        discriminator=_short(discriminator),
        details=details if details != Details() else None,
    )


def _short(name: str) -> str:
    """As it is, unless it is too long for the key that tells events apart."""
    return name if len(name) <= _MOST_ID else "sha256:" + hashlib.sha256(name.encode()).hexdigest()
