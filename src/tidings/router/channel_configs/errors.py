"""What can go wrong with vendor accounts.

NotFoundError
└── UnknownAccountError      no account that the caller may see has this id
NotAllowedError
└── PlatformAccountError     the account is the platform's: tenants use it and change nothing
TooBusyError
└── TooManyChecksError       more looks at accounts than are let through in an hour
"""

from tidings.kernel.refusals import NotAllowedError, NotFoundError, TooBusyError


class UnknownAccountError(NotFoundError):
    """There is no vendor account with this id here."""

    code = "adapter_not_found"


class PlatformAccountError(NotAllowedError):
    """The account is the platform's; set up one of your own, or ask its operators."""

    code = "platform_account"


class TooManyChecksError(TooBusyError):
    """More looks at accounts than are let through in an hour; try again later."""

    code = "too_many_checks"
