"""What can go wrong with a callback.

TidingsError
└── RefusalError
    ├── NotFoundError
    │   ├── NoHookError             nothing listens at this address
    │   ├── CallbackNotFoundError   no event without a tenant has this id
    │   ├── CallbackRequestNotFoundError   no request has this id
    │   └── CallbackBodyGoneError   its raw body is not kept any more
    ├── UnauthenticatedError
    │   └── BadSignatureError       the signature is not the account's
    └── UnavailableError
        └── HookUnavailableError    the secret or the store of raw bodies can't be asked right now
"""

from tidings.kernel.refusals import NotFoundError, UnauthenticatedError, UnavailableError


class NoHookError(NotFoundError):
    """Nothing listens here; check the vendor's name and the account's id, and whether its settings have what proves callbacks."""

    code = "no_hook"


class CallbackNotFoundError(NotFoundError):
    """No such event waits or is dead; one that found its message is its tenant's, in the execution's history."""

    code = "callback_not_found"


class CallbackRequestNotFoundError(NotFoundError):
    """No request with this id is kept; the list of refused ones shows those there are."""

    code = "callback_request_not_found"


class CallbackBodyGoneError(NotFoundError):
    """The raw body is not kept: its 30 days are over, a person it is about was erased, or all that it said was known before."""

    code = "callback_body_gone"


class BadSignatureError(UnauthenticatedError):
    """The signature does not fit the body and the account's callback_secret."""

    code = "bad_signature"


class HookUnavailableError(UnavailableError):
    """Callbacks can't be taken in right now; nothing was kept. Send it again."""

    code = "hook_unavailable"
