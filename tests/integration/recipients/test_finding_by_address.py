"""Who has an address: looked up by support, and meant by somebody who says an address alone."""

from typing import Any

import pytest

from tests.support.people import PeopleWorld, counted, unused
from tidings.notify.recipients.errors import SharedAddressError
from tidings.notify.recipients.model import IdentityType
from tidings.notify.recipients.recipient_input import (
    AddressInput,
    IdentityInput,
    RecipientInput,
    RecipientSpec,
    spec_of,
)
from tidings.notify.recipients.upsert import UpsertResult

RECIPIENTS = "/api/v1/recipients"


def alone(*addresses: tuple[str, str], **more: Any) -> dict[str, Any]:
    return {"addresses": [{"channel": channel, "address": address} for channel, address in addresses], **more}


def wish(*addresses: tuple[str, str], guest: str | None = None) -> RecipientSpec:
    given = RecipientInput(
        addresses=[AddressInput(channel=channel, address=address) for channel, address in addresses],  # type: ignore[arg-type]
    )
    if guest is not None:
        given = RecipientInput(
            identity=IdentityInput(type=IdentityType.GUEST, id=guest), addresses=given.addresses
        )
    return spec_of(given)


async def test_support_finds_everybody_who_has_an_address(world: PeopleWorld) -> None:
    tenant, other = await world.tenant(), await world.tenant()
    mail = f"kamran-{unused()}@example.test"
    kamran = await world.recipient(tenant.id, ("email", mail), ("sms", "+93700123456"), display_name="Kamran")
    wife = await world.recipient(tenant.id, ("email", mail))
    await world.recipient(other.id, ("email", mail))
    async with world.http.as_tenant(tenant.id, role="tenant.viewer") as viewer:
        found = await viewer.post(
            f"{RECIPIENTS}/lookup", json={"channel": "email", "address": f" {mail.upper()} "}
        )
        # A number is one number, however it is used.
        by_number = await viewer.post(
            f"{RECIPIENTS}/lookup", json={"channel": "whatsapp", "address": "+93 700 123456"}
        )
        nobody = await viewer.post(
            f"{RECIPIENTS}/lookup", json={"channel": "email", "address": "nobody@example.test"}
        )
        wrong = await viewer.post(f"{RECIPIENTS}/lookup", json={"channel": "email", "address": "kamran"})
    async with world.db.tenant(tenant.id) as tx:
        audited = await world.system.kernel.audit.read_recent(tx, entity_type="recipient")

    assert found.status_code == 200, found.text
    items = {item["id"]: item for item in found.json()["items"]}
    assert set(items) == {kamran, wife}
    first = items[kamran]
    assert (first["display_name"], first["identity"]["type"]) == ("Kamran", "user")
    assert {a["address"] for a in first["addresses"]} == {"k…@e….test", "+…56"}
    assert [item["id"] for item in by_number.json()["items"]] == [kamran]
    assert nobody.json() == {"items": [], "more": False}
    assert wrong.json()["errors"][0]["field"] == "address"
    looked = [row for row in audited if row.action == "looked_up"]
    assert len(looked) == 3
    assert all(row.entity_id.startswith("sha256:") for row in looked)
    assert "kamran" not in str(looked).lower()


async def test_it_needs_the_scope_to_read_recipients(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id, scopes=["notifications:write"]) as client:
        refused = await client.post(
            f"{RECIPIENTS}/lookup", json={"channel": "email", "address": "a@example.test"}
        )

    assert (refused.status_code, refused.json()["code"]) == (403, "missing_scope")


