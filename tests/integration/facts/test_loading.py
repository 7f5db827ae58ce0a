"""Facts for whole sets: a bounded number of statements, and all that deciding needs."""

from msgspec.structs import replace

from tests.support.people import PeopleWorld, counted, unused
from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import RECIPIENT, RecipientId
from tidings.contracts.tenants import NotificationPolicy, QuietHours
from tidings.kernel.ids import TenantId
from tidings.notify.decide.decide import decide, decide_step
from tidings.notify.decide.model import DecisionRequest, Pass, StepRequest, Stop
from tidings.notify.decide.reasons import GateReason
from tidings.notify.facts.store import load_people
from tidings.notify.recipients.change_preferences import PreferenceChanger
from tidings.notify.recipients.model import IdentityType
from tidings.notify.recipients.preferences_model import Choices, GuardianRouting
from tidings.notify.recipients.recipient_input import AddressInput, IdentityInput, RecipientInput, spec_of
from tidings.notify.recipients.upsert import UpsertResult
from tidings.notify.suppressions.model import SuppressionReason, SuppressionSpec


async def many(world: PeopleWorld, tenant_id: TenantId, count: int) -> list[RecipientId]:
    word = unused()
    wishes = [
        spec_of(
            RecipientInput(
                identity=IdentityInput(type=IdentityType.USER, id=f"{word}-{i}"),
                addresses=[AddressInput(channel="email", address=f"{word}{i}@example.test")],
            )
        )
        for i in range(count)
    ]
    async with world.db.tenant(tenant_id) as tx:
        results = (await world.upserter.upsert(tx, wishes)).results
    return [result.recipient.id for result in results if isinstance(result, UpsertResult)]


async def choose(
    world: PeopleWorld, tenant_id: TenantId, recipient_id: RecipientId, choices: Choices
) -> None:
    system = world.system
    changer = PreferenceChanger(outbox=system.kernel.outbox, audit=system.kernel.audit, clock=system.clock)
    categories = await world.categories.all()
    async with world.db.tenant(tenant_id) as tx:
        await changer.change(tx, recipient_id, lambda _: choices, categories=categories, actor="test")


