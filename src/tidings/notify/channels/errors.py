"""What can go wrong with channels.

NotFoundError
└── UnknownChannelError        the tenant has not set this channel up
ConflictError
├── NoOwnAccountError          the channel is sent through the platform's account
├── CredentialRefusedError     the vendor does not take the new credential
├── SenderUnauthorisedError    the tenant may not appear as the channel's sender
└── AddressHeldError           the address of a test is suppressed
TooBusyError
└── TooManyTestsError          more tests or checks than are let through in an hour
UnavailableError
├── SecretsUnavailableError    the store of secrets can't be reached
└── VendorNotReachedError      the vendor can't be asked
"""

from tidings.kernel.refusals import ConflictError, NotFoundError, TooBusyError, UnavailableError


class UnknownChannelError(NotFoundError):
    """This channel is not set up here; PUT it first."""

    code = "channel_not_found"


class NoOwnAccountError(ConflictError):
    """The channel is sent through the platform's account; PUT it with an account of your own first."""

    code = "no_own_account"


class CredentialRefusedError(ConflictError):
    """The vendor does not take the new credential; the one before it stays in use."""

    code = "credential_refused"


class SenderUnauthorisedError(ConflictError):
    """You may not appear as this channel's sender; PUT the channel with a sender that is granted to you, or ask the platform's operator to grant this one."""

    code = "sender_unauthorised"


class AddressHeldError(ConflictError):
    """This address is suppressed, and a test is no way around that; name another one."""

    code = "address_suppressed"


class TooManyTestsError(TooBusyError):
    """More tests or checks of this channel than are let through in an hour; try again later."""

    code = "too_many_tests"


class SecretsUnavailableError(UnavailableError):
    """The secret store can't be reached right now; try again in a moment."""

    code = "secrets_unavailable"


class VendorNotReachedError(UnavailableError):
    """The vendor could not be asked about the new credential; try again, or leave the check out."""

    code = "vendor_not_reached"
