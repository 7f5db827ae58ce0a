"""Tenants through HTTP and through events: one projection, and what their state lets through."""

import asyncio
from datetime import timedelta

import pytest

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld, http_world
from tests.support.postgres import TestDatabase
from tidings.contracts.scope_names import SCOPES
from tidings.contracts.tenants import TenantFrozen, TenantUnfrozen, TenantUpdated
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.events import Event, new_event
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import TENANT, TenantId
from tidings.notify.tenants import project, store
from tidings.notify.tenants.errors import UnprojectableError

TENANTS = "/internal/v1/tenants"
POLICY = {
    "quiet_hours": [{"days": ["mon", "tue"], "start": "22:00", "end": "07:00", "timezone": "Asia/Kabul"}],
    "limits": {"per_day": 1000, "per_channel_per_second": {"sms": 5}},
    "allowed_link_domains": ["example.com", "*.example.org"],
}


def slug() -> str:
    return "t-" + TENANT.new(SystemClock().now())[-12:].lower()


def event(subject: str, payload: TenantFrozen | TenantUnfrozen | TenantUpdated, tenant_id: TenantId) -> Event:
    return new_event(
        subject,
        payload,
        tenant_id=tenant_id,
        ordering_key=tenant_id,
        source="/elsewhere",
        clock=SystemClock(),
    )


async def test_a_tenant_is_made_shown_changed_and_listed(world: HttpWorld) -> None:
    name = slug()
    async with world.as_platform() as client:
        made = await client.post(TENANTS, json={"name": "Acme", "slug": name, "notification_policy": POLICY})
        path = made.headers["location"]
        shown = await client.get(path)
        changed = await client.patch(
            path, json={"default_locale": "fa-AF", "weight": 7}, headers={"If-Match": shown.headers["etag"]}
        )
        listed = await client.get(TENANTS, params={"limit": "1"})

    assert (made.status_code, made.headers["etag"]) == (201, '"v1"')
    assert made.json() == shown.json()
    assert made.json()["notification_policy"] == POLICY
    assert (changed.json()["default_locale"], changed.json()["weight"]) == ("fa-AF", 7)
    assert changed.json()["notification_policy"] == POLICY
    assert changed.headers["etag"] == '"v2"'
    assert len(listed.json()["items"]) == 1


@pytest.mark.parametrize(
    ("body", "field", "says"),
    [
        ({"default_locale": "zz-ZZZZ"}, "default_locale", "must name a language that exists"),
        ({"default_locale": "en-Xqqx-US"}, "default_locale", "must name a language that exists"),
        (
            {"notification_policy": {"retention": {"marketing_days": 90}}},
            "notification_policy.retention",
            "does nothing yet",
        ),
    ],
)
async def test_what_does_not_exist_or_does_nothing_is_refused(
    world: HttpWorld, body: dict[str, object], field: str, says: str
) -> None:
    async with world.as_platform() as client:
        made = await client.post(TENANTS, json={"name": "Acme", "slug": slug()})
        answers = [
            await client.post(TENANTS, json={"name": "Acme", "slug": slug(), **body}),
            await client.patch(made.headers["location"], json=body, headers={"If-Match": '"v1"'}),
        ]

    for answer in answers:
        [error] = answer.json()["errors"]
        assert (answer.status_code, error["field"]) == (400, field)
        assert says in error["remedy"]


async def test_a_slug_is_taken_once(world: HttpWorld) -> None:
    name = slug()
    async with world.as_platform() as client:
        answers = await asyncio.gather(
            *(client.post(TENANTS, json={"name": "Acme", "slug": name}) for _ in range(3))
        )

    assert sorted(a.status_code for a in answers) == [201, 409, 409]
    refused = next(a for a in answers if a.status_code == 409)
    assert refused.json()["code"] == "slug_taken"
    assert refused.json()["errors"][0]["field"] == "slug"


async def test_a_repeated_creation_makes_one_tenant(world: HttpWorld) -> None:
    body, header = {"name": "Acme", "slug": slug()}, {"Idempotency-Key": slug()}
    async with world.as_platform() as client:
        first = await client.post(TENANTS, json=body, headers=header)
        again = await client.post(TENANTS, json=body, headers=header)
        other = await client.post(TENANTS, json={**body, "name": "Other"}, headers=header)
        hostile = await client.post(TENANTS, json=body, headers={"Idempotency-Key": "a b"})

    assert again.json() == first.json()
    assert (again.status_code, again.headers["idempotency-replayed"]) == (201, "true")
    assert other.status_code == 409
    assert hostile.json()["errors"][0]["field"] == "Idempotency-Key"


