"""The HTTP application over a test's database, and clients that call it as somebody."""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal

import httpx2

from tests.support.system import system_over
from tidings.bootstrap import System
from tidings.bootstrap.application import application
from tidings.bootstrap.surface import resources_of
from tidings.kernel.clock import Clock
from tidings.kernel.db import CallerRole, Database
from tidings.kernel.http.app import HttpApp
from tidings.kernel.http.body_limit import DEFAULT_LIMIT
from tidings.kernel.http.callers import Authenticator
from tidings.kernel.http.health import Check
from tidings.kernel.http.request_ids import Answered
from tidings.kernel.http.resources import Resource
from tidings.kernel.ids import TenantId
from tidings.kernel.parts import Parts
from tidings.notify.access.create import create_key
from tidings.notify.access.model import ApiKey, KeySpec, credential
from tidings.notify.tenants.model import Tenant
from tidings.notify.tenants.wire import CreateTenant

_OPERATORS: Final[Mapping[str, CallerRole]] = {
    "admin": "platform.channel.admin",
    "support": "platform.support",
}


@dataclass(frozen=True, kw_only=True)
class HttpWorld:
    """The application and the system behind it."""

    #: Called when somebody asks: making the application takes longer than most tests.
    make_app: Callable[[], HttpApp]
    system: System
    answered: list[Answered]
    #: By who carries them.
    keys: dict[str, tuple[ApiKey, str]] = field(default_factory=dict)

    @cached_property
    def app(self) -> HttpApp:
        return self.make_app()

    @property
    def db(self) -> Database:
        return self.system.db

    @property
    def clock(self) -> Clock:
        return self.system.clock

    async def tenant(self, slug: str | None = None, **facts: Any) -> Tenant:
        """A new tenant."""
        wanted = CreateTenant(name=facts.pop("name", "Acme"), slug=slug or "pending", **facts)

        async with self.db.platform() as tx:
            return await self.system.access.tenants.create(
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
        wanted = KeySpec(
            name="test",
            role=role or ("platform.channel.admin" if tenant_id is None else "tenant.admin"),
            scopes=None if scopes is None else frozenset(scopes),
            environment=environment,
            **wish,
        )
        side = self.db.platform() if tenant_id is None else self.db.tenant(tenant_id)
        async with side as tx:
            key, secret = await create_key(
                tx,
                wanted,
                grantor=None,
                actor="test",
                ledger=self.system.access.key_ledger,
                clock=clock or self.clock,
            )
        return key, credential(key.id, secret)

    async def key_of(self, caller: str) -> tuple[ApiKey, str]:
        """The key of a tenant, by its id, or of an operator (`admin`, `support`); made when it is first asked for, as is the tenant."""
        if caller not in self.keys:
            role = _OPERATORS.get(caller)
            if role is None:
                async with self.db.platform() as tx:
                    await tx.connection.execute(
                        "INSERT INTO notification.tenants_local (tenant_id, region) VALUES ($1, 'test') "
                        "ON CONFLICT DO NOTHING",
                        caller,
                    )
            self.keys[caller] = await self.key(None if role else TenantId(caller), role=role)
        return self.keys[caller]

    @asynccontextmanager
    async def calling(self, caller: str, home: str = "", **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
        """A client of theirs; its paths are relative to `home`."""
        _, carried = await self.key_of(caller)
        async with self.client(carried, **headers) as client:
            client.base_url = httpx2.URL(f"http://tidings.test{home}")
            yield client

    def client(self, credential: str | None = None, **headers: str) -> httpx2.AsyncClient:
        """A client that carries this credential."""
        if credential is not None:
            headers["Authorization"] = f"Bearer {credential}"
        transport = httpx2.ASGITransport(app=self.app, raise_app_exceptions=False)
        return httpx2.AsyncClient(transport=transport, base_url="http://tidings.test", headers=headers)

    @asynccontextmanager
    async def as_platform(self, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
        """A client with a fresh platform key."""
        _, carried = await self.key(None)
        async with self.client(carried, **headers) as client:
            yield client

    @asynccontextmanager
    async def as_tenant(self, tenant_id: TenantId, **wish: Any) -> AsyncIterator[httpx2.AsyncClient]:
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
    more_resources: Sequence[Resource] = (),
    body_limit: int = DEFAULT_LIMIT,
) -> HttpWorld:
    """The application as `bootstrap` builds it, over the test's database."""
    system = system_over(db, clock=clock, TIDINGS_MAX_BODY_BYTES=str(body_limit))
    return http_over(system, more_resources=more_resources, tokens=tokens, checks=checks)


def http_over(
    system: System,
    *,
    only: Collection[Resource] | None = None,
    more_resources: Sequence[Resource] = (),
    **more: Any,
) -> HttpWorld:
    """The application of a system that the test has made, with the `only` resources that the test calls."""
    answered: list[Answered] = []

    def make_app() -> HttpApp:
        declared = [
            (parts, [one for one in resources if only is None or one in only])
            for parts, resources in resources_of(system)
        ]
        resources = [*declared, (Parts(system.db), list(more_resources))]
        return application(system, resources=resources, on_answer=answered.append, **more)

    return HttpWorld(make_app=make_app, system=system, answered=answered)
