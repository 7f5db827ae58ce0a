"""What can go wrong with recipients.

NotFoundError
├── UnknownRecipientError   no recipient of this tenant has this id
└── UnknownAddressError     the recipient has no such address
ConflictError
├── ErasedRecipientError    the recipient was erased and can't be changed
└── SharedAddressError      addresses alone do not say which recipient is meant
"""

from collections.abc import Sequence

from tidings.contracts.ids import RecipientId
from tidings.kernel.refusals import ConflictError, NotFoundError

#: Candidates that a problem names.
_MOST_NAMED = 10


class UnknownRecipientError(NotFoundError):
    """There is no recipient with this id here."""

    code = "recipient_not_found"


class UnknownAddressError(NotFoundError):
    """The recipient has no address with this id."""

    code = "address_not_found"


class ErasedRecipientError(ConflictError):
    """The recipient was erased; nothing about them can be kept any more."""

    code = "recipient_erased"


class SharedAddressError(ConflictError):
    """The addresses belong to several recipients, or to one who does not have all of them; name the recipient by its id."""

    code = "address_shared"

    def __init__(self, candidates: Sequence[RecipientId]) -> None:
        named = ", ".join(candidates[:_MOST_NAMED])
        more = f" and {len(candidates) - _MOST_NAMED} more" if len(candidates) > _MOST_NAMED else ""
        if len(candidates) == 1:
            said = f"some of these addresses belong to {named}, who does not have the others; name it by id to add them"
        else:
            said = f"several recipients have these addresses: {named}{more}; name one by id or identity"
        super().__init__(f'{said}, or write "identity": {{"type": "anonymous"}} for somebody apart from them')
        #: Who has the addresses.
        self.candidates = tuple(candidates)
