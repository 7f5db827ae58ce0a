"""What the codes of mail vendors mean, in our words: shared by the forms of all of them."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple, get_args

from tidings.contracts.callback_forms import Canonical, Effect
from tidings.router.adapters.kind import StatusSeed, seeds_of

_MOST_WORDS: Final = 4000
#: `550 5.1.1`, which would be taken for a telephone number.
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


def mail_words(text: str | None) -> str | None:
    """What a mail server said, with its reply codes written so that they are not taken for a telephone number."""
    return _REPLY_CODES.sub(r"\1/\2", text[:_MOST_WORDS]) if text else None