async def test_of_two_changes_from_one_version_one_is_refused(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_platform() as client:
        answers = await asyncio.gather(
            *(
                client.patch(f"{TENANTS}/{tenant.id}", json={"weight": w}, headers={"If-Match": '"v1"'})
                for w in (2, 3)
            )
        )

    assert sorted(a.status_code for a in answers) == [200, 412]


async def test_a_change_needs_its_version(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_platform() as client:
        missing = await client.patch(f"{TENANTS}/{tenant.id}", json={"weight": 2})
        broken = await client.patch(f"{TENANTS}/{tenant.id}", json={"weight": 2}, headers={"If-Match": "v1"})
        same = await client.patch(f"{TENANTS}/{tenant.id}", json={"weight": 1}, headers={"If-Match": "*"})

    assert (missing.status_code, missing.json()["code"]) == (428, "precondition_required")
    assert (broken.status_code, broken.json()["errors"][0]["field"]) == (400, "If-Match")
    assert same.headers["etag"] == '"v1"'


async def test_unknown_tenants_are_not_found(world: HttpWorld) -> None:
    missing = TENANT.new(SystemClock().now())
    async with world.as_platform() as client:
        answers = [
            await client.get(f"{TENANTS}/{missing}"),
            await client.patch(f"{TENANTS}/{missing}", json={"weight": 2}, headers={"If-Match": "*"}),
            await client.post(f"{TENANTS}/{missing}/freeze"),
        ]
        malformed = await client.get(f"{TENANTS}/tnt_1")

    assert {(a.status_code, a.json()["code"]) for a in answers} == {(404, "tenant_not_found")}
    assert (malformed.status_code, malformed.json()["errors"][0]["field"]) == (400, "tenant_id")


async def test_only_the_platform_may(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id) as client:
        answers = [
            await client.get(TENANTS),
            await client.post(TENANTS, json={"name": "x", "slug": slug()}),
            await client.post(f"{TENANTS}/{tenant.id}/unfreeze"),
        ]
    _, support = await world.key(None, role="platform.support")
    async with world.client(support) as client:
        read = await client.get(TENANTS)
        write = await client.post(f"{TENANTS}/{tenant.id}/freeze")

    assert {a.status_code for a in answers} == {403}
    assert (read.status_code, write.status_code) == (200, 403)


class Mistaken:
    """Gives a supporter of the platform more scopes than the role can hold."""

    async def authenticate(self, credential: str) -> Caller:
        return Caller(
            kind="jwt",
            id=credential,
            home=None,
            role="platform.support",
            scopes=frozenset(SCOPES),
            environment="live",
        )


async def test_the_database_too_holds_a_supporter_of_the_platform_to_reading(db: Database) -> None:
    """Were a scope ever given by mistake, the row would still not be written."""
    world = http_world(db, tokens=Mistaken())
    tenant = await world.tenant()
    key, _ = await world.key(None, role="platform.support")
    async with world.client("supporter") as client:
        read = [
            await client.get(path)
            for path in (TENANTS, f"{TENANTS}/{tenant.id}", "/api/v1/api-keys", "/api/v1/audit")
        ]
        refused = [
            await client.post(TENANTS, json={"name": "x", "slug": slug()}),
            await client.patch(f"{TENANTS}/{tenant.id}", json={"weight": 2}, headers={"If-Match": "*"}),
            await client.post(f"{TENANTS}/{tenant.id}/suspend"),
            await client.post("/api/v1/api-keys", json={"name": "x", "role": "platform.support"}),
            await client.post(f"/api/v1/api-keys/{key.id}/rotate", json={}),
            await client.delete(f"/api/v1/api-keys/{key.id}"),
        ]
    async with world.db.platform() as tx:
        untouched = await store.find_tenant(tx, tenant_id=tenant.id)

    assert {answer.status_code for answer in read} == {200}
    assert untouched is not None
    assert untouched.version == 1
    assert [(a.status_code, a.json()["code"]) for a in refused] == [(403, "not_permitted")] * len(refused), (
        refused
    )


#: After these moves: a read, a write, a revocation (which must always be possible while the API is open).
MATRIX: list[tuple[list[str], int, int, int]] = [
    ([], 200, 201, 200),
    (["freeze"], 200, 423, 200),
    (["freeze", "unfreeze"], 200, 201, 200),
    (["suspend"], 403, 403, 403),
    (["suspend", "resume"], 200, 201, 200),
    (["freeze", "suspend"], 403, 403, 403),
    (["freeze", "suspend", "resume"], 200, 423, 200),
]


@pytest.mark.parametrize(("moves", "read", "write", "revoke"), MATRIX)
async def test_what_a_state_lets_through(
    world: HttpWorld, moves: list[str], read: int, write: int, revoke: int
) -> None:
    tenant = await world.tenant()
    key, _ = await world.key(tenant.id)
    _, platform = await world.key(None)

    async with world.as_platform() as operator:
        for move in moves:
            assert (
                await operator.post(f"{TENANTS}/{tenant.id}/{move}", json={"reason": "test"})
            ).status_code == 200
    async with (
        world.as_tenant(tenant.id) as own,
        world.client(platform, **{"X-Tenant-Id": tenant.id}) as acting,
    ):
        for client in (own, acting):
            assert (await client.get("/api/v1/tenant")).status_code == read
            made = await client.post("/api/v1/api-keys", json={"name": "x", "role": "tenant.viewer"})
            assert made.status_code == write
            assert (await client.delete(f"/api/v1/api-keys/{key.id}")).status_code == revoke


async def test_a_move_that_changes_nothing_is_no_event(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_platform() as client:
        first = await client.post(f"{TENANTS}/{tenant.id}/freeze")
        again = await client.post(f"{TENANTS}/{tenant.id}/freeze")

    assert again.json() == first.json()
    assert first.json()["version"] == 2


async def test_events_from_outside_feed_the_same_projection(db: Database) -> None:
    clock = ManualClock(SystemClock().now())
    world = http_world(db, clock=clock)
    tenant = await world.tenant()
    frozen = event("tenant.frozen.v1", TenantFrozen(tenant_id=tenant.id, version=5), tenant.id)
    stale = event("tenant.updated.v1", TenantUpdated(tenant_id=tenant.id, version=4, name="Old"), tenant.id)

    async with world.as_tenant(tenant.id) as client:
        before = await client.post("/api/v1/api-keys", json={"name": "x", "role": "tenant.viewer"})
        async with db.platform() as tx:
            await project.handle(tx, [frozen, stale, frozen])
        await clock.advance(timedelta(seconds=1))
        after = await client.post("/api/v1/api-keys", json={"name": "x", "role": "tenant.viewer"})
        shown = (await client.get("/api/v1/tenant")).json()["tenant"]

    assert (before.status_code, after.status_code, after.json()["code"]) == (201, 423, "tenant_frozen")
    assert (shown["version"], shown["name"], shown["frozen"]) == (5, "Acme", True)


async def test_many_events_of_many_tenants_are_projected_at_once(world: HttpWorld) -> None:
    made = [await world.tenant() for _ in range(3)]
    events = [
        event("tenant.updated.v1", TenantUpdated(tenant_id=t.id, version=v, weight=v * 10), t.id)
        for v in (2, 3)
        for t in made
    ]

    async with world.db.platform() as tx:
        await project.handle(tx, events)
    async with world.db.platform() as tx:
        found = [await store.find_tenant(tx, tenant_id=t.id) for t in made]

    assert [(t.weight, t.version) for t in found if t] == [(30, 3)] * 3


@pytest.mark.parametrize(
    "data", ["{}", "[]", "null", '{"tenant_id": "tnt_x", "version": 1}', '{"version": "1"}']
)
async def test_an_event_that_is_not_as_agreed_is_refused(world: HttpWorld, data: str) -> None:
    tenant = await world.tenant()
    good = event("tenant.frozen.v1", TenantFrozen(tenant_id=tenant.id, version=2), tenant.id)
    bad = Event(
        id=good.id,
        tenant_id=tenant.id,
        subject=good.subject,
        ordering_key="x",
        data=data,
        source="/x",
    )

    with pytest.raises(UnprojectableError):
        async with world.db.platform() as tx:
            await project.handle(tx, [bad])


async def test_every_change_is_audited_and_published_with_it(
    world: HttpWorld, worker_database: TestDatabase
) -> None:
    async with world.as_platform() as client:
        tenant_id = (await client.post(TENANTS, json={"name": "Acme", "slug": slug()})).json()["id"]
        await client.patch(f"{TENANTS}/{tenant_id}", json={"weight": 3}, headers={"If-Match": '"v1"'})
        await client.post(f"{TENANTS}/{tenant_id}/suspend", json={"reason": "unpaid"})
        await client.post(f"{TENANTS}/{tenant_id}/resume")
    async with world.db.platform() as tx:
        audited = await world.system.kernel.audit.read_recent(tx, entity_type="tenant", entity_id=tenant_id)
    async with worker_database.runtime() as connection, connection.transaction():
        await connection.execute("SET LOCAL ROLE tidings_worker")
        published = await connection.fetch(
            "SELECT subject FROM notification.outbox WHERE ordering_key = $1 ORDER BY seq", tenant_id
        )

    actions = ["created", "updated", "suspended", "activated"]
    assert [row.action for row in reversed(audited)] == actions
    assert [row["subject"] for row in published] == [f"tenant.{action}.v1" for action in actions]
    assert [row.reason for row in reversed(audited)] == [None, None, "unpaid", None]


async def test_a_newcomer_is_greeted_with_links(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id, environment="test") as client:
        answer = (await client.get("/api/v1/tenant")).json()
        links = [await client.get(path) for path in answer["links"].values()]
    async with world.as_platform() as client:
        platform = (await client.get("/api/v1/tenant")).json()

    assert answer["message"].startswith("It works: you are Acme")
    assert answer["caller"]["environment"] == "test"
    assert {link.status_code for link in links} == {200}
    assert platform["tenant"] is None
    assert platform["links"]["tenants"] == TENANTS
