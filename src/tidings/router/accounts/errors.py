"""What can go wrong with vendor accounts.

NotFoundError
└── UnknownAccountError      no account that the caller may see has this id
NotAllowedError
└── PlatformAccountError     the account is the platform's: tenants use it and change nothing
ConflictError
└── AccountExistsError       the owner has one with this vendor
UnavailableError
└── SecretsNotAskedError     the secret store does not answer
TooBusyError
└── TooManyChecksError       more looks at accounts than are let through in an hour
"""

from tidings.kernel.refusals import (
    ConflictError,
    NotAllowedError,
    NotFoundError,
    TooBusyError,
    UnavailableError,
)


class UnknownAccountError(NotFoundError):
    """There is no vendor account with this id here."""

    code = "adapter_not_found"


class PlatformAccountError(NotAllowedError):
    """The account is the platform's; set up one of your own, or ask its operators."""

    code = "platform_account"


class AccountExistsError(ConflictError):
    """There is an account with this vendor already; change that one, or add a name of your own to the vendor's."""

    code = "adapter_exists"

    def __init__(self, account_id: str, vendor: str) -> None:
        super().__init__(
            f"there is an account with {vendor} already, {account_id}: change that one, or name the new one "
            f"{vendor}_ and a word of your own"
        )


class SecretsNotAskedError(UnavailableError):
    """The secret can't be asked for right now, so nothing was changed."""

    code = "secrets_unavailable"


class TooManyChecksError(TooBusyError):
    """More looks at accounts than are let through in an hour; try again later."""

    code = "too_many_checks"
