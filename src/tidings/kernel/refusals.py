"""What every service may have to refuse, in words that mean the same in a worker and behind HTTP.

TidingsError
└── RefusalError                we understood, and decline
    ├── InvalidError               one or more fields are not acceptable; names them all
    ├── UnauthenticatedError       we don't know who is calling
    ├── NotAllowedError            we know, and this caller may not
    │   ├── MissingScopeError         the key or token lacks a scope
    │   ├── WrongTenantError          it belongs to another tenant
    │   ├── TenantSuspendedError      the tenant's account is suspended
    │   └── TenantDeletingError       the tenant is being deleted
    ├── TenantFrozenError          the tenant takes no new writes for now
    ├── NotFoundError              there is no such thing, or it is somebody else's
    ├── GoneError                  it was there, and is kept no more
    ├── NoneAcceptedError          of many, not one is acceptable
    ├── ConflictError              it can't be done in the present state
    │   ├── KeyReusedError            an Idempotency-Key that was used for another request
    │   └── StillInProgressError      the first request with this Idempotency-Key is not answered yet
    ├── StaleVersionError          it was changed since the caller last read it
    ├── TooBusyError               more waits already than we let wait
    └── UnavailableError           a part that this needs can't be reached right now

A service derives its own from these and gives them a `code`; `kernel.http.problems` finds the status of a
class by its nearest ancestor.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tidings.kernel.errors import TidingsError


class FieldError(NamedTuple):
    """One field that is not acceptable, and what to do about it."""

    #: Where the value was, as its sender calls it: `items[3].channel`; empty for the body as a whole.
    field: str
    #: What it has to be instead, as the rest of a sentence: "must be a whole number".
    remedy: str


class RefusalError(TidingsError):
    """The request was understood and is declined."""

    code = "refused"


class InvalidError(RefusalError):
    """One or more values are not acceptable."""

    code = "bad_value"

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(f"{e.field or 'the body'} {e.remedy}" for e in errors))
        #: Every wrong field that was found.
        self.errors = tuple(errors)


class UnauthenticatedError(RefusalError):
    """Send a valid API key or token: `Authorization: Bearer …`."""

    code = "unauthenticated"


class NotAllowedError(RefusalError):
    """This caller may not do that."""

    code = "not_allowed"


class MissingScopeError(NotAllowedError):
    """The key or token lacks a scope that this needs."""

    code = "missing_scope"

    def __init__(self, scope: str) -> None:
        super().__init__(f"this needs the scope {scope}, which the key or token does not have")
        #: The scope that would have helped.
        self.scope = scope


class TestKeyError(NotAllowedError):
    """A test key reads settings and test messages, and writes test messages; everything else needs a live key."""

    __test__ = False
    code = "test_key"

    def __init__(self) -> None:
        super().__init__(
            "this is about what is live, and your key is a test key: those read settings and test messages, "
            "and write test messages alone; use a live key"
        )


class WrongTenantError(NotAllowedError):
    """The key or token belongs to another tenant."""

    code = "wrong_tenant"


class TenantSuspendedError(NotAllowedError):
    """The tenant is suspended; ask the platform's operators to resume it."""

    code = "tenant_suspended"


class TenantDeletingError(NotAllowedError):
    """The tenant is being deleted and its API is closed."""

    code = "tenant_deleting"


class TenantFrozenError(RefusalError):
    """The tenant is frozen: it can be read, and takes no new writes until it is unfrozen."""

    code = "tenant_frozen"


class NotFoundError(RefusalError):
    """There is no such thing here."""

    code = "not_found"


class GoneError(RefusalError):
    """It was here, and is not kept any more."""

    code = "gone"


class NoneAcceptedError(RefusalError):
    """Of everything in the request nothing was accepted; `results` says what is wrong with each."""

    code = "all_refused"


class ConflictError(RefusalError):
    """That can't be done in the present state."""

    code = "conflict"


class KeyReusedError(ConflictError):
    """This Idempotency-Key was used for another request; send a new key with a new request."""

    code = "idempotency_key_reused"


class StillInProgressError(ConflictError):
    """The first request with this Idempotency-Key is still under way; try again in a moment."""

    code = "idempotency_in_progress"


class StaleVersionError(RefusalError):
    """It was changed since you read it; read it again and repeat the change with its new ETag."""

    code = "stale_version"


class TooBusyError(RefusalError):
    """More work is waiting than is let wait; nothing was changed. Send it again after the time in Retry-After."""

    code = "too_busy"


class UnavailableError(RefusalError):
    """A part that this needs can't be reached right now; try again in a moment."""

    code = "unavailable"
