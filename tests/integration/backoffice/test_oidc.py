"""Operators sign in by an identity provider: whom it names by a verified mail; what it says wrongly lets nobody in."""

import logging
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from joserfc.jwk import RSAKey

from tests.support.http import HttpWorld, http_over
from tests.support.identity_provider import CLIENT, SECRET, PlayedProvider
from tests.support.operators import AtBrowser, an_operator, invited, quick_passwords, signed_in
from tests.support.system import now_clock, system_over
from tidings.backoffice.operators.change import By
from tidings.kernel.db import Database
from tidings.notify.tenants.model import Tenant


@pytest.fixture
def provider() -> Iterator[PlayedProvider]:
    """Of the house."""
    played = PlayedProvider()
    yield played
    played.stop()


@pytest.fixture
def world(db: Database, provider: PlayedProvider) -> HttpWorld:
    """The application, which knows the provider."""
    settings: dict[str, Any] = {
        "TIDINGS_OIDC_ISSUER": provider.issuer,
        "TIDINGS_OIDC_CLIENT_ID": CLIENT,
        "TIDINGS_OIDC_CLIENT_SECRET": SECRET,
        "TIDINGS_OIDC_NAME": "Lighthouse ID",
    }
    made = http_over(system_over(db, clock=now_clock(), **settings))
    quick_passwords(made)
    return made


async def begin(at: AtBrowser) -> str:
    """As far as the provider; where it leads back to."""
    sent = await at.client.get("/console/oidc")
    assert sent.status_code == 303, sent.text
    async with httpx2.AsyncClient() as there:
        back = (await there.get(sent.headers["location"])).headers["location"]
    return str(back[back.index("/console/") :])


async def come(world: HttpWorld) -> tuple[AtBrowser, httpx2.Response]:
    at = AtBrowser(world)
    at.last = await at.client.get(await begin(at))
    return at, at.last


async def test_an_operator_whom_the_provider_names_is_let_in(
    world: HttpWorld, tenant: Tenant, provider: PlayedProvider
) -> None:
    admin = await an_operator(world, tenant.id)
    assert "Sign in with Lighthouse ID" in (await AtBrowser(world).open("/console/sign-in")).text
    provider.email = admin.who.email.upper()

    at, answer = await come(world)
    assert answer.headers["refresh"] == "0;url=/console"
    inside = await signed_in(admin.who, at)
    assert (await inside.get("/bff/v1/session")).json()["operator_id"] == admin.who.id


async def test_who_was_invited_joins_by_it_while_the_invitation_works(
    world: HttpWorld, tenant: Tenant, provider: PlayedProvider
) -> None:
    somebody, _ = await invited(world, tenant.id)
    provider.email = somebody.email
    backoffice = world.system.backoffice
    async with world.db.tenant(tenant.id) as tx:
        await backoffice.changer.revoke_invitation(tx, somebody.id, by=By(actor="test"))
    assert (await come(world))[1].status_code == 403
    async with world.db.tenant(tenant.id) as tx:
        _, link = await backoffice.changer.invite_again(tx, somebody.id, by=By(actor="test"))

    at, _ = await come(world)
    assert (await signed_in(somebody, at)).session_id
    row = await somebody.row()
    assert (row.status, row.link_hash, row.password_hash) == ("active", None, None)
    path = link.url("http://localhost").removeprefix("http://localhost")
    assert (await AtBrowser(world).open(path)).status_code == 410, "the link is used up"


async def test_who_works_for_several_tenants_chooses(
    world: HttpWorld, tenant: Tenant, provider: PlayedProvider
) -> None:
    other = await world.tenant()
    mail = "both@example.com"
    for one in (tenant, other):
        await invited(world, one.id, email=mail)
    third = (await world.tenant()).id
    stranger, _ = await invited(world, third, email="else@example.com")
    provider.email = mail

    at, page = await come(world)
    assert f"{tenant.name}" in page.text
    assert f"{other.name}" in page.text
    refused = await at.post("/console/oidc/choose", follow=False, operator=stranger.id)
    assert refused.status_code == 410
    at, page = await come(world)
    chosen = page.text.partition('name="operator" value="')[2].partition('"')[0]
    answer = await at.post("/console/oidc/choose", follow=False, operator=chosen)
    assert answer.status_code == 303
    assert (await at.client.get("/bff/v1/session")).json()["operator_id"] == chosen


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://elsewhere.example"},
        {"aud": "another-client"},
        {"aud": [CLIENT, "another"]},
        {"exp": time.time() - 120},
        {"iat": time.time() + 3600},
        {"nonce": "of another sign-in"},
        {"email_verified": False},
        {"email_verified": None},
        {"email": None},
        {"email": 5},
    ],
    ids=lambda claims: next(iter(claims)),
)
async def test_a_token_that_is_not_as_it_must_be_lets_nobody_in(
    world: HttpWorld, tenant: Tenant, provider: PlayedProvider, claims: dict[str, Any]
) -> None:
    admin = await an_operator(world, tenant.id)
    provider.email = admin.who.email
    provider.claims = claims
    at, answer = await come(world)
    assert answer.status_code == 403
    assert at.cookie("tidings_session") is None


async def test_a_token_of_another_key_and_a_code_that_was_used_let_nobody_in(
    world: HttpWorld, tenant: Tenant, provider: PlayedProvider
) -> None:
    admin = await an_operator(world, tenant.id)
    provider.email = admin.who.email
    provider.signs_with = RSAKey.generate_key(2048, parameters={"kid": "k1"})
    assert (await come(world))[1].status_code == 403
    provider.signs_with = provider.key

    at = AtBrowser(world)
    back = await begin(at)
    victim = AtBrowser(world)
    assert (await victim.client.get(back)).status_code == 403, "another browser did not begin"
    assert (await at.client.get(back.replace("state=", "state=x"))).status_code == 403
    assert (await at.client.get(back)).status_code == 200
    assert (await at.client.get(back)).status_code == 403


async def test_a_stranger_and_a_disabled_operator_are_told_what_to_do(
    world: HttpWorld, tenant: Tenant, provider: PlayedProvider
) -> None:
    admin = await an_operator(world, tenant.id)
    provider.email = "stranger@example.com"
    assert "no operator here" in (await come(world))[1].text
    provider.email = admin.who.email
    async with world.db.tenant(tenant.id) as tx:
        await world.system.backoffice.changer.disable(tx, admin.who.id, by=By(actor="test"))
    assert "no operator here" in (await come(world))[1].text


async def test_a_provider_that_is_away_is_told_and_logged_without_secrets(
    world: HttpWorld, tenant: Tenant, provider: PlayedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    admin = await an_operator(world, tenant.id)
    provider.email = admin.who.email
    provider.is_away = True
    with caplog.at_level(logging.INFO):
        answer = await AtBrowser(world).open("/console/oidc")
    assert answer.status_code == 503
    assert "does not answer" in answer.text
    assert SECRET not in caplog.text
    provider.is_away = False
    assert (await come(world))[1].status_code == 200


async def test_without_a_provider_there_is_no_button(db: Database) -> None:
    alone = http_over(system_over(db, clock=now_clock()))
    assert "/console/oidc" not in (await AtBrowser(alone).open("/console/sign-in")).text
    assert (await AtBrowser(alone).open("/console/oidc")).status_code == 403
