"""Passkeys: added with a proof, shown in the place of codes and to sign in; copies, replays and forged rows prove nothing."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.support.http import HttpWorld
from tests.support.operators import AtBrowser, SignedIn, invited, signed_in
from tests.support.passkeys import Authenticator
from tidings.backoffice.operators.change import By
from tidings.notify.tenants.model import Tenant


@pytest.fixture
def party(world: HttpWorld) -> str:
    """The origin that passkeys are made for."""
    from tidings.backoffice.passkeys.options import RelyingParty

    return world.system.backoffice.parts.get(RelyingParty).origin


async def asked_for(admin: SignedIn, purpose: str) -> Any:
    made = await admin.post("/bff/v1/passkeys/challenges", {"purpose": purpose})
    assert made.status_code == 200, made.text
    return made.json()["public_key"]


async def with_passkey(admin: SignedIn, party: str, **how: Any) -> Authenticator:
    phone = Authenticator(origin=party, **how)
    made = phone.make(await asked_for(admin, "register"))
    added = await admin.post("/bff/v1/passkeys", {"credential": made}, attested="passkey.add")
    assert added.status_code == 201, added.text
    return phone


async def to_sign_in(at: AtBrowser) -> Any:
    answer = await at.client.post("/console/passkey/challenge", headers={"sec-fetch-site": "same-origin"})
    assert answer.status_code == 200, answer.text
    return answer.json()["public_key"]


async def by_passkey(at: AtBrowser, shown: str) -> int:
    answer = await at.client.post(
        "/console/passkey", data={"code": shown}, headers={"sec-fetch-site": "same-origin"}
    )
    return answer.status_code


async def test_a_passkey_signs_in_without_mail_and_password(
    world: HttpWorld, admin: SignedIn, party: str
) -> None:
    phone = await with_passkey(admin, party)
    at = AtBrowser(world)
    asked = await to_sign_in(at)
    assert asked["allowCredentials"] == [], "nobody is told who has any"
    shown = phone.show(asked)

    assert await by_passkey(at, shown) == 303
    inside = await signed_in(admin.who, at)
    listed = (await inside.get("/bff/v1/passkeys")).json()["items"]
    assert [one["kind"] for one in listed] == ["this_device"]
    assert listed[0]["last_used_at"] is not None
    assert await by_passkey(AtBrowser(world), shown) == 403, "an answer works once"


async def test_one_that_does_not_know_its_owner_is_no_sign_in_but_stands_in_for_a_code(
    world: HttpWorld, admin: SignedIn, party: str
) -> None:
    key = await with_passkey(admin, party, verifies=False)
    at = AtBrowser(world)
    assert await by_passkey(at, key.show(await to_sign_in(at))) == 403

    body = {"action": "session.force_out", "code": key.show(await asked_for(admin, "prove"))}
    made = await admin.post("/bff/v1/attestations", body)
    assert made.status_code == 201, made.text
    assert (await admin.post("/bff/v1/attestations", body)).json()["code"] == "code_refused"
    assert (await admin.who.row()).code_failures == 1


async def test_a_passkey_is_added_with_a_proof_and_removed_with_one(admin: SignedIn, party: str) -> None:
    phone = Authenticator(origin=party)
    made = phone.make(await asked_for(admin, "register"))
    refused = await admin.post("/bff/v1/passkeys", {"credential": made})
    assert refused.json()["code"] == "attestation_required"
    added = await admin.post("/bff/v1/passkeys", {"credential": made}, attested="passkey.add")
    assert added.status_code == 201, "a refusal uses nothing up"
    again = await admin.post("/bff/v1/passkeys", {"credential": made}, attested="passkey.add")
    assert again.json()["code"] == "passkey_refused"

    path = f"/bff/v1/passkeys/{added.json()['id']}"
    assert (await admin.send("DELETE", path)).json()["code"] == "attestation_required"
    assert (await admin.send("DELETE", path, attested="passkey.remove")).status_code == 204
    assert (await admin.get("/bff/v1/passkeys")).json()["items"] == []
    gone = await admin.send("DELETE", path, attested="passkey.remove")
    assert gone.json()["code"] == "passkey_not_found"


async def test_what_was_made_elsewhere_or_by_somebody_else_is_refused(
    world: HttpWorld, admin: SignedIn, party: str
) -> None:
    elsewhere = Authenticator(origin="https://evil.example")
    made = elsewhere.make(await asked_for(admin, "register"))
    refused = await admin.post("/bff/v1/passkeys", {"credential": made}, attested="passkey.add")
    assert refused.json()["code"] == "passkey_refused"

    phone = await with_passkey(admin, party)
    at = AtBrowser(world)
    phishing = replace(phone, origin="https://evil.example")
    assert await by_passkey(at, phishing.show(await to_sign_in(at))) == 403
    other_key = replace(Authenticator(origin=party), credential_id=phone.credential_id)
    assert await by_passkey(at, other_key.show(await to_sign_in(at))) == 403
    inside = phone.show(await asked_for(admin, "prove"))
    assert await by_passkey(at, inside) == 403, "a challenge is for what it was made for"
    for junk in ("", "{}", "{", "[]", json.dumps({"id": "x" * 20, "response": {"clientDataJSON": "é"}})):
        assert await by_passkey(at, junk) == 403
    assert await by_passkey(at, phone.show(await to_sign_in(at))) == 303


async def test_a_copy_of_a_counting_key_is_noticed(world: HttpWorld, admin: SignedIn, party: str) -> None:
    key = await with_passkey(admin, party)
    copy = replace(key)
    at = AtBrowser(world)
    assert await by_passkey(at, key.show(await to_sign_in(at))) == 303
    assert await by_passkey(AtBrowser(world), copy.show(await to_sign_in(at))) == 403
    synced = await with_passkey(admin, party, count=None)
    for _ in range(2):
        assert await by_passkey(AtBrowser(world), synced.show(await to_sign_in(at))) == 303


async def test_a_challenge_is_over_after_five_minutes(world: HttpWorld, admin: SignedIn, party: str) -> None:
    phone = await with_passkey(admin, party)
    at = AtBrowser(world)
    asked = await to_sign_in(at)
    await world.clock.advance(timedelta(minutes=5))  # type: ignore[attr-defined]
    assert await by_passkey(at, phone.show(asked)) == 403
    sweep = world.system.backoffice.sweeps()["passkey_challenges"]
    assert await sweep(100) >= 1


async def test_a_row_of_another_program_proves_nothing(world: HttpWorld, admin: SignedIn, party: str) -> None:
    """Whoever can write to the database lets nobody in."""
    phone = await with_passkey(admin, party)
    theirs = Authenticator(origin=party)
    async with world.db.scoped(admin.who.tenant_id) as tx:
        # As whoever has the application's own access to the database.
        columns = "tenant_id, operator_id, credential_id, proof_hash, sign_count, kind, is_synced, created_at"
        await tx.connection.execute(
            f"CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT id, {columns} FROM bff_backoffice.passkeys"
        )
        await tx.connection.execute("DELETE FROM bff_backoffice.passkeys")
        await tx.connection.execute(
            f"INSERT INTO bff_backoffice.passkeys (id, {columns}, public_key) SELECT id, {columns}, $1 FROM kept",
            theirs.public_key,
        )
    at = AtBrowser(world)
    forged = replace(theirs, credential_id=phone.credential_id)
    assert await by_passkey(at, forged.show(await to_sign_in(at))) == 403


async def test_who_is_shut_out_or_begins_anew_has_no_passkeys(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, party: str
) -> None:
    phone = await with_passkey(admin, party)
    at = AtBrowser(world)
    backoffice = world.system.backoffice
    async with world.db.tenant(tenant.id) as tx:
        await backoffice.changer.disable(tx, admin.who.id, by=By(actor="test"))
    assert await by_passkey(at, phone.show(await to_sign_in(at))) == 403
    async with world.db.tenant(tenant.id) as tx:
        await backoffice.changer.enable(tx, admin.who.id, by=By(actor="test"))
    assert await by_passkey(at, phone.show(await to_sign_in(at))) == 303
    async with world.db.tenant(tenant.id) as tx:
        await backoffice.changer.reset(tx, admin.who.id, by=By(actor="test"))
    assert await by_passkey(at, phone.show(await to_sign_in(at))) == 403
    assert (await admin.who.row()).passkeys == 0


async def test_who_came_by_a_link_a_moment_ago_adds_their_first_passkey(
    world: HttpWorld, tenant: Tenant, party: str
) -> None:
    """The demo's operator has nothing else to attest with."""
    somebody, _ = await invited(world, tenant.id, email="demo")
    backoffice = world.system.backoffice

    async def opened() -> SignedIn:
        async with world.db.tenant(tenant.id) as tx:
            _, made = await backoffice.changer.open_link(tx, somebody.id, by=By(actor="test"), activate=True)
        at = AtBrowser(world)
        path = made.url("http://localhost").removeprefix("http://localhost")
        await at.open(path)
        await at.post(path)
        return await signed_in(somebody, at)

    late = await opened()
    await world.clock.advance(timedelta(minutes=16))  # type: ignore[attr-defined]
    made = Authenticator(origin=party).make(await asked_for(late, "register"))
    refused = await late.post("/bff/v1/passkeys", {"credential": made})
    assert refused.json()["code"] == "attestation_required"

    inside = await opened()
    phone = Authenticator(origin=party)
    made = phone.make(await asked_for(inside, "register"))
    assert (await inside.post("/bff/v1/passkeys", {"credential": made})).status_code == 201
    proof = phone.show(await asked_for(inside, "prove"))
    attested = await inside.post("/bff/v1/attestations", {"action": "operator.invite", "code": proof})
    assert attested.status_code == 201
    second = Authenticator(origin=party).make(await asked_for(inside, "register"))
    refused = await inside.post("/bff/v1/passkeys", {"credential": second})
    assert refused.json()["code"] == "attestation_required"


async def test_strangers_ask_for_challenges_as_often_as_they_may_try(world: HttpWorld) -> None:
    at = AtBrowser(world)
    own = {"sec-fetch-site": "same-origin"}
    asked = [await at.client.post("/console/passkey/challenge", headers=own) for _ in range(31)]
    assert [one.status_code for one in asked] == [200] * 30 + [429]
    assert int(asked[-1].headers["retry-after"]) >= 1
