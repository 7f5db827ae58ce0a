"""Rights that another program wrote into the database open no door, and nothing the application does afterwards signs them."""

import pytest

from tests.support.http import HttpWorld
from tests.support.operators import PASSWORD, AtBrowser, SignedIn, an_operator
from tidings.backoffice.operators.prove import ProofChecker
from tidings.kernel.db import Database
from tidings.notify.tenants.model import Tenant


@pytest.fixture
async def viewer(world: HttpWorld, tenant: Tenant) -> SignedIn:
    """A viewer of the tenant, signed in."""
    return await an_operator(world, tenant.id, role="tenant.viewer", email="v")


async def forge(db: Database, who: SignedIn, change: str = "role = 'tenant.admin'") -> None:
    """Write into the row, as whoever has the database's URL may."""
    async with db.scoped(who.who.tenant_id) as tx:
        await tx.connection.execute(
            f"UPDATE bff_backoffice.operators SET {change} WHERE id = $1",
            who.who.id,
        )
    who.who.world.system.backoffice.authenticator.forget_all()


async def is_out(who: SignedIn) -> bool:
    who.who.world.system.backoffice.authenticator.forget_all()
    return (await who.get("/bff/v1/session")).status_code == 401


@pytest.mark.parametrize(
    "change", ["role = 'tenant.admin'", "properties = '{prop_other}'", "properties = '{}'"]
)
async def test_a_forged_row_lets_nobody_in(
    world: HttpWorld, admin: SignedIn, viewer: SignedIn, db: Database, change: str
) -> None:
    await forge(db, viewer, change)

    assert await is_out(viewer)
    assert (await admin.get("/bff/v1/session")).status_code == 200


async def test_a_failed_sign_in_signs_no_forged_row(world: HttpWorld, viewer: SignedIn, db: Database) -> None:
    await forge(db, viewer)
    before = await viewer.who.row()

    at = AtBrowser(world)
    await at.open("/console/sign-in")
    for password in ("not-the-password", PASSWORD):
        answer = await at.post("/console/sign-in", email=viewer.who.email, password=password)
        assert answer.status_code == 403

    assert await viewer.who.row() == before
    assert await is_out(viewer)


async def test_a_code_signs_no_forged_row(world: HttpWorld, viewer: SignedIn, db: Database) -> None:
    at = AtBrowser(world)
    await at.open("/console/sign-in")
    await at.post("/console/sign-in", email=viewer.who.email, password=PASSWORD)
    await forge(db, viewer)

    ticket, proofs = at.hidden["ticket"], world.system.backoffice.parts.get(ProofChecker)
    for code in ("000000", await viewer.who.code(), viewer.who.codes[0]):
        assert (await at.post("/console/code", follow=False, ticket=ticket, code=code)).status_code == 410
        assert await proofs.check(viewer.who.tenant_id, viewer.who.id, code, by="session") == "wrong"

    row = await viewer.who.row()
    assert (row.failures, len(row.recovery_hashes)) == (0, 10)
    assert await is_out(viewer)


async def test_what_admins_do_signs_no_forged_row_and_says_why(
    admin: SignedIn, viewer: SignedIn, db: Database
) -> None:
    await forge(db, viewer)
    page = f"/bff/v1/operators/{viewer.who.id}"

    for action, attested in (("disable", "operator.status"), ("reset-mfa", "operator.reset_mfa")):
        answer = await admin.post(f"{page}/{action}", attested=attested)
        assert (answer.status_code, answer.json()["code"]) == (409, "operator_grant_broken")
        assert "erase" in answer.json()["detail"]
    assert await is_out(viewer)

    erased = await admin.post(f"{page}/erase", attested="operator.erase")
    assert (erased.status_code, erased.json()["status"]) == (200, "disabled")


async def test_who_was_disabled_stays_so_whatever_the_row_says(
    admin: SignedIn, viewer: SignedIn, db: Database
) -> None:
    done = await admin.post(f"/bff/v1/operators/{viewer.who.id}/disable", attested="operator.status")
    assert done.status_code == 200
    await forge(db, viewer, "status = 'active'")
    at = AtBrowser(viewer.who.world)
    await at.open("/console/sign-in")

    answer = await at.post("/console/sign-in", email=viewer.who.email, password=PASSWORD)

    assert answer.status_code == 403
    assert "Mail or password is not right." in answer.text
