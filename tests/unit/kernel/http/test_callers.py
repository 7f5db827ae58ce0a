"""The access guard: who is let in, for which tenant, and what the others are told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.clock import ManualClock
from tidings.kernel.clock import SystemClock
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.callers import ANY_CALLER, AccessGuard, Caller, Need, TenantNeed
from tidings.kernel.http.tenant_gate import TenantGate, TenantState
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.refusals import (
    MissingScopeError,
    NotAllowedError,
    TenantDeletingError,
    TenantFrozenError,
    TenantSuspendedError,
    UnauthenticatedError,
    WrongTenantError,
)

NOW = SystemClock().now()
OURS, THEIRS, GONE = TENANT.new(NOW), TENANT.new(NOW), TENANT.new(NOW)
TENANTS_CALLER = Caller(
    kind="key", id="key_1", home=OURS, role="tenant.admin", scopes=frozenset({"x:read"}), environment="live"
)
PLATFORMS_CALLER = Caller(
    kind="key",
    id="key_2",
    home=None,
    role="platform.support",
    scopes=frozenset({"x:read"}),
    environment="live",
)
CALLERS = {"tenant": TENANTS_CALLER, "platform": PLATFORMS_CALLER}


class Known:
    async def authenticate(self, credential: str) -> Caller:
        try:
            return CALLERS[credential]
        except KeyError:
            raise UnauthenticatedError from None


@dataclass
class States:
    states: dict[TenantId, TenantState] = field(default_factory=dict)

    async def states_of(self, tenant_ids: Sequence[TenantId]) -> Mapping[TenantId, TenantState | None]:
        return {tenant_id: self.states.get(tenant_id) for tenant_id in tenant_ids}


@dataclass
class Notebook:
    acts: list[tuple[str, TenantId | None, str]] = field(default_factory=list)

    async def acting(self, caller: Caller, operation: str) -> None:
        self.acts.append((caller.id, caller.acting_for, operation))


ACTIVE = TenantState(status="active", frozen=False)


def guard(state: TenantState = ACTIVE) -> tuple[AccessGuard, Notebook]:
    notebook = Notebook()
    gate = TenantGate(States({OURS: state, THEIRS: state}), clock=ManualClock())
    return AccessGuard(authenticator=Known(), gate=gate, witness=notebook), notebook


def scope(authorization: str | None, *tenants: str) -> dict[str, Any]:
    headers = [] if authorization is None else [(b"authorization", authorization.encode("latin-1"))]
    return {"headers": headers + [(b"x-tenant-id", tenant.encode("latin-1")) for tenant in tenants]}


READ = Need(scope="x:read", writes=False, operation="GET /x")
WRITE = Need(scope="x:read", writes=True, operation="POST /x")


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer ", "Basic dTpw", "tenant", "Bearer nobody", "Bearer \xe4"]
)
async def test_without_a_good_credential_nobody_enters(given: str | None) -> None:
    with pytest.raises(UnauthenticatedError):
        await guard()[0].admit(scope(given), READ)


async def test_two_credentials_are_one_too_many() -> None:
    both = {"headers": [(b"authorization", b"Bearer tenant"), (b"authorization", b"Bearer platform")]}

    with pytest.raises(UnauthenticatedError):
        await guard()[0].admit(both, READ)


@pytest.mark.parametrize("given", ["Bearer tenant", "bearer tenant", "BEARER  tenant"])
async def test_a_tenant_s_key_is_about_its_own_tenant(given: str) -> None:
    caller = await guard()[0].admit(scope(given), READ)

    assert caller.tenant_id == OURS


async def test_naming_one_s_own_tenant_is_fine_and_not_acting() -> None:
    opened, notebook = guard()

    caller = await opened.admit(scope("Bearer tenant", OURS), READ)

    assert caller.acting_for is None
    assert notebook.acts == []


async def test_naming_another_tenant_is_refused() -> None:
    with pytest.raises(WrongTenantError):
        await guard()[0].admit(scope("Bearer tenant", THEIRS), READ)


async def test_a_platform_key_acts_for_the_tenant_it_names_and_that_is_witnessed() -> None:
    opened, notebook = guard()

    caller = await opened.admit(scope("Bearer platform", THEIRS), WRITE)

    assert caller.tenant_id == caller.acting_for == THEIRS
    assert notebook.acts == [("key_2", THEIRS, "POST /x")]


@pytest.mark.parametrize("named", [(), (GONE,), ("nonsense",), ("",), (OURS, THEIRS), ("tnt_' OR 1=1",)])
async def test_a_platform_key_has_to_name_one_known_tenant(named: tuple[str, ...]) -> None:
    opened, notebook = guard()

    with pytest.raises(BadValueError) as refused:
        await opened.admit(scope("Bearer platform", *named), READ)

    assert refused.value.field == "X-Tenant-Id"
    assert notebook.acts == []


async def test_a_missing_scope_is_named() -> None:
    with pytest.raises(MissingScopeError) as refused:
        await guard()[0].admit(scope("Bearer tenant"), Need(scope="y:write", writes=True))

    assert refused.value.scope == "y:write"


async def test_some_routes_are_for_any_known_caller() -> None:
    assert await guard()[0].admit(scope("Bearer tenant"), Need(scope=ANY_CALLER, writes=False))


async def test_the_platform_s_routes_are_closed_to_tenants() -> None:
    need = Need(scope="x:read", tenant=TenantNeed.NONE, writes=False)
    opened, _ = guard()

    with pytest.raises(NotAllowedError):
        await opened.admit(scope("Bearer tenant"), need)
    with pytest.raises(BadValueError):
        await opened.admit(scope("Bearer platform", OURS), need)
    assert (await opened.admit(scope("Bearer platform"), need)).tenant_id is None


@pytest.mark.parametrize(
    ("state", "read", "write"),
    [
        (ACTIVE, None, None),
        (TenantState(status="active", frozen=True), None, TenantFrozenError),
        (TenantState(status="suspended", frozen=False), TenantSuspendedError, TenantSuspendedError),
        (TenantState(status="suspended", frozen=True), TenantSuspendedError, TenantSuspendedError),
        (TenantState(status="deleting", frozen=False), TenantDeletingError, TenantDeletingError),
    ],
)
@pytest.mark.parametrize("caller", [("Bearer tenant",), ("Bearer platform", OURS)])
async def test_what_a_tenant_s_state_lets_through(
    state: TenantState, read: type[Exception] | None, write: type[Exception] | None, caller: tuple[str, ...]
) -> None:
    opened, notebook = guard(state)

    for need, expected in ((READ, read), (WRITE, write)):
        if expected is None:
            assert await opened.admit(scope(*caller), need)
        else:
            with pytest.raises(expected):
                await opened.admit(scope(*caller), need)
    if read is not None:
        assert notebook.acts == []