async def test_an_address_alone_means_the_one_who_has_it(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    mail = f"{unused()}@example.test"
    known = await world.recipient(tenant.id, ("email", mail), display_name="Kamran")
    async with world.http.as_tenant(tenant.id) as client:
        again = await client.post(RECIPIENTS, json=alone(("email", mail)))
        found = await client.post(f"{RECIPIENTS}/lookup", json={"channel": "email", "address": mail})

    assert (again.status_code, again.json()["id"]) == (200, known)
    assert again.json()["display_name"] == "Kamran"
    assert [item["id"] for item in found.json()["items"]] == [known]


async def test_an_address_of_several_is_refused_with_their_ids_and_the_remedy(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    mail = f"{unused()}@example.test"
    mother = await world.recipient(tenant.id, ("email", mail))
    child = await world.recipient(tenant.id, ("email", mail))
    async with world.http.as_tenant(tenant.id) as client:
        shared = await client.post(RECIPIENTS, json=alone(("email", mail)))
        apart = await client.post(RECIPIENTS, json=alone(("email", mail), identity={"type": "anonymous"}))
        # From now on an address alone means the one without an identity.
        after = await client.post(RECIPIENTS, json=alone(("email", mail)))

    assert (shared.status_code, shared.json()["code"]) == (409, "address_shared")
    assert mother in shared.json()["detail"]
    assert child in shared.json()["detail"]
    assert '"anonymous"' in shared.json()["detail"]
    assert mail not in shared.text
    assert apart.status_code == 201
    assert (after.status_code, after.json()["id"]) == (200, apart.json()["id"])


async def test_a_strangers_number_does_not_become_that_of_somebody_known(world: PeopleWorld) -> None:
    """Whoever types a known mail address and a number of their own into a form must not get the other's codes."""
    tenant = await world.tenant()
    mail = f"{unused()}@example.test"
    known = await world.recipient(tenant.id, ("email", mail))
    async with world.http.as_tenant(tenant.id) as client:
        refused = await client.post(RECIPIENTS, json=alone(("email", mail), ("sms", "+93700999888")))
        shown = await client.get(f"{RECIPIENTS}/{known}")

    assert (refused.status_code, refused.json()["code"]) == (409, "address_shared")
    assert known in refused.json()["detail"]
    assert [a["channel"] for a in shown.json()["addresses"]] == ["email"]


async def test_in_a_set_each_is_found_or_refused_alone_and_no_statement_is_added(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    word = unused()
    one, two, both = (("email", f"{word}-{name}@example.test") for name in ("one", "two", "both"))
    first = await world.recipient(tenant.id, one, both)
    second = await world.recipient(tenant.id, two, both)
    async with world.db.tenant(tenant.id) as tx, counted(tx) as statements:
        results = (
            await world.upserter.upsert(tx, [wish(one), wish(two), wish(both), wish(one, two)])
        ).results

    assert [r.recipient.id if isinstance(r, UpsertResult) else type(r) for r in results] == [
        first, second, SharedAddressError, SharedAddressError,
    ]  # fmt: skip
    assert len(statements) == 1


async def test_somebody_new_without_an_identity_is_one_however_many_lines_name_them(
    world: PeopleWorld,
) -> None:
    tenant = await world.tenant()
    word = unused()
    one, two = (("email", f"{word}-{name}@example.test") for name in ("one", "two"))
    async with world.db.tenant(tenant.id) as tx:
        results = (await world.upserter.upsert(tx, [wish(two), wish(one, two), wish(one)])).results

    assert len({r.recipient.id for r in results if isinstance(r, UpsertResult)}) == 1


@pytest.mark.parametrize("named_first", [True, False])
async def test_somebody_new_by_identity_and_by_address_in_one_set_is_one(
    world: PeopleWorld, named_first: bool
) -> None:
    tenant = await world.tenant()
    mail = ("email", f"{unused()}@example.test")
    wishes = [wish(mail, guest=f"g-{unused()}"), wish(mail)]
    async with world.db.tenant(tenant.id) as tx:
        results = (await world.upserter.upsert(tx, wishes if named_first else wishes[::-1])).results

    assert all(isinstance(result, UpsertResult) for result in results)
    assert len({r.recipient.id for r in results if isinstance(r, UpsertResult)}) == 1


async def test_a_known_one_gets_an_address_by_identity_while_another_line_says_the_old_one_alone(
    world: PeopleWorld,
) -> None:
    tenant = await world.tenant()
    guest, word = f"g-{unused()}", unused()
    old, new = ("email", f"{word}@example.test"), ("email", f"{word}@new.test")
    async with world.db.tenant(tenant.id) as tx:
        [made] = (await world.upserter.upsert(tx, [wish(old, guest=guest)])).results
        results = (await world.upserter.upsert(tx, [wish(old), wish(new, guest=guest)])).results

    assert isinstance(made, UpsertResult)
    assert [r.recipient.id for r in results if isinstance(r, UpsertResult)] == [made.recipient.id] * 2
