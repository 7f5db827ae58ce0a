"""An invitation leads to a password, an authenticator, ten codes, and a session; once."""

from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tests.support.operators import PASSWORD, AtBrowser, SignedIn, invited, join, learn, open_people
from tidings.backoffice.operators.change import By
from tidings.backoffice.operators.errors import OperatorStatusError
from tidings.backoffice.operators.people import OperatorPerson
from tidings.kernel.db import Database
from tidings.notify.tenants.model import Tenant


async def test_the_link_leads_to_a_session_and_works_once(world: HttpWorld, tenant: Tenant) -> None:
    who, path = await invited(world, tenant.id)

    signed_in = await join(who, path)

    shown = (await signed_in.get("/bff/v1/session")).json()
    assert shown["operator_id"] == who.id
    assert shown["name"] == who.name
    assert shown["tenant_name"] == "Acme"
    assert "templates:write" in shown["scopes"]
    assert (await who.row()).status == "active"
    again = await AtBrowser(world).open(path)
    assert again.status_code == 410
    assert who.name not in again.text


async def test_looking_at_the_link_changes_nothing(world: HttpWorld, tenant: Tenant) -> None:
    who, path = await invited(world, tenant.id)
    before = await who.row()

    shown = await AtBrowser(world).open(path)

    assert who.name in shown.text
    assert await who.row() == before


@pytest.mark.parametrize(
    ("password", "said"),
    [
        ("short-one-9", "at least 12"),
        ("x" * 201 + "abcdef", "at most 200"),
        ("password123456", "tries passwords like this"),
        ("aaaaaaaaaaaaaaab", "tries passwords like this"),
        ("my-name-is-laila-ok", "your name or mail"),
    ],
)
async def test_a_weak_password_is_refused_and_told_why(
    world: HttpWorld, tenant: Tenant, password: str, said: str
) -> None:
    who, path = await invited(world, tenant.id)
    at = AtBrowser(world)
    await at.open(path)

    answer = await at.post(path, password=password)

    assert answer.status_code == 400
    assert said in answer.text
    assert (await who.row()).password_hash is None


async def test_a_wrong_first_code_leaves_them_where_they_are(world: HttpWorld, tenant: Tenant) -> None:
    who, path = await invited(world, tenant.id)
    at = AtBrowser(world)
    await at.open(path)
    await at.post(path, password=PASSWORD)
    await learn(who, at)

    answer = await at.post(path, code="000000")

    assert answer.status_code == 403
    assert (await who.row()).status == "invited"
    assert at.cookie("tidings_session") is None


async def test_the_authenticators_key_is_shown_to_who_chose_the_password_alone(
    world: HttpWorld, tenant: Tenant
) -> None:
    who, path = await invited(world, tenant.id)
    first, second = AtBrowser(world), AtBrowser(world)
    await first.open(path)
    await first.post(path, password="otter-lighthouse-77")
    await learn(who, first)
    seen = who.secret

    await second.open(path)
    assert 'type="password"' in second.html
    assert 'class="secret"' not in second.html
    guessed = await second.post(path, code=await who.code())
    assert (guessed.status_code, 'class="secret"' in guessed.text) == (403, False)
    await second.post(path, password=PASSWORD)
    await learn(who, second)
    assert who.secret != seen

    # Whoever chose before has the password of nobody any more.
    late = await first.post(path, code=await who.code())
    assert late.status_code == 403
    assert "another password was chosen" in late.text
    assert (await second.post(path, code=await who.code())).status_code == 200
    assert (await who.row()).status == "active"


