"""The HTTP application over a test's database, and clients that call it as somebody."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import httpx
from litestar import Router
from litestar.handlers import HTTPRouteHandler

from tidings.kernel.audit import AuditLog
from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.db import CallerRole, Database
from tidings.kernel.http.app import HttpApp, build_app
from tidings.kernel.http.asgi import App
from tidings.kernel.http.bodies import DEFAULT_LIMIT
from tidings.kernel.http.callers import Authenticator, Door
from tidings.kernel.http.health import Check
from tidings.kernel.http.request_ids import Answered
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.idempotency import Idempotency
from tidings.kernel.ids import TenantId
from tidings.kernel.metrics import Metrics
from tidings.kernel.outbox import Outbox
from tidings.notify.access import deps as access_deps
from tidings.notify.access import routes as access_routes
from tidings.notify.access.authenticate import AnyAuthenticator, KeyAuthenticator
from tidings.notify.access.create import create_key
from tidings.notify.access.last_used import LastUsed
from tidings.notify.access.ledger import KeyLedger
from tidings.notify.access.model import ApiKey, KeyWish, credential
from tidings.notify.access.witness import AuditingWitness
from tidings.notify.tenants import deps as tenants_deps
from tidings.notify.tenants import routes as tenants_routes
from tidings.notify.tenants.change import TenantChanger
from tidings.notify.tenants.model import Tenant
from tidings.notify.tenants.states import ProjectedStates
from tidings.notify.tenants.wire import CreateTenant


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpWorld:
    """The application and the parts that tests look at."""

    app: HttpApp
    db: Database
    clock: Clock
    audit: AuditLog
    outbox: Outbox
    ledger: KeyLedger
    last_used: LastUsed
    gate: TenantGate
    keys: KeyAuthenticator
    answered: list[Answered]

    async def tenant(self, slug: str | None = None, **facts: Any) -> Tenant:
        """A new tenant."""
        wanted = CreateTenant(name=facts.pop("name", "Acme"), slug=slug or "pending", **facts)

        changer = TenantChanger(outbox=self.outbox, audit=self.audit, clock=self.clock)
        async with self.db.platform() as tx:
            return await changer.create(
                tx,
                lambda tenant_id: (
                    wanted
                    if slug
                    else CreateTenant(
                        name=wanted.name,
                        slug="t" + tenant_id[-12:].lower(),
                        region=wanted.region,
                        default_timezone=wanted.default_timezone,
                    )
                ).event(tenant_id),
                actor="test",
            )

    async def key(
        self,
        tenant_id: TenantId | None,
        *,
        role: CallerRole | None = None,
        scopes: Sequence[str] | None = None,
        environment: Literal["live", "test"] = "live",
        clock: Clock | None = None,
        **wish: Any,
    ) -> tuple[ApiKey, str]:
        """A new key of a tenant, or of the platform, with the credential that its owner carries."""
        wanted = KeyWish(
            name="test",
            role=role or ("platform.channel.admin" if tenant_id is None else "tenant.admin"),
            scopes=None if scopes is None else frozenset(scopes),
            environment=environment,
            **wish,
        )
        side = self.db.platform() if tenant_id is None else self.db.tenant(tenant_id)
        async with side as tx:
            key, secret = await create_key(
                tx, wanted, grantor=None, actor="test", ledger=self.ledger, clock=clock or self.clock
            )
        return key, credential(key.id, secret)

    def client(self, credential: str | None = None, **headers: str) -> httpx.AsyncClient:
        """A client that carries this credential."""
        if credential is not None:
            headers["Authorization"] = f"Bearer {credential}"
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url="http://tidings.test", headers=headers)

    @asynccontextmanager
    async def as_platform(self, **headers: str) -> AsyncIterator[httpx.AsyncClient]:
        """A client with a fresh platform key."""
        _, carried = await self.key(None)
        async with self.client(carried, **headers) as client:
            yield client

    @asynccontextmanager
    async def as_tenant(self, tenant_id: TenantId, **wish: Any) -> AsyncIterator[httpx.AsyncClient]:
        """A client with a fresh key of this tenant."""
        _, carried = await self.key(tenant_id, **wish)
        async with self.client(carried) as client:
            yield client


def http_world(
    db: Database,
    *,
    clock: Clock | None = None,
    tokens: Authenticator | None = None,
    checks: Mapping[str, Check] | None = None,
    more_routers: Sequence[Router | HTTPRouteHandler] = (),
    raw_routes: Callable[[Door], Mapping[tuple[str, str], App]] | None = None,
    body_limit: int = DEFAULT_LIMIT,
) -> HttpWorld:
    """The application as `bootstrap` builds it, over the test's database."""
    clock = clock or SystemClock()
    outbox = Outbox("notification")
    audit = AuditLog("notification", clock)
    idempotency = Idempotency("notification", clock)
    last_used = LastUsed(db)
    keys = KeyAuthenticator(db, clock=clock, last_used=last_used)
    gate = TenantGate(ProjectedStates(db), clock=clock)
    ledger = KeyLedger(outbox=outbox, audit=audit, clock=clock)
    door = Door(
        authenticator=AnyAuthenticator(keys=keys, tokens=tokens),
        gate=gate,
        witness=AuditingWitness(db, audit=audit, clock=clock),
    )
    answered: list[Answered] = []
    app = build_app(
        routers=[
            *access_routes.routers(
                access_deps.Deps(db=db, clock=clock, ledger=ledger, keys=keys, idempotency=idempotency)
            ),
            *tenants_routes.routers(
                tenants_deps.Deps(
                    db=db, clock=clock, outbox=outbox, audit=audit, idempotency=idempotency, gate=gate
                )
            ),
            *more_routers,
        ],
        door=door,
        clock=clock,
        version="0.0.0",
        checks=checks if checks is not None else {"database": db.ping},
        render_metrics=Metrics().render,
        raw_routes=raw_routes(door) if raw_routes else None,
        body_limit=body_limit,
        on_answer=answered.append,
    )
    return HttpWorld(
        app=app,
        db=db,
        clock=clock,
        audit=audit,
        outbox=outbox,
        ledger=ledger,
        last_used=last_used,
        gate=gate,
        keys=keys,
        answered=answered,
    )
