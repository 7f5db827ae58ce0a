"""A look at an account, step by step: what is wrong is named, with what to do; nothing is sent and nothing secret is told."""

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.certificates import make_certificate
from tests.support.http import http_over
from tests.support.login_vendor import login_vendor
from tests.support.played_http import answer, played_http
from tests.support.played_smtp import played_smtp
from tests.support.system import LOOPBACK, system_over
from tidings.bootstrap import System
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.channel_configs import routes

HOME = "/api/v1/router/adapters"
PUBLIC = "https://tidings.example"
INSIDE = "/internal/v1/router/adapters"
CLOCK = SystemClock()
SECRET = "hunter22-hunter22"


class Accounts:
    """A tenant's accounts, and the routes in front of them."""

    def __init__(self, db: Database, tenant_id: TenantId, folder: Path) -> None:
        self.db = db
        self.tenant_id = tenant_id
        self.folder = folder
        self.configs = self._system(LOOPBACK).router.adapter_configs

    def _system(self, networks: str) -> System:
        return system_over(
            self.db,
            clock=CLOCK,
            TIDINGS_SECRETS_DIR=str(self.folder),
            TIDINGS_TENANT_NETWORKS=networks,
            TIDINGS_PUBLIC_URL=PUBLIC,
        )

    async def account(self, vendor: str, settings: dict[str, Any] | None) -> str:
        """Its id; without settings its secret is not there."""
        if settings is not None:
            place = self.folder / self.tenant_id
            place.mkdir(exist_ok=True)
            (place / vendor).write_text(json.dumps(settings))
        command = ConfigureAccount(vendor=vendor, secret_ref=f"file://{vendor}")
        async with self.db.tenant(self.tenant_id) as tx:
            made = await self.configs.configure(tx, [command], actor="test")
        return made[vendor].id

    @asynccontextmanager
    async def client(
        self, *, who: str | None = None, networks: str = LOOPBACK
    ) -> AsyncIterator[httpx2.AsyncClient]:
        """Somebody who looks; tenants' own accounts may lead to these `networks`."""
        system = self._system(networks)
        async with http_over(system, only=[routes.adapters]).calling(who or self.tenant_id) as client:
            yield client
        await system.kernel.closing.aclose()

    async def look(self, account_id: str, *, networks: str = LOOPBACK, **body: Any) -> dict[str, Any]:
        """What the tenant is told; steps by name."""
        async with self.client(networks=networks) as client:
            answered = await client.post(f"{HOME}/{account_id}/check", json=body or None)
        assert answered.status_code == 200, answered.text
        assert SECRET not in answered.text
        told = answered.json()
        steps = {step["name"]: step for step in told["steps"]}
        assert list(steps) == [
            "secret",
            "settings",
            "name",
            "address",
            "connection",
            "tls",
            "credentials",
            "callbacks",
            "dry_call",
        ]
        # Whatever is wrong comes with what can be done.
        assert all(step["next"] for step in steps.values() if step["result"] == "failed")
        return {"ok": told["ok"], **steps}


def results(told: dict[str, Any]) -> str:
    """The first letters of all results: ok, failed, skipped."""
    return "".join(step["result"][0] for name, step in told.items() if name != "ok")


@pytest.fixture
def accounts(db: Database, tenant_id: TenantId, tmp_path: Path) -> Accounts:
    return Accounts(db, tenant_id, tmp_path)


async def test_an_account_that_works(accounts: Accounts) -> None:
    async with played_http(answer("200 OK", b"{}")) as played:
        account = await accounts.account(
            "http_good",
            {
                "url": f"http://127.0.0.1:{played.port}/send",
                "check_url": f"http://127.0.0.1:{played.port}/me",
                "headers": {"Authorization": "Bearer {{secret.token}}"},
                "secrets": {"token": SECRET},
                "message_id_path": "id",
                "receipts": True,
                "callback_secret": SECRET,
            },
        )
        told = await accounts.look(account, dry_call=True)
        heard = [head.split(" ")[:2] for head, _ in played.heard]

    assert told["ok"]
    assert results(told) == "ooooosoos"
    assert told["callbacks"]["words"].startswith(f"taken at {PUBLIC}/hooks/http_good/{account}, proven by ")
    assert "can't be asked" in told["dry_call"]["words"]
    # One question, and no message.
    assert heard == [["GET", "/me"]]