@pytest.mark.parametrize("revoked", [True, False])
async def test_what_was_chosen_by_an_older_link_is_worth_nothing(
    world: HttpWorld, tenant: Tenant, revoked: bool
) -> None:
    who, path = await invited(world, tenant.id)
    thief = AtBrowser(world)
    await thief.open(path)
    await thief.post(path, password="otter-lighthouse-77")
    await learn(who, thief)
    seen, changer, by = who.secret, world.system.backoffice.changer, By(actor="test")
    if revoked:
        async with world.db.scoped(tenant.id) as tx:
            await changer.revoke_invitation(tx, who.id, by=by)
        assert (await who.row()).password_hash is None
    async with world.db.scoped(tenant.id) as tx:
        _, made = await changer.invite_again(tx, who.id, by=by)
    row = await who.row()
    assert (row.password_hash, row.totp_ciphertext) == (None, None)

    await join(who, urlsplit(made.url("http://localhost")).path)

    assert who.secret != seen
    await thief.open("/console/sign-in")
    tried = await thief.post("/console/sign-in", email=who.email, password="otter-lighthouse-77")
    assert "Mail or password is not right." in tried.text


async def test_who_never_confirmed_an_authenticator_is_invited_after_being_disabled(
    world: HttpWorld, tenant: Tenant
) -> None:
    who, path = await invited(world, tenant.id)
    at = AtBrowser(world)
    await at.open(path)
    await at.post(path, password=PASSWORD)
    changer, by = world.system.backoffice.changer, By(actor="test")
    async with world.db.scoped(tenant.id) as tx:
        await changer.disable(tx, who.id, by=by)
        await changer.enable(tx, who.id, by=by)

    row = await who.row()
    assert (row.status, row.password_hash, row.totp_ciphertext) == ("invited", None, None)
    assert (await AtBrowser(world).open(path)).status_code == 410


async def test_an_invitation_ends_after_three_days(world: HttpWorld, tenant: Tenant) -> None:
    _, path = await invited(world, tenant.id)
    assert isinstance(world.clock, ManualClock)
    await world.clock.advance(timedelta(hours=72))

    assert (await AtBrowser(world).open(path)).status_code == 410


async def test_a_new_invitation_takes_the_place_of_the_old_one_and_can_be_taken_back(
    world: HttpWorld, admin: SignedIn
) -> None:
    made = await admin.post(
        "/bff/v1/operators",
        {"name": "Omar", "email": "omar@example.com", "role": "tenant.viewer"},
        attested="operator.invite",
    )
    assert made.status_code == 201, made.text
    assert made.headers["cache-control"] == "no-store"
    first, id_ = made.json()["join_url"], made.json()["operator"]["id"]
    again = await admin.post(f"/bff/v1/operators/{id_}/invite", attested="operator.invite")
    second = again.json()["join_url"]
    path = first.partition("/console/")[2]

    assert (await AtBrowser(world).open(f"/console/{path}")).status_code == 410
    assert (await AtBrowser(world).open("/console/" + second.partition("/console/")[2])).status_code == 200
    back = await admin.post(f"/bff/v1/operators/{id_}/revoke-invitation", attested="operator.status")
    assert back.json()["invitation_expires_at"] is None
    assert (await AtBrowser(world).open("/console/" + second.partition("/console/")[2])).status_code == 410


async def test_an_idempotency_key_invites_once_and_shows_the_link_once(
    world: HttpWorld, admin: SignedIn
) -> None:
    wanted = {"name": "Omar", "email": "omar@example.com", "role": "tenant.viewer"}
    first = await admin.post(
        "/bff/v1/operators", wanted, attested="operator.invite", **{"Idempotency-Key": "k1"}
    )

    again = await admin.post("/bff/v1/operators", wanted, **{"Idempotency-Key": "k1"})

    assert again.status_code == 201
    assert again.headers["idempotency-replayed"] == "true"
    nameless = {**first.json()["operator"], "name": None, "email": None}
    assert again.json() == {**first.json(), "operator": nameless, "join_url": None}
    other = await admin.post("/bff/v1/operators", wanted, attested="operator.invite")
    assert other.status_code == 409
    assert other.json()["code"] == "operator_exists"


