"""Sets of recipients: made, found again, brought up to date, in few statements and without races."""

import asyncio
import random

import pytest

from tests.support.people import PeopleWorld, counted, unused
from tests.support.postgres import TestDatabase
from tidings.contracts.ids import RECIPIENT
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import InvalidError, RefusalError
from tidings.notify.recipients import addresses as address_store
from tidings.notify.recipients.errors import ErasedRecipientError, UnknownRecipientError
from tidings.notify.recipients.model import IdentityType, address_purpose
from tidings.notify.recipients.recipient_input import (
    AddressInput,
    IdentityInput,
    RecipientInput,
    RecipientSpec,
    spec_of,
)
from tidings.notify.recipients.upsert import UpsertResult


def guest(number: str, *addresses: str, **facts: object) -> RecipientSpec:
    given = RecipientInput(
        identity=IdentityInput(type=IdentityType.GUEST, id=number),
        addresses=[AddressInput(channel="email", address=address) for address in addresses],
        **facts,  # type: ignore[arg-type]
    )
    return spec_of(given)


def nameless(*addresses: str) -> RecipientSpec:
    return spec_of(
        RecipientInput(addresses=[AddressInput(channel="email", address=address) for address in addresses])
    )


async def upsert(world: PeopleWorld, tenant_id: TenantId, *wishes: RecipientSpec) -> list[UpsertResult]:
    async with world.db.tenant(tenant_id) as tx:
        results = (await world.upserter.upsert(tx, wishes)).results
    assert all(isinstance(result, UpsertResult) for result in results)
    return [result for result in results if isinstance(result, UpsertResult)]


