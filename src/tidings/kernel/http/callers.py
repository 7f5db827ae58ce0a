"""Who is calling, for which tenant, and whether they may: the access guard in front of every resource."""

import math
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
from tidings.kernel.request_notes import note_operator

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

    kind: Literal["key", "jwt", "person", "operator"]
    #: `key_…`, or the subject of the token; of a person with an inbox token the recipient, `rcp_…`; of an operator `oper_…`.
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
    #: An operator's session, `bos_…`, and the device that it is bound to, `dvc_…`.
    session_id: str | None = None
    device_id: str | None = None
    #: Ids of properties that an operator may see; `*`: all of the tenant. Keys and tokens have none.
    properties: frozenset[str] = frozenset()

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


class Sessions(Protocol):
    """Knows operators by the cookies of their browser."""

    async def caller_of(self, scope: SeenScope) -> Caller | None:
        """Who is signed in; None where no cookie says so. A request that changes something proves that our own page sent it."""
        ...


class SecondFactor(Protocol):
    """Knows the attestations of operators: each is a second factor of now, for one action."""

    async def take(self, caller: Caller, action: str, given: str | None) -> None:
        """Use up the one that a request brings; a `NotAllowedError` where it is none for this action."""
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
        sessions: Sessions | None = None,
        second_factor: SecondFactor | None = None,
        clock: Clock | None = None,
        most_failed: int = MOST_FAILED,
    ) -> None:
        """`most_failed`: callers whose key or token is none, from one place in a minute. `sessions`: those who sign in, by their `second_factor`."""
        self._authenticator = authenticator
        self._sessions = sessions
        self._second_factor = second_factor
        self._failed = PlaceLimit(most_failed, clock=clock or SystemClock())
        self._gate = gate
        self._witness = witness

    async def admit(self, scope: SeenScope, need: Need) -> Caller:
        """The caller, known, allowed and with its tenant in order; binds both to the logs."""
        caller = await self._known(scope)
        if (caller.kind == "person") != (need.scope == OWN_INBOX):
            raise NotAllowedError(_NOT_HERE if caller.kind == "person" else _PEOPLE_ONLY)
        if need.scope != ANY_CALLER and need.scope not in caller.scopes:
            raise MissingScopeError(need.scope)
        if caller.environment == "test" and not need.test_keys:
            raise TestKeyError
        caller = _for_tenant(caller, _named_tenant(scope), need)
        if caller.kind == "operator":
            note_operator(caller)
        tenant_id = caller.tenant_id
        bind_contextvars(caller_id=caller.actor, tenant_id=tenant_id)
        if tenant_id is not None:
            await self._gate.check(
                tenant_id, writes=need.writes, named_by_header=caller.acting_for is not None
            )
        if caller.acting_for is not None:
            await self._witness.acting(caller, need.operation)
        return caller

    async def attest(self, scope: SeenScope, caller: Caller, action: str) -> None:
        """Use up an operator's attestation for this action; keys and tokens need none."""
        if caller.kind != "operator":
            return
        if self._second_factor is None:
            raise NotAllowedError("operators have no second factor here; use an API key")
        given = headers(scope, b"x-attestation")
        await self._second_factor.take(caller, action, given[0] if len(given) == 1 else None)

    async def check_again(self, scope: SeenScope, need: Need, caller: Caller) -> Caller:
        """Refuse a caller whom we let in when their tenant, their session or their rights are gone meanwhile; the caller as they are now."""
        if caller.tenant_id is not None:
            await self._gate.check(caller.tenant_id, writes=need.writes)
        if caller.session_id is None or self._sessions is None:
            return caller
        present = await self._sessions.caller_of(scope)
        if present is None or present.session_id != caller.session_id:
            raise UnauthenticatedError
        if need.scope != ANY_CALLER and need.scope not in present.scopes:
            raise MissingScopeError(need.scope)
        return replace(present, acting_for=caller.acting_for)

    async def _known(self, scope: SeenScope) -> Caller:
        """A caller with a valid key, token or session is let in, however many from the same place had none."""
        # A key counts before a cookie, which browsers send by themselves; WebSockets go by keys and tokens alone.
        by_cookie = scope.get("type") == "http" and not headers(scope, b"authorization")
        caller = None
        try:
            if self._sessions is not None and by_cookie:
                caller = await self._sessions.caller_of(scope)
        except UnauthenticatedError:
            self._count_failure(scope)
            raise
        if caller is not None:
            return caller
        credential = _credential(scope)
        try:
            return await self._authenticator.authenticate(credential)
        except UnauthenticatedError:
            self._count_failure(scope)
            raise

    def _count_failure(self, scope: SeenScope) -> None:
        wait = self._failed.count(place_of(scope))
        if wait is not None:
            raise TooManyFailedLoginsError(wait) from None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StillAllowed:
    """For an answer that goes on: asks from time to time whether its caller may still hear it."""

    guard: AccessGuard
    scope: SeenScope
    need: Need
    caller: Caller

    @property
    def every(self) -> float:
        """Seconds between two questions, whatever else happens: sessions end within a second."""
        return math.inf if self.caller.session_id is None else 1.0

    async def __call__(self) -> Caller:
        """The caller with the rights that they have now, where they may; otherwise raise what is in the way."""
        return await self.guard.check_again(self.scope, self.need, self.caller)


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