async def test_every_way_to_be_wrong_is_named(accounts: Accounts) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        closed = taken.getsockname()[1]
        looks = {
            "secret": await accounts.look(await accounts.account("http_missing", None)),
            "settings": await accounts.look(
                await accounts.account("http_wrong", {"url": "https://x.example", "urls": SECRET})
            ),
            "deaf": await accounts.look(
                await accounts.account("http_deaf", {"url": "https://x.example", "receipts": True})
            ),
            "name": await accounts.look(
                await accounts.account("http_nobody", {"url": "https://nobody.invalid/send"})
            ),
            "address": await accounts.look(
                await accounts.account("http_inside", {"url": f"http://127.0.0.1:{closed}/"}),
                networks="",
            ),
            "connection": await accounts.look(
                await accounts.account("http_closed", {"url": f"http://127.0.0.1:{closed}/"})
            ),
        }

    assert {name: results(told) for name, told in looks.items()} == {
        "secret": "fssssssss",
        "settings": "ofsssssss",
        "deaf": "ofsssssss",
        "name": "oofssssss",
        "address": "ooofsssss",
        "connection": "oooofssss",
    }
    assert not any(told["ok"] for told in looks.values())
    assert "secret_ref must name a secret of yours" in looks["secret"]["secret"]["words"]
    assert "urls is not a known field; did you mean url?" in looks["settings"]["settings"]["words"]
    assert "callback_secret" in looks["deaf"]["settings"]["words"]
    assert "none are taken" in looks["name"]["callbacks"]["words"]


@pytest.mark.parametrize(("password", "expected"), [("one", "ooooososs"), (SECRET, "ooooosfss")])
async def test_credentials_are_tried(accounts: Accounts, password: str, expected: str) -> None:
    async with login_vendor("one") as vendor:
        account = await accounts.account("smtp_office", json.loads(vendor.account(password)))
        told = await accounts.look(account)

    assert results(told) == expected
    assert not vendor.mails


async def test_a_certificate_that_is_not_trusted_is_no_fault_of_the_credentials(
    accounts: Accounts, tmp_path: Path
) -> None:
    """It has a line of its own, with the setting that mends it: the authority's certificate, kept with the secrets."""
    made = make_certificate(tmp_path)
    auth = {
        "EHLO": b"250-mx\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n",
        "STARTTLS": b"220 go\r\n",
        "AUTH": b"235 2.7.0 ok\r\n",
    }
    async with played_smtp(auth, tls=made.server_context()) as played:
        settings = {"host": "127.0.0.1", "port": played.port, "username": "u", "password": SECRET}
        stranger = await accounts.look(await accounts.account("smtp_mx", settings), dry_call=True)
        (accounts.folder / accounts.tenant_id / "ca.pem").write_bytes(made.cert_file.read_bytes())
        trusted = await accounts.look(
            await accounts.account("smtp_mx", {**settings, "ca_pem_ref": "file://ca.pem"})
        )

    assert results(stranger) == "ooooofsss"
    assert stranger["tls"]["code"] == "tls"
    assert "certificate" in stranger["tls"]["words"]
    assert "`ca_pem_ref`" in stranger["tls"]["next"]
    assert "`ca_file`" in stranger["tls"]["next"]
    assert results(trusted) == "oooooooss"
    assert trusted["ok"]


async def test_whose_accounts_are_looked_at(accounts: Accounts) -> None:
    async with accounts.db.platform() as tx:
        command = ConfigureAccount(vendor=f"http_{accounts.tenant_id[-8:].lower()}", secret_ref="file://x")
        (theirs,) = (await accounts.configs.configure_platform(tx, [command], actor="test")).values()
    mine = await accounts.account("http_mine", None)
    async with accounts.client() as client:
        refused = await client.post(f"{HOME}/{theirs.id}/check")
        odd = await client.post(f"{HOME}/{mine}/check", json={"dry": True})
        shown = (await client.get(f"{HOME}/{mine}")).json()
    async with accounts.client(who="admin") as platform:
        foreign = await platform.post(f"{INSIDE}/{mine}/check")
        own = await platform.post(f"{INSIDE}/{theirs.id}/check")

    assert (refused.status_code, refused.json()["code"]) == (403, "platform_account")
    assert (odd.status_code, foreign.status_code, own.status_code) == (400, 404, 200)
    assert (shown["hook"], shown["hook_advice"]) == (f"{PUBLIC}/hooks/http_mine/{mine}", None)
    assert {name for name, can in shown["capabilities"].items() if can is None} == {
        "idempotent",
        "receipts",
        "cancel",
    }


async def test_looks_are_counted(accounts: Accounts) -> None:
    """Each makes us call a host of the tenant's choice."""
    mine = await accounts.account("http_mine", None)
    async with accounts.client() as client:
        codes = [(await client.post(f"{HOME}/{mine}/check")).status_code for _ in range(61)]

    assert (set(codes[:60]), codes[60]) == ({200}, 429)


async def test_every_kind_is_listed(accounts: Accounts) -> None:
    async with accounts.client() as client:
        kinds = {kind["name"]: kind for kind in (await client.get(f"{HOME}/kinds")).json()["items"]}

    assert set(kinds) == set(ADAPTERS)
    assert (kinds["smtp"]["channels"], kinds["smtp"]["callbacks"]) == (["email"], False)
    assert kinds["http"]["capabilities"]["receipts"] is None
    assert "callback_secret" in kinds["http"]["credential_fields"]
    assert all(kind["proof"] for kind in kinds.values() if kind["callbacks"])