async def test_the_number_of_statements_does_not_grow_with_the_set(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    await world.channel(tenant.id)
    people = await many(world, tenant.id, 300)
    child, mother = people[0], (await many(world, tenant.id, 1))[0]
    shared = await world.loader.shared()
    async with world.db.tenant(tenant.id) as tx:
        # Known for a second, with everybody who sends.
        await world.system.vendors.accounts.within(tx)
    seen: list[tuple[int, int]] = []
    for with_guardian in (False, True):
        if with_guardian:
            routing = GuardianRouting(guardian_id=mother, mode="instead")
            await choose(world, tenant.id, child, Choices(guardian_routing=routing))
        for wanted in (people[:1], people):
            async with world.db.tenant(tenant.id) as tx, counted(tx) as once:
                await world.loader.load(tx, shared, wanted)
            async with world.db.tenant(tenant.id) as tx, counted(tx) as per_step:
                facts = await world.loader.load(tx, shared, wanted, channels=["email"])
            seen.append((len(once), len(per_step)))

    assert seen == [(2, 3), (2, 3), (3, 4), (3, 4)]
    assert len(facts.people) == 301
    assert facts.people[mother].addresses["email"][0].value is not None


async def test_people_of_several_tenants_are_loaded_as_each_tenants_alone(world: PeopleWorld) -> None:
    """Statements for a mixed set are as many as for one tenant, and give the same; a person of another tenant is not found."""
    shared = await world.loader.shared()
    tenants, people = [], []
    for place in range(3):
        tenant = await world.tenant(NotificationPolicy(allowed_link_domains=(f"t{place}.example.test",)))
        await world.channel(tenant.id)
        mine = await many(world, tenant.id, 3)
        routing = GuardianRouting(guardian_id=mine[2], mode="instead")
        await choose(world, tenant.id, mine[0], Choices(locale="fa-AF", guardian_routing=routing))
        async with world.db.tenant(tenant.id) as tx:
            stored = await world.loader.load(tx, shared, mine[1:2], channels=["email"])
            (address,) = stored.people[mine[1]].addresses["email"]
            assert address.value is not None
            wish = SuppressionSpec(channel="email", address=address.value, reason=SuppressionReason.OPT_OUT)
            await world.suppressor.add(tx, [wish], actor="test")
        tenants.append(tenant.id)
        people.append(mine[:2])
    alone = {}
    for tenant_id, mine in zip(tenants, people, strict=True):
        async with world.db.tenant(tenant_id, by_index=True) as tx:
            alone[tenant_id] = await world.loader.load(tx, shared, mine, channels=["email"])
    mixed = [(tenant_id, one) for tenant_id, mine in zip(tenants, people, strict=True) for one in mine]
    lies = [(tenants[0], people[1][0])]
    async with world.db.tenants(tenants, by_index=True) as both, counted(both) as asked:
        read = await load_people(both, [*mixed[:3], *lies], channels=["email"])
        together = await world.loader.load_set(
            both, shared, tenants, read, channels=["email"], others=[*mixed, *lies]
        )
    assert len(asked) <= 6
    assert set(together) == set(tenants)
    for tenant_id in tenants:
        assert together[tenant_id].tenant == alone[tenant_id].tenant
        assert together[tenant_id].people.keys() == alone[tenant_id].people.keys()
        for id_, person in alone[tenant_id].people.items():
            found = together[tenant_id].people[id_]
            assert replace(found, key=None) == replace(person, key=None)
            assert (found.key is None) == (person.key is None)


async def test_what_is_loaded_decides(world: PeopleWorld) -> None:
    policy = NotificationPolicy(
        quiet_hours=(QuietHours(days=("mon",), start="00:00", end="01:00", timezone="UTC"),)
    )
    tenant = await world.tenant(policy, default_timezone="Asia/Kabul")
    await world.channel(tenant.id)
    address = f"{unused()}@example.test"
    laila = await world.recipient(tenant.id, ("email", address), locale="fa-AF")
    stranger = RECIPIENT.new(world.system.clock.now())
    shared = await world.loader.shared()
    now = world.system.clock.now().replace(hour=12)
    request = DecisionRequest(
        recipient_id=laila,
        category="transactional",
        channel="email",
        priority="normal",
        expires_at=now.replace(year=now.year + 1),
    )
    step = StepRequest(
        recipient_id=laila,
        category="transactional",
        channel="email",
        priority="normal",
        expires_at=request.expires_at,
        status=NotificationStatus.QUEUED,
    )

    async with world.db.tenant(tenant.id) as tx:
        facts = await world.loader.load(tx, shared, [laila, stranger], channels=["email", "sms"])
    sent, prepared = decide(facts, request, now), decide_step(facts, step, now)
    async with world.db.tenant(tenant.id) as tx:
        spelt = facts.people[laila].addresses["email"][0].value
        assert spelt is not None
        wish = SuppressionSpec(channel="email", address=spelt, reason=SuppressionReason.OPT_OUT)
        await world.suppressor.add(tx, [wish], actor="test")
        later = await world.loader.load(tx, shared, [laila], channels=["email"])
    refused = decide_step(later, step, now)

    assert isinstance(sent.verdict, Pass)
    assert (sent.locale, sent.timezone, sent.preferences_version) == ("fa-AF", "Asia/Kabul", 0)
    assert isinstance(prepared.verdict, Pass)
    assert [a.value for a in prepared.addresses] == [address]
    assert prepared.channel is not None
    assert prepared.channel.vendor == "smtp"
    assert stranger not in facts.people
    assert isinstance(refused.verdict, Stop)
    assert (refused.verdict.status, refused.verdict.reason) == (
        NotificationStatus.SUPPRESSED,
        GateReason.SUPPRESSED_BY_TENANT,
    )
    assert refused.verdict.by is not None
    assert address not in repr(facts)


async def test_chosen_locale_and_zone_win_and_an_unknown_zone_does_not_stop_a_set(world: PeopleWorld) -> None:
    tenant = await world.tenant(default_timezone="Asia/Kabul")
    one, two = await many(world, tenant.id, 2)
    await choose(world, tenant.id, one, Choices(locale="ps-AF", timezone="Europe/Berlin"))
    async with world.db.tenant(tenant.id) as tx:
        await tx.connection.execute(
            "UPDATE notification.recipients SET primary_timezone = 'Mars/Olympus' WHERE id = $1", two
        )

    shared = await world.loader.shared()
    async with world.db.tenant(tenant.id) as tx:
        facts = await world.loader.load(tx, shared, [one, two])

    assert (facts.people[one].locale, facts.people[one].timezone) == ("ps-AF", "Europe/Berlin")
    assert facts.people[one].preferences_version == 1
    assert facts.people[two].timezone == "Asia/Kabul"


async def test_an_erased_recipient_is_told_as_such(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    [gone] = await many(world, tenant.id, 1)
    async with world.db.tenant(tenant.id) as tx:
        await world.system.kernel.keyring.destroy(tx, [gone])
        await tx.connection.execute(
            "UPDATE notification.recipients SET erased_at = now() WHERE id = $1", gone
        )

    shared = await world.loader.shared()
    async with world.db.tenant(tenant.id) as tx:
        facts = await world.loader.load(tx, shared, [gone], channels=["email"])

    assert facts.people[gone].erased
    assert facts.people[gone].addresses["email"][0].value is None


async def test_nobody_loads_another_tenants_people(world: PeopleWorld) -> None:
    one, two = await world.tenant(), await world.tenant()
    [laila] = await many(world, one.id, 1)

    shared = await world.loader.shared()
    async with world.db.tenant(two.id) as tx:
        facts = await world.loader.load(tx, shared, [laila], channels=["email"])

    assert facts.people == {}
