"""One event of a callback, put into our words: shared by the forms of all vendors."""

import hashlib
from datetime import datetime
from typing import Final

from tidings.contracts.callback_forms import Canonical, Details, Effect, ReadEvent, VendorCost
from tidings.router.adapters.callbacks.parsing import believable
from tidings.router.adapters.redaction import kept_code, kept_words

#: As attempts keep it.
MOST_ID: Final = 200
_MOST_WORD: Final = 60


def status_event(
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
    cost: VendorCost | None = None,
) -> ReadEvent:
    """One event, with only so much of the vendor's words as may be kept, and without a moment that lies far ahead."""
    details = Details(code=kept_code(code), reason=kept_words(reason), effect=effect, cost=cost)
    return ReadEvent(
        vendor_message_id=message_id[:MOST_ID],
        word=word.lower()[:_MOST_WORD],
        status=status,
        occurred_at=believable(at, received_at),
        discriminator=_short(discriminator),
        details=details if details != Details() else None,
    )


def _short(name: str) -> str:
    """As it is, unless it is too long for the key that tells events apart."""
    return name if len(name) <= MOST_ID else "sha256:" + hashlib.sha256(name.encode()).hexdigest()
