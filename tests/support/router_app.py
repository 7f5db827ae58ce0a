"""Some routes of the router behind an access guard that knows callers by what they carry: a tenant's id, or `admin`."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import httpx2

from tidings.kernel.clock import Clock
from tidings.kernel.http.app import HttpApp, build_app
from tidings.kernel.http.callers import AccessGuard, Caller
from tidings.kernel.http.resources import Resource
from tidings.kernel.http.tenant_gate import TenantGate, TenantState
from tidings.kernel.ids import TenantId
from tidings.kernel.parts import Parts
from tidings.kernel.refusals import UnauthenticatedError

ADMIN = "admin"
_SCOPES = frozenset({"router:read", "router:write"})


class _Callers:
    async def authenticate(self, credential: str) -> Caller:
        if credential.startswith("tnt_"):
            home = TenantId(credential)
            return Caller(
                kind="key",
                id="key_tenant",
                home=home,
                role="tenant.admin",
                scopes=_SCOPES,
                environment="live",
            )
        if credential != ADMIN:
            raise UnauthenticatedError
        return Caller(
            kind="key",
            id="key_admin",
            home=None,
            role="platform.channel.admin",
            scopes=_SCOPES,
            environment="live",
        )


class _AllActive:
    async def states_of(self, tenant_ids: Sequence[TenantId]) -> Mapping[TenantId, TenantState | None]:
        return dict.fromkeys(tenant_ids, TenantState(status="active", frozen=False))


class _NoWitness:
    async def acting(self, caller: Caller, operation: str) -> None:
        """Nobody acts for anybody here."""


def router_app(*resources: Resource, clock: Clock, parts: Parts | None = None) -> HttpApp:
    """The application with these resources alone."""
    return build_app(
        resources=[(parts or Parts(), resources)],
        guard=AccessGuard(
            authenticator=_Callers(), gate=TenantGate(_AllActive(), clock=clock), witness=_NoWitness()
        ),
        clock=clock,
        version="test",
        checks={},
        render_metrics=lambda: b"",
    )


@asynccontextmanager
async def calling(app: HttpApp, who: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Somebody who calls it."""
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://tidings.test", headers={"Authorization": f"Bearer {who}"}
    ) as client:
        yield client
