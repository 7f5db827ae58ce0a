"""Why somebody is not let in, in words that tell a stranger nothing.

RefusalError
└── SignInRefusedError        `why` says it; pages have the words
"""

from typing import Literal

from tidings.kernel.refusals import RefusalError

#: `wrong`: mail or password; `code`: the second factor; `over`: the ticket or link; `again`: the password has to be chosen anew; `suspended`: the tenant.
Why = Literal["wrong", "code", "locked", "busy", "over", "again", "suspended", "no_factor"]


class SignInRefusedError(RefusalError):
    """Nobody is let in so."""

    code = "sign_in_refused"

    def __init__(self, why: Why, *, retry_after: float | None = None) -> None:
        super().__init__(f"sign-in refused: {why}")
        self.why = why
        #: Seconds until it makes sense to try again, where that is known.
        self.retry_after = retry_after
