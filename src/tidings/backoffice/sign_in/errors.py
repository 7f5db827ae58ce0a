"""Why somebody is not let in, in words that tell a stranger nothing.

RefusalError
├── SignInRefusedError        `why` says it; pages have the words
├── PasskeyRefusedError       what the browser made is not what we asked for
├── PasskeyNotFoundError
└── TooManyPasskeysError
"""

from typing import Literal

from tidings.kernel.refusals import ConflictError, NotAllowedError, NotFoundError, RefusalError

#: `wrong`: mail or password; `code`: the second factor; `passkey`: none of anybody; `over`: the ticket or link; `again`: the password has to be chosen anew; `suspended`: the tenant;
#: `unknown`: the identity provider names somebody who is no operator; `provider…`: it lets nobody in.
Why = Literal[
    "wrong",
    "code",
    "passkey",
    "locked",
    "busy",
    "over",
    "again",
    "suspended",
    "no_factor",
    "unknown",
    "provider",
    "provider_away",
    "provider_mail",
]


class SignInRefusedError(RefusalError):
    """Nobody is let in so."""

    code = "sign_in_refused"

    def __init__(self, why: Why, *, retry_after: float | None = None) -> None:
        super().__init__(f"sign-in refused: {why}")
        self.why = why
        #: Seconds until it makes sense to try again, where that is known.
        self.retry_after = retry_after


class PasskeyRefusedError(NotAllowedError):
    """What the browser brought is no answer to a challenge of ours; ask for another one, and answer it within five minutes."""

    code = "passkey_refused"


class PasskeyNotFoundError(NotFoundError):
    """You have no such passkey."""

    code = "passkey_not_found"


class TooManyPasskeysError(ConflictError):
    """You have ten passkeys, which is the most; remove one first."""

    code = "too_many_passkeys"
