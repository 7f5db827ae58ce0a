"""Operators for tests: invited, joined, and before a browser of their own, which keeps cookies and shows pages."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import httpx2
from argon2 import PasswordHasher

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tidings.backoffice.credentials import totp
from tidings.backoffice.credentials.passwords import Passwords
from tidings.backoffice.ids import OperatorId
from tidings.backoffice.operators import store
from tidings.backoffice.operators.change import By
from tidings.backoffice.operators.model import OperatorRecord, Rights
from tidings.backoffice.operators.people import OperatorPeople, OperatorPerson
from tidings.backoffice.properties.access import ALL_PROPERTIES
from tidings.kernel.db import CallerRole
from tidings.kernel.ids import TenantId

PASSWORD: Final = "umbrella-42-giraffe"
AGENT: Final = "Firefox of a test"
_HIDDEN: Final = re.compile(r'name="(csrf|ticket)" value="([^"]*)"')
_SECRET: Final = re.compile(r'<code class="secret">([^<]*)</code>')
_CODES: Final = re.compile(r"<li>([2-9a-z]{5}-[2-9a-z]{5}-[2-9a-z]{5})</li>")
#: Argon2 with as little work as it takes: what it costs is proven elsewhere.
QUICK: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def quick_passwords(world: HttpWorld) -> None:
    """Have passwords of this system cost next to nothing."""
    world.system.backoffice.parts.get(Passwords)._hasher = QUICK


class AtBrowser:
    """A browser that keeps cookies, in the hands of somebody."""

    def __init__(self, world: HttpWorld, *, language: str = "en", address: str = "127.0.0.1") -> None:
        self.world = world
        transport = httpx2.ASGITransport(app=world.app, raise_app_exceptions=False, client=(address, 123))
        headers = {"user-agent": AGENT, "accept-language": language}
        self.client = httpx2.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers, follow_redirects=False
        )
        self.last: httpx2.Response | None = None

    @property
    def html(self) -> str:
        assert self.last is not None
        return self.last.text

    @property
    def hidden(self) -> Mapping[str, str]:
        """The hidden fields of the page before us."""
        return dict(_HIDDEN.findall(self.html))

    def cookie(self, name: str) -> str | None:
        return self.client.cookies.get(name)

    def plant(self, name: str, value: str) -> None:
        """Put a cookie there, as if the server had set it."""
        # The library calls a host without a dot so.
        self.client.cookies.set(name, value, domain="localhost.local")

    def copy(self, *names: str) -> "AtBrowser":
        """Another browser with these cookies of ours."""
        other = AtBrowser(self.world)
        for name in names:
            other.plant(name, self.cookie(name) or "")
        return other

    async def open(self, path: str) -> httpx2.Response:
        """Go to an address, and where it leads."""
        self.last = await self.client.get(path)
        while self.last.status_code in (302, 303, 307):
            self.last = await self.client.get(self.last.headers["location"])
        return self.last

    async def post(self, path: str, follow: bool = True, **fields: str) -> httpx2.Response:
        """Send a form of the page before us, with its hidden fields."""
        given = {**(self.hidden if self.last is not None else {}), **fields}
        self.last = await self.client.post(path, data=given, headers={"sec-fetch-site": "same-origin"})
        while follow and self.last.status_code == 303:
            await self.open(self.last.headers["location"])
        return self.last


@dataclass
class Somebody:
    """An operator and their telephone."""

    id: OperatorId
    tenant_id: TenantId | None
    name: str
    email: str
    world: HttpWorld
    secret: bytes = b""
    codes: list[str] = field(default_factory=list)

    async def code(self) -> str:
        """A code that was never used: the clock goes on by a step first."""
        clock = self.world.clock
        assert isinstance(clock, ManualClock)
        await clock.advance(timedelta(seconds=totp.PERIOD))
        return totp.code_of(self.secret, totp.step_at(clock.now()))

    async def sign_in(self, browser: AtBrowser | None = None, **fields: str) -> "SignedIn":
        """Sign in by password and code."""
        at = browser or AtBrowser(self.world)
        await at.open("/console/sign-in")
        await at.post("/console/sign-in", email=self.email, password=PASSWORD)
        answer = await at.post("/console/code", code=await self.code(), follow=False, **fields)
        assert answer.status_code == 303, at.html
        return await signed_in(self, at)

    async def row(self) -> OperatorRecord:
        async with self.world.db.scoped(self.tenant_id) as tx:
            found = await store.find_operator(tx, operator_id=self.id)
        assert found is not None
        return found


@dataclass
class SignedIn:
    """An operator at the API, by the cookies of their browser."""

    who: Somebody
    browser: AtBrowser
    session_id: str
    device_id: str
    csrf: str

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        return await self.browser.client.get(path, headers=headers)

    async def send(
        self, method: str, path: str, body: Any = None, *, attested: str | None = None, **headers: str
    ) -> httpx2.Response:
        """A request with the CSRF token, and with an attestation for this action."""
        headers.setdefault("X-CSRF-Token", self.csrf)
        if attested is not None:
            headers["X-Attestation"] = await self.attest(attested)
        return await self.browser.client.request(method, path, json=body, headers=headers)

    async def post(
        self, path: str, body: Any = None, *, attested: str | None = None, **headers: str
    ) -> httpx2.Response:
        return await self.send("POST", path, body, attested=attested, **headers)

    async def attest(self, action: str) -> str:
        made = await self.post("/bff/v1/attestations", {"action": action, "code": await self.who.code()})
        assert made.status_code == 201, made.text
        return str(made.json()["id"])


async def signed_in(who: Somebody, browser: AtBrowser) -> SignedIn:
    shown = await browser.client.get("/bff/v1/session")
    assert shown.status_code == 200, shown.text
    me = shown.json()
    return SignedIn(who, browser, me["session_id"], me["device_id"], me["csrf_token"])


async def invited(
    world: HttpWorld,
    tenant_id: TenantId | None,
    *,
    role: CallerRole | None = None,
    name: str = "Laila Noor",
    email: str | None = None,
    properties: tuple[str, ...] = (ALL_PROPERTIES,),
) -> tuple[Somebody, str]:
    """Somebody with the path of their invitation; an `email` without an @ is made one that no other tenant has."""
    quick_passwords(world)
    backoffice = world.system.backoffice
    # The platform's people share one list: each has a mail of their own.
    of_whom = f"{tenant_id or uuid4().hex}"[-8:].lower()
    mail = email if email is not None and "@" in email else f"{email or 'laila'}.{of_whom}@example.com"
    known = role or ("platform.channel.admin" if tenant_id is None else "tenant.admin")
    rights = Rights(role=known, properties=properties)
    async with world.db.scoped(tenant_id) as tx:
        operator, made = await backoffice.changer.invite(
            tx, OperatorPerson(name=name, email=mail), rights, by=By(actor="test")
        )
    return Somebody(operator.id, tenant_id, name, mail, world), urlsplit(made.url("http://localhost")).path


async def join(who: Somebody, path: str, browser: AtBrowser | None = None) -> SignedIn:
    """Choose a password, set up an authenticator, keep the codes."""
    at = browser or AtBrowser(who.world)
    await at.open(path)
    await at.post(path, password=PASSWORD)
    await learn(who, at)
    await at.post(path, code=await who.code())
    who.codes = _CODES.findall(at.html)
    assert len(who.codes) == 10, at.html
    return await signed_in(who, at)


async def learn(who: Somebody, at: AtBrowser) -> None:
    """Read the authenticator's key from the page."""
    found = _SECRET.search(at.html)
    assert found is not None, at.html
    text = found[1].replace(" ", "")
    who.secret = base64.b32decode(text + "=" * (-len(text) % 8))


async def an_operator(world: HttpWorld, tenant_id: TenantId | None, **facts: Any) -> SignedIn:
    """Somebody who has joined, and is signed in."""
    who, path = await invited(world, tenant_id, **facts)
    return await join(who, path)


async def open_people(world: HttpWorld, who: Somebody) -> OperatorPerson | None:
    """What the database knows of their name and mail."""
    row = await who.row()
    async with world.db.scoped(who.tenant_id) as tx:
        people = await world.system.backoffice.parts.get(OperatorPeople).open(tx, [row])
    return people.get(who.id)