async def test_only_hashes_and_sealed_values_are_kept(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    who = admin.who
    async with db.tenant(tenant.id) as tx:
        row = await tx.connection.fetchrow(
            "SELECT o::text AS o FROM bff_backoffice.operators AS o WHERE id = $1", who.id
        )
        sessions = await tx.connection.fetch("SELECT s::text AS s FROM bff_backoffice.sessions AS s")
        devices = await tx.connection.fetch("SELECT d::text AS d FROM bff_backoffice.devices AS d")
    kept = "".join([row["o"], *(one["s"] for one in sessions), *(one["d"] for one in devices)])
    cookies = [admin.browser.cookie(name) or "" for name in ("tidings_session", "tidings_device")]
    for secret in (who.name, who.email, PASSWORD, *who.codes, *(one.partition(".")[2] for one in cookies)):
        assert secret not in kept
        assert secret.encode().hex() not in kept
    assert who.secret.hex() not in kept
    assert "127.0.0.1" not in kept
    assert await open_people(world, who) == OperatorPerson(name=who.name, email=who.email)


async def test_a_link_opens_the_console_once(world: HttpWorld, tenant: Tenant) -> None:
    who, _ = await invited(world, tenant.id)
    changer = world.system.backoffice.changer
    async with world.db.scoped(tenant.id) as tx:
        _, made = await changer.open_link(tx, who.id, by=By(actor="test"), activate=True)
    path = made.url("")
    at = AtBrowser(world)

    asked = await at.open(path)
    assert asked.status_code == 200
    assert at.cookie("tidings_session") is None
    await at.post(path)

    assert who.name in at.html
    other = AtBrowser(world)
    await other.open(path)
    assert (await other.post(path)).status_code == 410


async def test_a_link_is_over_after_a_quarter_of_an_hour(world: HttpWorld, tenant: Tenant) -> None:
    who, _ = await invited(world, tenant.id)
    changer = world.system.backoffice.changer
    async with world.db.scoped(tenant.id) as tx:
        _, made = await changer.open_link(tx, who.id, by=By(actor="test"), activate=True)
    assert isinstance(world.clock, ManualClock)
    await world.clock.advance(timedelta(minutes=15))
    at = AtBrowser(world)
    await at.open(made.url(""))

    assert (await at.post(made.url(""))).status_code == 410


async def test_nobody_with_a_password_gets_a_link_that_asks_for_none(
    world: HttpWorld, admin: SignedIn
) -> None:
    async with world.db.scoped(admin.who.tenant_id) as tx:
        with pytest.raises(OperatorStatusError, match="has a password"):
            await world.system.backoffice.changer.open_link(
                tx, admin.who.id, by=By(actor="test"), activate=True
            )
    assert (await admin.who.row()).link_hash is None


async def test_a_lock_that_is_over_keeps_no_link_back_and_one_that_is_not_does(
    world: HttpWorld, tenant: Tenant
) -> None:
    who, _ = await invited(world, tenant.id)
    changer, by = world.system.backoffice.changer, By(actor="test")
    async with world.db.scoped(tenant.id) as tx:
        await changer.open_link(tx, who.id, by=by, activate=True)
        before = await changer.lock(tx, who.id, by=by)
        locked = replace(before, status="locked", locked_until=world.clock.now() + timedelta(minutes=30))
        await changer.ledger.save(tx, before, locked, action="locked", actor="test")
    async with world.db.scoped(tenant.id) as tx:
        with pytest.raises(OperatorStatusError, match="is locked"):
            await changer.open_link(tx, who.id, by=by, activate=True)
    assert isinstance(world.clock, ManualClock)
    await world.clock.advance(timedelta(minutes=30))
    async with world.db.scoped(tenant.id) as tx:
        opened, _ = await changer.open_link(tx, who.id, by=by, activate=True)
    assert (opened.status, opened.locked_until) == ("active", None)