async def test_a_set_takes_the_same_few_statements_whatever_its_size(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    await upsert(world, tenant.id, guest(unused()))
    seen: dict[str, list[int]] = {"new": [], "known": [], "changed": []}
    for size in (1, 500):
        word = unused()
        wishes = [guest(f"{word}-{i}", f"{word}{i}@example.test", display_name="Laila") for i in range(size)]
        changed = [guest(f"{word}-{i}", f"{word}{i}@other.test", display_name="Leila") for i in range(size)]
        for name, wanted in (("new", wishes), ("known", wishes), ("changed", changed)):
            async with world.db.tenant(tenant.id) as tx, counted(tx) as statements:
                await world.upserter.upsert(tx, wanted)
            seen[name].append(len(statements))

    # Made with their keys and addresses; found with their keys; found, lock, found, two writes.
    assert seen == {"new": [1, 1], "known": [1, 1], "changed": [5, 5]}


async def test_it_is_found_again_and_brought_up_to_date(world: PeopleWorld) -> None:
    tenant = await world.tenant(default_timezone="Asia/Kabul")
    word = unused()

    [made] = await upsert(world, tenant.id, guest(word, "laila@example.test", tags=["vip"]))
    [same] = await upsert(world, tenant.id, guest(word, "Laila@EXAMPLE.test", tags=["vip"]))
    [more] = await upsert(
        world, tenant.id, guest(word, "laila@work.test", locale="FA-af", display_name="Laila")
    )

    assert made.created
    assert (made.recipient.locale, made.recipient.timezone) == ("en-US", "Asia/Kabul")
    assert (same.recipient.id, same.created, same.changed) == (made.recipient.id, False, False)
    assert (more.recipient.id, more.recipient.version, more.recipient.locale) == (
        made.recipient.id,
        2,
        "fa-AF",
    )
    assert more.recipient.tags == ("vip",)
    async with world.db.tenant(tenant.id) as tx:
        found = await address_store.load_addresses(tx, recipient_ids=[made.recipient.id])
        key = await world.system.kernel.keyring.data_key(tx, made.recipient.id)
    assert [(a.is_primary, key.unseal(a.ciphertext, address_purpose("email"))) for a in found] == [
        (True, b"laila@example.test"),
        (False, b"laila@work.test"),
    ]


async def test_somebody_known_by_address_alone_is_found_by_any_of_them(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    first, second = f"{unused()}@example.test", f"{unused()}@example.test"

    [made] = await upsert(world, tenant.id, nameless(first, second))
    [again] = await upsert(world, tenant.id, nameless(second))
    [named] = await upsert(world, tenant.id, guest(unused(), first))

    assert made.recipient.identity is None
    assert again.recipient.id == made.recipient.id
    assert named.recipient.id != made.recipient.id


async def test_the_same_person_twice_in_a_set_is_one(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    word = unused()
    [known] = await upsert(world, tenant.id, guest(f"{word}-known"))

    results = await upsert(
        world,
        tenant.id,
        guest(word, "a@example.test"),
        guest(word, "b@example.test", locale="fr-FR"),
        RecipientSpec(id=known.recipient.id, locale="ar"),
        guest(f"{word}-known", "c@example.test"),
    )

    assert results[0].recipient.id == results[1].recipient.id
    assert results[1].recipient.locale == "fr-FR"
    assert results[2].recipient == results[3].recipient
    async with world.db.tenant(tenant.id) as tx:
        ids = [results[0].recipient.id, known.recipient.id]
        found = await address_store.load_addresses(tx, recipient_ids=ids)
    assert sorted(a.recipient_id for a in found) == sorted([ids[0], ids[0], ids[1]])


async def test_the_mark_of_the_primary_is_handed_over(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    word = unused()
    [made] = await upsert(world, tenant.id, guest(word, "a@example.test", "b@example.test"))
    moved = RecipientInput(
        id=made.recipient.id,
        addresses=[AddressInput(channel="email", address="b@example.test", primary=True)],
    )

    await upsert(world, tenant.id, spec_of(moved))

    async with world.db.tenant(tenant.id) as tx:
        found = await address_store.load_addresses(tx, recipient_ids=[made.recipient.id])
        pepper = await world.system.kernel.keyring.pepper(tx)
    assert [a.is_primary for a in found] == [True, False]
    assert found[0].address_hash == pepper.hash(spec_of(moved).addresses[0].address)


async def test_a_wish_that_cannot_be_granted_fails_alone(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    stranger = RECIPIENT.new(world.system.clock.now())

    async with world.db.tenant(tenant.id) as tx:
        results = (
            await world.upserter.upsert(
                tx, [guest(unused(), "a@example.test"), RecipientSpec(id=stranger), guest(unused())]
            )
        ).results

    assert isinstance(results[1], UnknownRecipientError)
    assert isinstance(results[0], UpsertResult)
    assert isinstance(results[2], UpsertResult)


async def test_an_erased_recipient_stays_erased(world: PeopleWorld, worker_database: TestDatabase) -> None:
    tenant = await world.tenant()
    word = unused()
    [made] = await upsert(world, tenant.id, guest(word, "a@example.test", display_name="Laila"))
    async with world.db.tenant(tenant.id) as tx:
        await world.system.kernel.keyring.destroy(tx, [made.recipient.id])
        await tx.connection.execute(
            "UPDATE notification.recipients SET erased_at = now() WHERE id = $1", made.recipient.id
        )

    async with world.db.tenant(tenant.id) as tx:
        results = (await world.upserter.upsert(tx, [guest(word, "a@example.test")])).results

    assert isinstance(results[0], ErasedRecipientError)


async def test_two_tenants_and_two_recipients_may_share_an_address(world: PeopleWorld) -> None:
    one, two = await world.tenant(), await world.tenant()
    address = f"{unused()}@example.test"
    [a] = await upsert(world, one.id, guest(unused(), address))
    [b] = await upsert(world, one.id, guest(unused(), address))
    [c] = await upsert(world, two.id, guest(unused(), address))

    async with world.db.tenant(one.id) as tx:
        mine = await address_store.load_addresses(tx, recipient_ids=[a.recipient.id, b.recipient.id])
        not_mine = await address_store.load_addresses(tx, recipient_ids=[c.recipient.id])
    async with world.db.tenant(two.id) as tx:
        theirs = await address_store.load_addresses(tx, recipient_ids=[c.recipient.id])

    assert mine[0].address_hash == mine[1].address_hash
    assert mine[0].ciphertext != mine[1].ciphertext
    assert theirs[0].address_hash != mine[0].address_hash
    assert not_mine == []


async def test_many_at_once_make_everybody_once(world: PeopleWorld, db: Database) -> None:
    """Twelve writers with the same people in any order: one recipient each, one primary each, no deadlock."""
    tenant = await world.tenant()
    word = unused()
    people = [guest(f"{word}-{i}", f"{word}{i}@example.test", f"{word}{i}@other.test") for i in range(15)]
    nobodies = [nameless(f"{word}-n{i}@example.test") for i in range(5)]

    async def write(seed: int) -> dict[int, str]:
        order = list(enumerate([*people, *nobodies]))
        random.Random(seed).shuffle(order)
        done = await upsert(world, tenant.id, *(wish for _, wish in order))
        return {place: result.recipient.id for (place, _), result in zip(order, done, strict=True)}

    found = await asyncio.gather(*(write(seed) for seed in range(12)))

    assert all(ids == found[0] for ids in found)
    assert len(set(found[0].values())) == 20
    async with db.tenant(tenant.id) as tx:
        count = await tx.connection.fetchrow(
            "SELECT count(*) AS n, count(*) FILTER (WHERE is_primary) AS p FROM notification.recipient_addresses"
            " WHERE recipient_id = ANY($1)",
            list(found[0].values()),
        )
    assert (count["n"], count["p"]) == (35, 20)


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        (RecipientInput(), [""]),
        (RecipientInput(id="rcp_x"), ["id"]),
        (RecipientInput(identity=IdentityInput(type=IdentityType.USER)), ["identity.id"]),
        (RecipientInput(identity=IdentityInput(type=IdentityType.ANONYMOUS)), ["addresses"]),
        (
            RecipientInput(
                identity=IdentityInput(type=IdentityType.USER, id="u"),
                timezone="Mars/Olympus",
                tags=["a", "a"],
                attributes={"bad name": 1, "x": "y" * 9000},
                addresses=[
                    AddressInput(channel="email", address="nobody"),
                    AddressInput(channel="sms", address="12"),
                    AddressInput(channel="email", address="a@example.test", primary=True),
                    AddressInput(channel="email", address="b@example.test", primary=True),
                    AddressInput(channel="email", address="A@example.test"),
                ],
            ),
            [
                "addresses[0].address",
                "addresses[1].address",
                "addresses[3].primary",
                "addresses[4].address",
                "timezone",
                "tags",
                "attributes",
                "attributes",
            ],
        ),
    ],
)  # fmt: skip
def test_every_wrong_field_is_named(given: RecipientInput, fields: list[str]) -> None:
    with pytest.raises(InvalidError) as refused:
        spec_of(given)

    assert [error.field for error in refused.value.errors] == fields
    assert isinstance(refused.value, RefusalError)
