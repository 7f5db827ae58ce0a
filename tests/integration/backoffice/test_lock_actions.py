"""Lock actions are attested, asked for once, and audited whatever becomes of them."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tests.support.upstreams import HOTEL, OTHER_HOTEL, fault, running_simulator
from tidings.backoffice.lock_actions.model import LockOrder
from tidings.backoffice.lock_actions.perform import LockActor, WantedOnce
from tidings.contracts.scopes import ROLE_SCOPES
from tidings.kernel.db import Database
from tidings.kernel.http.callers import Caller
from tidings.notify.tenants.model import Tenant
from tidings.sandbox.property.simulator import PropertySimulator


@pytest.fixture
async def simulator(world: HttpWorld) -> AsyncIterator[PropertySimulator]:
    async with running_simulator(world.clock, world.system) as running:
        yield running


@pytest.fixture
async def clerk(world: HttpWorld, tenant: Tenant, simulator: PropertySimulator) -> SignedIn:
    """Somebody at the desk of one hotel."""
    return await an_operator(world, tenant.id, role="tenant.support", email="clerk", properties=(HOTEL,))


@pytest.fixture
async def stay(admin: SignedIn, simulator: PropertySimulator) -> str:
    """The reservation of a guest in house, whose lock answers."""
    found = (await admin.get(f"/bff/v1/properties/{HOTEL}/workbench/in-house")).json()
    for row in found["stays"]:
        reservation = str(row["reservation_id"])
        keys = await admin.get(f"/bff/v1/locks/{reservation}/keys?property_id={HOTEL}")
        if keys.status_code == 200 and any(key["status"] == "active" for key in keys.json()["items"]):
            return reservation
    raise AssertionError(found)


async def act(
    who: SignedIn, reservation: str, action: str, *, attested: bool = True, key: str = "k1", **body: Any
) -> Any:
    return await who.post(
        f"/bff/v1/locks/{reservation}/{action}",
        {"property_id": HOTEL, **body},
        attested=f"lock.{action}" if attested else None,
        **{"Idempotency-Key": key},
    )


async def audited(who: SignedIn, **query: str) -> list[dict[str, Any]]:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    answer = await who.get(f"/bff/v1/locks/actions?{asked}")
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def events(db: Database, tenant: Tenant) -> list[str]:
    async with db.worker() as tx:
        rows = await tx.connection.fetch(
            "SELECT payload FROM bff_backoffice.outbox WHERE tenant_id = $1 AND subject = 'backoffice.lock_action.performed.v1' ORDER BY seq",
            tenant.id,
        )
    return [row["payload"] for row in rows]


async def test_keys_are_issued_rebound_extended_and_revoked(
    clerk: SignedIn, stay: str, world: HttpWorld, tenant: Tenant, db: Database
) -> None:
    until = (world.clock.now() + timedelta(days=3)).isoformat()
    issued = await act(clerk, stay, "issue", key="a", credential="mobile")
    extended = await act(clerk, stay, "extend", key="b", valid_until=until)
    revoked = await act(clerk, stay, "revoke", key="c")

    assert [answer.status_code for answer in (issued, extended, revoked)] == [200] * 3, issued.text
    assert issued.json()["outcome"] == "success"
    assert issued.json()["vendor"] == "doorline"
    rows = await audited(clerk, reservation_id=stay)
    assert {(row["action"], row["outcome"]) for row in rows} == {
        ("issue", "success"),
        ("extend", "success"),
        ("revoke", "success"),
    }
    assert all(row["mfa_attestation_id"].startswith("mfa_") and row["vendor"] == "doorline" for row in rows)
    assert all(row["upstream_request_id"].startswith("ureq_") for row in rows)
    keys = (await clerk.get(f"/bff/v1/locks/{stay}/keys?property_id={HOTEL}")).json()["items"]
    assert {key["status"] for key in keys} == {"revoked"}
    told = await events(db, tenant)
    assert len(told) == 3
    assert all(f'"reservation_id":"{stay}"' in one.replace(": ", ":") for one in told)


async def test_a_failure_of_the_lock_service_is_an_answer(clerk: SignedIn, stay: str) -> None:
    answer = await act(clerk, "r-none", "revoke")

    assert (answer.status_code, answer.json()["outcome"]) == (200, "failure")
    assert answer.json()["error_code"] == "reservation_not_found"
    (row,) = await audited(clerk, outcome="failure")
    assert (row["error_code"], row["reservation_id"]) == ("reservation_not_found", "r-none")


async def test_what_we_refuse_is_audited_and_not_asked_for(
    world: HttpWorld,
    admin: SignedIn,
    clerk: SignedIn,
    stay: str,
    simulator: PropertySimulator,
) -> None:
    """No attestation, one for another action, no right to the property, no scope."""
    assert admin.who.tenant_id is not None
    viewer = await an_operator(world, admin.who.tenant_id, role="tenant.viewer", email="v")
    none = await act(clerk, stay, "issue", attested=False)
    other = await clerk.post(
        f"/bff/v1/locks/{stay}/issue",
        {"property_id": HOTEL},
        attested="lock.revoke",
        **{"Idempotency-Key": "k2"},
    )
    elsewhere = await act(clerk, stay, "issue", key="k3", property_id=OTHER_HOTEL)
    scopeless = await act(viewer, stay, "issue", key="k4")

    assert [(one.status_code, one.json()["code"]) for one in (none, other, elsewhere, scopeless)] == [
        (403, "attestation_required"),
        (403, "attestation_required"),
        (404, "property_not_found"),
        (403, "missing_scope"),
    ]
    rows = await audited(admin, outcome="refused")
    assert sorted((row["error_code"], row["property_id"], row["operator_id"]) for row in rows) == sorted(
        [
            ("attestation_required", HOTEL, clerk.who.id),
            ("attestation_required", HOTEL, clerk.who.id),
            ("property_not_found", OTHER_HOTEL, clerk.who.id),
            ("missing_scope", HOTEL, viewer.who.id),
        ]
    )
    assert all(row["mfa_attestation_id"] is None and row["upstream_latency_ms"] == 0 for row in rows)
    assert simulator.site.calls[f"locks/properties/{HOTEL}/lock-actions"] == 0
    assert {row["property_id"] for row in await audited(clerk)} == {HOTEL}, (
        "of other properties nothing is shown"
    )


async def test_a_key_is_bound_to_operator_and_device(
    admin: SignedIn, clerk: SignedIn, stay: str, simulator: PropertySimulator
) -> None:
    first = await act(clerk, stay, "issue", key="same")
    again = await act(clerk, stay, "issue", key="same", attested=False)
    others = await act(admin, stay, "issue", key="same")
    reused = await act(clerk, stay, "issue", key="same", attested=False, credential="pin")
    keyless = await clerk.post(f"/bff/v1/locks/{stay}/issue", {"property_id": HOTEL}, attested="lock.issue")

    assert first.json() == again.json()
    assert again.headers["idempotency-replayed"] == "true"
    assert others.json()["id"] != first.json()["id"]
    assert (reused.status_code, reused.json()["code"]) == (409, "idempotency_key_reused")
    assert (keyless.status_code, keyless.json()["errors"][0]["field"]) == (400, "Idempotency-Key")
    assert simulator.site.calls[f"locks/properties/{HOTEL}/lock-actions"] == 2


async def test_an_answer_that_was_never_learned_is_said_and_settled(
    world: HttpWorld, tenant: Tenant, clerk: SignedIn, stay: str, simulator: PropertySimulator
) -> None:
    """The lock service does it and breaks off: it is not asked to do it again, but what came of it."""
    settler, clock = world.system.backoffice.ledgers.settler, world.clock
    assert isinstance(clock, ManualClock)
    world.system.backoffice.places.timeout = timedelta(milliseconds=100)
    fault(simulator, "slow", "locks", count=1, seconds=0.5)
    unknown = await act(clerk, stay, "issue")
    world.system.backoffice.places.timeout = timedelta(seconds=2)
    repeated = await act(clerk, stay, "issue", attested=False)

    assert (unknown.status_code, unknown.json()["outcome"]) == (202, "unknown"), unknown.text
    assert (repeated.status_code, repeated.json()["code"]) == (403, "attestation_required")
    with_proof = await act(clerk, stay, "issue")
    assert (with_proof.status_code, with_proof.json()["code"]) == (409, "idempotency_in_progress")
    assert await alerts(world.db, tenant) == ["raised"]
    await clock.advance(timedelta(minutes=1))
    assert await settler.settle_due() >= 1

    rows = [row for row in await audited(clerk, reservation_id=stay) if row["outcome"] != "refused"]
    assert [(row["outcome"], row["settles_id"]) for row in rows] == [
        ("success", unknown.json()["id"]),
        ("unknown", None),
    ]
    assert simulator.site.calls[f"locks/properties/{HOTEL}/lock-actions"] == 1
    assert await alerts(world.db, tenant) == ["resolved"]
    replayed = await act(clerk, stay, "issue", attested=False)
    assert (replayed.status_code, replayed.json()["outcome"]) == (200, "success")
    assert len(await events(world.db, tenant)) == 2


async def test_a_lock_service_that_is_away_is_not_asked_and_may_be_asked_again(
    world: HttpWorld, tenant: Tenant, clerk: SignedIn, stay: str, simulator: PropertySimulator
) -> None:
    port = simulator.url
    world.system.backoffice.places.urls.clear()
    away = await act(clerk, stay, "issue")
    world.system.backoffice.places.add(port)
    again = await act(clerk, stay, "issue")

    assert (away.status_code, away.json()["code"]) == (503, "upstream_not_connected")
    assert (again.status_code, again.json()["outcome"]) == (200, "success")
    assert [(row["outcome"], row["error_code"]) for row in reversed(await audited(clerk))] == [
        ("failure", "upstream_not_connected"),
        ("success", None),
    ]


async def test_an_action_whose_process_was_killed_is_asked_about(
    world: HttpWorld, tenant: Tenant, clerk: SignedIn, stay: str, simulator: PropertySimulator
) -> None:
    """Killed after it was committed that it is wanted, and before the lock service got it."""
    backoffice, clock = world.system.backoffice, world.clock
    assert isinstance(clock, ManualClock)
    actor = backoffice.parts.get(LockActor)

    class Killed(BaseException):
        pass

    class _DeadUpstreams:
        async def call(self, *_: object, **__: object) -> None:
            raise Killed

    caller = _caller(clerk)
    order = LockOrder(action="issue", property_id=HOTEL, reservation_id=stay)
    with pytest.raises(Killed):
        await replace(actor, upstreams=_DeadUpstreams()).perform(  # type: ignore[arg-type]
            caller,
            tenant.id,
            order,
            once=WantedOnce(key="k", request_hash="h"),
            attestation=await clerk.attest("lock.issue"),
        )
    assert await audited(clerk) == []
    await backoffice.ledgers.settler.settle_due()
    assert await audited(clerk) == [], "its request may be on its way"
    await clock.advance(timedelta(minutes=2))
    assert await backoffice.ledgers.settler.settle_due() >= 1

    assert [(row["outcome"], row["error_code"]) for row in await audited(clerk)] == [
        ("failure", "not_received"),
        ("unknown", "process_ended"),
    ]


async def test_nobody_asks_for_ever(
    world: HttpWorld, tenant: Tenant, clerk: SignedIn, stay: str, simulator: PropertySimulator
) -> None:
    settler, clock = world.system.backoffice.ledgers.settler, world.clock
    assert isinstance(clock, ManualClock)
    fault(simulator, "close", "locks")
    assert (await act(clerk, stay, "issue")).status_code == 202
    await clock.advance(timedelta(minutes=1))
    await settler.settle_due()
    await clock.advance(timedelta(hours=25))

    assert await settler.settle_due() >= 1

    async with world.db.tenant(tenant.id) as tx:
        assert await tx.connection.fetchval("SELECT count(*) FROM bff_backoffice.lock_actions") == 0
        rows = await tx.connection.fetch(
            "SELECT outcome, error_code FROM bff_backoffice.lock_action_proxy_audit ORDER BY occurred_at, id"
        )
    assert [tuple(row) for row in rows][-1] == ("unknown", "never_learned")
    assert await alerts(world.db, tenant) == ["raised"], "somebody has to look at the door"


@pytest.mark.parametrize(
    ("action", "body", "field"),
    [
        ("issue", {"credential": "song"}, "credential"),
        ("issue", {"property_id": "a b"}, "property_id"),
        ("rebind", {}, "room"),
        ("extend", {"valid_until": "2020-01-01T00:00:00Z"}, "valid_until"),
        ("revoke", {"room": "1"}, "room"),
    ],
)
async def test_wrong_orders_are_refused_by_field(
    clerk: SignedIn, stay: str, action: str, body: dict[str, Any], field: str
) -> None:
    answer = await act(clerk, stay, action, attested=False, **body)

    assert answer.status_code == 400, answer.text
    assert answer.json()["errors"][0]["field"] == field


async def alerts(db: Database, tenant: Tenant) -> list[str]:
    async with db.tenant(tenant.id) as tx:
        rows = await tx.connection.fetch(
            "SELECT status FROM bff_backoffice.alerts WHERE category = 'lock_action_unknown' ORDER BY id"
        )
    return [row["status"] for row in rows]


def _caller(who: SignedIn) -> Caller:
    return Caller(
        kind="operator",
        id=who.who.id,
        home=who.who.tenant_id,
        role="tenant.support",
        scopes=ROLE_SCOPES["tenant.support"],
        environment="live",
        session_id=who.session_id,
        device_id=who.device_id,
        properties=frozenset({HOTEL}),
    )
