"""Which version is in force: the tenant's own over the platform's, from memory, right in every process at once."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.integration.templates.conftest import TemplateWorld
from tests.integration.templates.drafts import draft, later
from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase
from tests.support.statements import counting
from tidings.contracts.tenants import Channel
from tidings.kernel.announced_changes import AnnouncedChanges
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.postgres_bus.wakeups import Wakeups
from tidings.notify.ids import TemplateVersionId
from tidings.notify.render.model import Rendered, RenderJob
from tidings.notify.templates.authoring import Authoring
from tidings.notify.templates.create_version import create_version
from tidings.notify.templates.errors import InvalidVariablesError, UnknownTemplateError
from tidings.notify.templates.model import TemplateName, VersionName
from tidings.notify.templates.platform import publish_platform_set
from tidings.notify.templates.platform.files import read_set
from tidings.notify.templates.publish import TemplatePublisher
from tidings.notify.templates.resolve import (
    TemplateResolver,
)
from tidings.notify.templates.semver import Semver


def key() -> str:
    return "k" + TENANT.new(SystemClock().now())[-12:].lower()


async def put(world: TemplateWorld, tenant_id: TenantId | None, name: str, body: dict[str, object]) -> None:
    path = f"/api/v1/templates/{name}/email/versions"
    side = world.http.as_platform() if tenant_id is None else world.http.as_tenant(tenant_id)
    async with side as client:
        made = await client.post(path, json=body)
        assert made.status_code == 201, made.text
        done = await client.post(f"{path}/{body['semver']}/publish")
        assert done.status_code == 200, done.text


async def test_a_tenants_own_wins_over_the_platforms(world: TemplateWorld, db: Database) -> None:
    name, own, other = key(), await world.http.tenant(), await world.http.tenant()
    await put(world, None, name, draft("1.0.0"))
    templates = TemplateResolver(db, clock=SystemClock())
    before = await templates.resolve(own.id, name, "email")

    await put(world, own.id, name, draft("7.0.0"))
    templates.invalidate()
    mine, theirs = (
        await templates.resolve(own.id, name, "email"),
        await templates.resolve(other.id, name, "email"),
    )

    assert str(before.version.semver) == "1.0.0"
    assert (str(mine.version.semver), mine.template.tenant_id) == ("7.0.0", own.id)
    assert (str(theirs.version.semver), theirs.template.tenant_id) == ("1.0.0", None)
    async with world.http.as_tenant(other.id) as client:
        shown = await client.get(f"/api/v1/templates/{name}/email")
    assert (shown.json()["owner"], shown.json()["active_version"]) == ("platform", "1.0.0")


async def test_a_draft_of_ones_own_does_not_hide_the_platforms(world: TemplateWorld, db: Database) -> None:
    name, tenant = key(), await world.http.tenant()
    await put(world, None, name, draft("1.0.0"))
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(f"/api/v1/templates/{name}/email/versions", json=draft("2.0.0"))

    found = await TemplateResolver(db, clock=SystemClock()).resolve(tenant.id, name, "email")

    assert str(found.version.semver) == "1.0.0"


async def test_what_is_unknown_is_said_with_what_there_is(world: TemplateWorld, db: Database) -> None:
    name, tenant = key(), await world.http.tenant()
    await put(world, tenant.id, name, draft())
    templates = TemplateResolver(db, clock=SystemClock())

    with pytest.raises(UnknownTemplateError, match="there is one for email"):
        await templates.resolve(tenant.id, name, "sms")
    with pytest.raises(UnknownTemplateError):
        await templates.resolve(tenant.id, "nothing", "email")


async def test_another_process_knows_within_a_second_by_time_alone(
    world: TemplateWorld, db: Database
) -> None:
    name, tenant, clock = key(), await world.http.tenant(), ManualClock()
    elsewhere = TemplateResolver(db, clock=clock)
    await put(world, tenant.id, name, draft("1.0.0"))
    first = await elsewhere.resolve(tenant.id, name, "email")
    await put(world, tenant.id, name, later("1.1.0"))

    at_once = await elsewhere.resolve(tenant.id, name, "email")
    await clock.advance(timedelta(seconds=0.9))
    soon = await elsewhere.resolve(tenant.id, name, "email")

    assert [str(found.version.semver) for found in (first, at_once, soon)] == ["1.0.0", "1.0.0", "1.1.0"]


async def test_another_process_hears_of_a_publish(
    world: TemplateWorld, worker_database: TestDatabase, db: Database
) -> None:
    name, tenant, clock = key(), await world.http.tenant(), ManualClock()
    wakeups = Wakeups(worker_database.runtime_url, db)
    elsewhere = TemplateResolver(db, clock=clock, changes=AnnouncedChanges(wakeups))
    stop = asyncio.Event()
    running = asyncio.create_task(wakeups.run(stop))
    await asyncio.wait_for(wakeups.listening.wait(), 20)
    await put(world, tenant.id, name, draft("1.0.0"))
    await elsewhere.resolve(tenant.id, name, "email")

    await put(world, tenant.id, name, later("1.1.0"))

    async def heard() -> None:
        # The clock stands still, so only the announcement can bring the news.
        while str((await elsewhere.resolve(tenant.id, name, "email")).version.semver) != "1.1.0":
            await asyncio.sleep(0.01)

    await asyncio.wait_for(heard(), 20)
    stop.set()
    await running


async def test_a_frozen_version_is_found_after_it_was_archived(
    world: TemplateWorld, db: Database, engine: Authoring
) -> None:
    name, tenant, stranger = key(), await world.http.tenant(), await world.http.tenant()
    await put(world, tenant.id, name, draft("1.0.0"))
    templates = TemplateResolver(db, clock=SystemClock())
    frozen = (await templates.resolve(tenant.id, name, "email")).version.id
    await put(world, tenant.id, name, later("1.1.0"))
    templates.invalidate()

    found = await templates.versions(tenant.id, [frozen])
    not_theirs = await templates.versions(stranger.id, [frozen])
    done = await engine.of(None).render(
        [
            RenderJob(content=found[frozen].content_for("fa-AF"), variables={"name": "لیلا"}, locale="fa-AF"),
            RenderJob(
                content=found[frozen].content_for("ps-AF"), variables={"name": "Laila"}, locale="ps-AF"
            ),
        ]
    )

    assert not_theirs == {}
    assert [(r.subject, r.direction) for r in done if isinstance(r, Rendered)] == [
        ("سلام لیلا", "rtl"),
        ("Hello Laila 1.0.0", "ltr"),
    ]


async def test_a_set_of_tenants_finds_what_each_of_them_finds_alone(
    world: TemplateWorld, db: Database
) -> None:
    """In one transaction for what is in force, and in one for the contents."""
    name, only_one = key(), key()
    tenants = [(await world.http.tenant()).id for _ in range(4)]
    own, other, _, stranger = tenants
    await put(world, None, name, draft("1.0.0"))
    await put(world, own, name, draft("7.0.0"))
    await put(world, other, name, draft("8.0.0"))
    await put(world, other, only_one, draft("8.0.0"))
    wanted = [(tenant_id, key_) for tenant_id in tenants for key_ in (name, only_one)]

    async def by_each(
        templates: TemplateResolver,
    ) -> dict[tuple[TenantId, str], Mapping[Channel, TemplateVersionId]]:
        return {one: await templates.channels(*one) for one in wanted}

    expected = await by_each(TemplateResolver(db, clock=SystemClock()))
    together = TemplateResolver(db, clock=SystemClock())
    with counting(db) as asked:
        found = await asyncio.gather(*(together.channels(*one) for one in wanted))
    assert (asked.transactions, dict(zip(wanted, found, strict=True))) == (1, expected)

    versions = {
        (tenant_id, version_id) for (tenant_id, _), its in expected.items() for version_id in its.values()
    }
    # Another tenant's is not found by its id.
    theirs = {(stranger, version_id) for _, version_id in versions}
    alone = TemplateResolver(db, clock=SystemClock())
    expected_versions = {
        (tenant_id, version_id): published
        for tenant_id, version_id in versions | theirs
        for published in (await alone.versions(tenant_id, [version_id])).values()
    }
    with counting(db) as asked:
        read = await together.versions_of_all(versions | theirs)
    assert (asked.transactions, read) == (1, expected_versions)
    assert {str(published.version.semver) for (owner, _), published in read.items() if owner == stranger} == {
        "1.0.0"
    }
    with counting(db) as asked:
        assert await together.versions_of_all(versions | theirs) == read
    assert asked.transactions == 1, "what is another's is asked for again, and not found"


async def test_a_change_of_one_tenants_templates_is_no_news_of_anothers(
    world: TemplateWorld, db: Database
) -> None:
    name, one, other = key(), (await world.http.tenant()).id, (await world.http.tenant()).id
    for tenant_id in (one, other):
        await put(world, tenant_id, name, draft("1.0.0"))
    templates = TemplateResolver(db, clock=ManualClock())
    for tenant_id in (one, other):
        await templates.resolve(tenant_id, name, "email")
    for tenant_id in (one, other):
        await put(world, tenant_id, name, later("1.1.0"))

    templates.invalidate(one)
    found = [await templates.resolve(tenant_id, name, "email") for tenant_id in (one, other)]

    assert [str(one.version.semver) for one in found] == ["1.1.0", "1.0.0"]


async def test_variables_are_checked_by_the_version(world: TemplateWorld, db: Database) -> None:
    name, tenant = key(), await world.http.tenant()
    await put(world, tenant.id, name, draft())
    templates = TemplateResolver(db, clock=SystemClock())
    found = await templates.resolve(tenant.id, name, "email")

    templates.check_variables(found, {"name": "Laila"})
    with pytest.raises(InvalidVariablesError) as refused:
        templates.check_variables(found, {"nam": "Laila"})

    assert {error.field for error in refused.value.errors} == {"variables.name", "variables.nam"}


async def test_memory_is_bounded(world: TemplateWorld, db: Database) -> None:
    tenant, names = await world.http.tenant(), [key() for _ in range(3)]
    for name in names:
        await put(world, tenant.id, name, draft())
    templates = TemplateResolver(db, clock=SystemClock(), keep_bytes=1)

    found = [await templates.resolve(tenant.id, name, "email") for name in names]

    assert len({f.version.id for f in found}) == 3
    assert len(templates._kept) == 1


async def test_the_platforms_set_is_published_once(
    fresh_db: Database, engine: Authoring, world: TemplateWorld
) -> None:
    publisher = TemplatePublisher(outbox=world.outbox, audit=world.audit, clock=world.clock)

    counts = await asyncio.gather(
        *(publish_platform_set(fresh_db, engine=engine.of(None), publisher=publisher) for _ in range(2))
    )
    again = await publish_platform_set(fresh_db, engine=engine.of(None), publisher=publisher)
    async with fresh_db.platform() as tx:
        active = await tx.connection.fetch(
            "SELECT t.key, t.channel, v.semver FROM notification_platform.templates t "
            "JOIN notification_platform.template_versions v ON v.id = t.active_version_id ORDER BY 1, 2"
        )
        versions = await tx.connection.fetchval(
            "SELECT count(*) FROM notification_platform.template_versions"
        )

    wanted = sorted((template.key, template.channel, str(template.semver)) for template in read_set())
    assert sum(counts) >= len(wanted)
    assert again == 0
    assert sorted(tuple(row) for row in active) == wanted
    assert versions == len(wanted)


async def test_the_platforms_own_choice_stays(
    fresh_db: Database, engine: Authoring, world: TemplateWorld
) -> None:
    """What operators publish over the set is not taken back at the next start."""
    publisher = TemplatePublisher(outbox=world.outbox, audit=world.audit, clock=world.clock)

    ours = next(template for template in read_set() if (template.key, template.channel) == ("otp", "sms"))
    async with fresh_db.platform() as tx:
        await create_version(
            tx,
            TemplateName("otp", "sms"),
            replace(ours.spec, semver=Semver(0, 9, 0)),
            actor="key_operator",
            audit=world.audit,
            clock=world.clock,
        )
    name = VersionName("otp", "sms", "0.9.0")
    await publisher.publish(fresh_db.platform, name, actor="key_operator", engine=engine.of(None))

    await publish_platform_set(fresh_db, engine=engine.of(None), publisher=publisher)

    async with fresh_db.platform() as tx:
        semver = await tx.connection.fetchval(
            "SELECT v.semver FROM notification_platform.templates t JOIN notification_platform.template_versions v "
            "ON v.id = t.active_version_id WHERE t.key = 'otp' AND t.channel = 'sms'"
        )
    assert semver == "0.9.0"
