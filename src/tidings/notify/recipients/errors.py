"""What can go wrong with recipients.

NotFoundError
├── UnknownRecipientError   no recipient of this tenant has this id
└── UnknownAddressError     the recipient has no such address
ConflictError
└── ErasedRecipientError    the recipient was erased and can't be changed
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownRecipientError(NotFoundError):
    """There is no recipient with this id here."""

    code = "recipient_not_found"


class UnknownAddressError(NotFoundError):
    """The recipient has no address with this id."""

    code = "address_not_found"


class ErasedRecipientError(ConflictError):
    """The recipient was erased; nothing about them can be kept any more."""

    code = "recipient_erased"
