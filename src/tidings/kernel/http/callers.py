"""Who is calling, for which tenant, and whether they may: the access guard in front of every resource."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Literal, Protocol

from structlog.contextvars import bind_contextvars

from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.db import CallerRole
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.asgi import SeenScope, headers
from tidings.kernel.http.errors import TooManyFailedLoginsError
from tidings.kernel.http.places import PlaceLimit, place_of
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.refusals import (
    MissingScopeError,
    NotAllowedError,
    TestKeyError,
    UnauthenticatedError,
    WrongTenantError,
)

TENANT_HEADER = "X-Tenant-Id"
#: Requests with a key or token that is none, from one place in a minute: more are answered with 429.
MOST_FAILED = 300
#: Instead of a scope: any authenticated caller.
ANY_CALLER = "any"
#: Instead of a scope: a person, with an inbox token, for their own inbox. No key and no role holds it.
OWN_INBOX = "own_inbox"
_NOT_HERE = "an inbox token opens the inbox of its recipient and nothing else; use an API key here"
_PEOPLE_ONLY = "this takes an inbox token; make one with POST /api/v1/recipients/{recipient_id}/inbox-tokens"
#: Scopes that read how things are set up, and nothing about people or what was sent to them.
_SETTINGS = frozenset({"templates:read", "channels:read"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """An authenticated caller."""

    kind: Literal["key", "jwt", "person"]
    #: `key_…`, or the subject of the token; of a person with an inbox token the recipient, `rcp_…`.
    id: str
    #: Whose key or token it is; None for the platform's own.
    home: TenantId | None
    role: CallerRole
    #: What it may do: its own scopes, as far as its role allows them.
    scopes: frozenset[str]
    #: Test callers never reach a vendor.
    environment: Literal["live", "test"]
    #: The tenant a platform caller acts for, by `X-Tenant-Id`.
    acting_for: TenantId | None = None
    #: When an inbox token was made: the tenant may have voided those of then.
    since: datetime | None = None
    #: When it ends.
    until: datetime | None = None

    @property
    def tenant_id(self) -> TenantId | None:
        """The tenant this request is about."""
        return self.home or self.acting_for

    @property
    def actor(self) -> str:
        """How audit rows and `created_by` columns name this caller."""
        return f"jwt:{self.id}" if self.kind == "jwt" else self.id


class Authenticator(Protocol):
    """Knows callers by what they carry."""

    async def authenticate(self, credential: str) -> Caller:
        """The caller with this key or token; an `UnauthenticatedError` where there is none."""
        ...


class Witness(Protocol):
    """Writes down that the platform acts for a tenant."""

    async def acting(self, caller: Caller, operation: str) -> None:
        """Called before the act; when it fails, the act does not happen."""
        ...


class TenantNeed(StrEnum):
    """What a route has to do with tenants."""

    #: It works on one tenant's things: the caller's own, or the one a platform caller names.
    REQUIRED = "required"
    #: It does, or on the platform's when a platform caller names none.
    OPTIONAL = "optional"
    #: It works on one tenant's things, for the platform alone: the tenant is named.
    NAMED = "named"
    #: It is the platform's.
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a route asks of its caller."""

    scope: str
    tenant: TenantNeed = TenantNeed.REQUIRED
    #: Whether it is refused while the tenant is frozen.
    writes: bool
    #: How the audit names it: `POST /api/v1/api-keys`.
    operation: str = ""
    #: Whether test keys may: it reads settings, or reads and writes nothing but tests for them.
    test_keys: bool = False


class AccessGuard:
    """Lets callers in, or says why not."""

    def __init__(
        self,
        *,
        authenticator: Authenticator,
        gate: TenantGate,
        witness: Witness,
        clock: Clock | None = None,
        most_failed: int = MOST_FAILED,
    ) -> None:
        """`most_failed`: callers whose key or token is none, from one place in a minute."""
        self._authenticator = authenticator
        self._failed = PlaceLimit(most_failed, clock=clock or SystemClock())
        self._gate = gate
        self._witness = witness

    async def admit(self, scope: SeenScope, need: Need) -> Caller:
        """The caller, known, allowed and with its tenant in order; binds both to the logs."""
        caller = await self._known(_credential(scope), scope)
        if (caller.kind == "person") != (need.scope == OWN_INBOX):
            raise NotAllowedError(_NOT_HERE if caller.kind == "person" else _PEOPLE_ONLY)
        if need.scope != ANY_CALLER and need.scope not in caller.scopes:
            raise MissingScopeError(need.scope)
        if caller.environment == "test" and not need.test_keys:
            raise TestKeyError
        caller = _for_tenant(caller, _named_tenant(scope), need)
        tenant_id = caller.tenant_id
        bind_contextvars(caller_id=caller.actor, tenant_id=tenant_id)
        if tenant_id is not None:
            await self._gate.check(
                tenant_id, writes=need.writes, named_by_header=caller.acting_for is not None
            )
        if caller.acting_for is not None:
            await self._witness.acting(caller, need.operation)
        return caller

    async def _known(self, credential: str, scope: SeenScope) -> Caller:
        """A caller with a valid key or token is let in, however many from the same place had none."""
        try:
            return await self._authenticator.authenticate(credential)
        except UnauthenticatedError:
            wait = self._failed.count(place_of(scope))
            if wait is not None:
                raise TooManyFailedLoginsError(wait) from None
            raise


def takes_test_keys(scope: str, method: str) -> bool:
    """Where a route does not say whether test keys may: they read settings, and change nothing."""
    return method in ("GET", "HEAD") and scope in _SETTINGS


def _credential(scope: SeenScope) -> str:
    given = headers(scope, b"authorization")
    if not given:
        raise UnauthenticatedError
    if len(given) > 1:
        raise UnauthenticatedError("send one Authorization header, not several")
    kind, _, credential = given[0].partition(" ")
    credential = credential.strip()
    if kind.lower() != "bearer" or not credential:
        raise UnauthenticatedError("the Authorization header must be: Bearer, a space, then the key or token")
    return credential


def _named_tenant(scope: SeenScope) -> TenantId | None:
    given = headers(scope, b"x-tenant-id")
    if not given:
        return None
    if len(given) > 1:
        raise BadValueError(TENANT_HEADER, "is given more than once; a request is about one tenant")
    return TENANT.parse(given[0].strip(), field=TENANT_HEADER)


def _for_tenant(caller: Caller, named: TenantId | None, need: Need) -> Caller:
    if caller.home is not None:
        if need.tenant in (TenantNeed.NONE, TenantNeed.NAMED):
            raise NotAllowedError("this is the platform's; a tenant's key or token can't do it")
        if named is not None and named != caller.home:
            raise WrongTenantError(
                f"{TENANT_HEADER} names another tenant than the one this key or token belongs to"
            )
        return caller
    if need.tenant is TenantNeed.NONE:
        if named is not None:
            raise BadValueError(TENANT_HEADER, "is not used here; leave it out")
        return caller
    if named is None:
        if need.tenant in (TenantNeed.REQUIRED, TenantNeed.NAMED):
            raise BadValueError(TENANT_HEADER, "is required with a platform key: name the tenant to act for")
        return caller
    return replace(caller, acting_for=named)
