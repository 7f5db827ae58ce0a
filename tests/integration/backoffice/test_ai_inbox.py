"""What an AI suggests is decided once, kept with its provenance, and told to who suggested it."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.integration.backoffice.test_sessions import events
from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tests.support.system import announce
from tests.support.upstreams import HOTEL, OTHER_HOTEL, fault
from tidings.backoffice.ai_inbox.hear import SuggestionHearer
from tidings.backoffice.ai_inbox.store import expire_entries
from tidings.backoffice.notes.sealed_words import SealedWords
from tidings.contracts.received_events import EVENT_RECEIVED_SUBJECT, EventReceived
from tidings.kernel.db import Database
from tidings.kernel.events import new_event
from tidings.notify.tenants.model import Tenant
from tidings.sandbox.property.simulator import PropertySimulator

INBOX = "/bff/v1/ai-inbox"


async def listed(who: SignedIn, **query: str) -> dict[str, Any]:
    shown = await who.browser.client.get(INBOX, params={"property_id": HOTEL, **query})
    assert shown.status_code == 200, shown.text
    found: dict[str, Any] = shown.json()
    return found


async def first(who: SignedIn) -> dict[str, Any]:
    found: dict[str, Any] = (await listed(who))["items"][0]
    return found


async def decide(who: SignedIn, entry: dict[str, Any], outcome: str, **more: Any) -> httpx2.Response:
    return await who.post(f"{INBOX}/{entry['id']}/decide", {"outcome": outcome, **more})


async def drain(world: HttpWorld) -> int:
    await announce(world.system)
    return await world.system.backoffice.suggestions.deliveries.drain()


async def ledger(world: HttpWorld, tenant: Tenant) -> list[dict[str, Any]]:
    """What is kept of decisions, opened."""
    words = world.system.backoffice.parts.get(SealedWords)
    found = []
    async with world.db.tenant(tenant.id) as tx:
        for row in await tx.connection.fetch("SELECT * FROM bff_backoffice.ai_decision_log ORDER BY id"):
            opened = {
                name: (
                    await words.open(tx, f"ai_decision_log.{name}", {row["id"]: row[f"{name}_ciphertext"]})
                )
                for name in ("provenance", "delta")
            }
            found.append({**dict(row), **{name: box.get(row["id"]) for name, box in opened.items()}})
    return found


async def test_a_decision_is_kept_and_the_service_learns_of_it_after_the_commit(
    world: HttpWorld, simulator: PropertySimulator, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    entry = await first(admin)
    assert entry["provenance"]["model"] == "simulated-planner"
    decided = await decide(admin, entry, "accepted", note="Laila agreed by phone " + "x" * 300)
    assert (decided.status_code, decided.json()["status"]) == (200, "accepted"), decided.text
    assert decided.json()["delivery"] == "waiting"

    [kept] = await ledger(world, tenant)
    assert (kept["outcome"], kept["decided_by"], kept["device_id"]) == (
        "accepted",
        admin.who.id,
        admin.device_id,
    )
    assert "simulated-planner" in kept["provenance"]
    assert b"simulated-planner" not in kept["provenance_ciphertext"]
    assert kept["note_id"] is not None
    [told] = await events(db, "backoffice.ai_suggestion.decided.v1", tenant.id)
    assert entry["suggestion_id"] in told
    assert "Laila" not in told

    assert await drain(world) >= 1
    assert (await admin.get(f"{INBOX}/{entry['id']}")).json()["delivery"] == "delivered"
    assert entry["id"] not in [one["id"] for one in (await listed(admin))["items"]]
    assert [one["id"] for one in (await listed(admin, status="decided"))["items"]] == [entry["id"]]


async def test_a_change_says_what_is_different(
    world: HttpWorld, simulator: PropertySimulator, tenant: Tenant, admin: SignedIn
) -> None:
    entry = await first(admin)
    name, value = next((name, value) for name, value in entry["proposal"].items() if isinstance(value, int))
    wrongs: list[dict[str, Any]] = [
        {},
        {"delta": {}},
        {"delta": {"nothing_of_it": 1}},
        {"delta": {name: value}},
    ]
    for wrong in wrongs:
        refused = await decide(admin, entry, "modified", **wrong)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "delta")
    assert (await decide(admin, entry, "accepted", delta={name: 1})).status_code == 400
    assert await ledger(world, tenant) == []

    changed = await decide(admin, entry, "modified", delta={name: value + 1})
    assert changed.json()["status"] == "modified"
    [kept] = await ledger(world, tenant)
    assert kept["delta"] == f'{{"{name}": {value + 1}}}'
    assert await drain(world) >= 1


async def test_the_first_decision_counts(
    world: HttpWorld, simulator: PropertySimulator, tenant: Tenant, admin: SignedIn
) -> None:
    other = await an_operator(world, tenant.id, email="other")
    entry = await first(admin)
    both = await asyncio.gather(
        decide(admin, entry, "accepted"), decide(other, entry, "rejected"), decide(admin, entry, "accepted")
    )
    assert sorted(one.status_code for one in both) == [200, 409, 409]
    assert {one.json().get("code") for one in both if one.status_code == 409} == {"ai_suggestion_decided"}
    assert len(await ledger(world, tenant)) == 1


async def test_a_repeated_request_decides_once(simulator: PropertySimulator, admin: SignedIn) -> None:
    entry = await first(admin)
    path, body = f"{INBOX}/{entry['id']}/decide", {"outcome": "rejected"}
    answers = [await admin.post(path, body, **{"Idempotency-Key": "once"}) for _ in range(2)]
    assert [one.status_code for one in answers] == [200, 200]
    assert answers[1].headers["idempotency-replayed"] == "true"


async def test_a_service_that_is_away_is_told_later_and_given_up_with_an_alert(
    world: HttpWorld, simulator: PropertySimulator, tenant: Tenant, admin: SignedIn
) -> None:
    entry = await first(admin)
    fault(simulator, "error", "assistant")
    await decide(admin, entry, "accepted")
    clock = world.clock
    assert isinstance(clock, ManualClock)
    await announce(world.system)
    for _ in range(20):
        await world.system.backoffice.suggestions.deliveries.drain()
        await clock.advance(timedelta(hours=1))
    admin = await admin.who.sign_in(admin.browser)
    assert (await admin.get(f"{INBOX}/{entry['id']}")).json()["delivery"] == "dead"
    alerts = (await admin.get("/bff/v1/alerts?category=ai_decisions_undelivered")).json()["items"]
    assert [one["facts"] for one in alerts] == [{"decisions": 1}]

    simulator.faults.clear()
    await clock.advance(timedelta(minutes=5))
    again = await admin.post(f"{INBOX}/deliveries/requeue")
    assert again.json() == {"requeued": 1}
    assert await world.system.backoffice.suggestions.deliveries.drain() >= 1
    # Hours later the suggestion has expired there: that is final.
    assert (await admin.get(f"{INBOX}/{entry['id']}")).json()["delivery"] == "refused"


async def test_what_the_service_does_not_answer_is_shown_as_it_was(
    world: HttpWorld, simulator: PropertySimulator, admin: SignedIn
) -> None:
    known = [one["id"] for one in (await listed(admin))["items"]]
    assert isinstance(world.clock, ManualClock)
    await world.clock.advance(timedelta(seconds=61))
    fault(simulator, "error", "assistant")
    found = await listed(admin)
    assert [one["id"] for one in found["items"]] == known
    assert found["away"] == [{"property_id": HOTEL, "reason": "error"}]


async def test_a_suggestion_expires_at_its_time(
    world: HttpWorld, simulator: PropertySimulator, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    entry = await first(admin)
    assert isinstance(world.clock, ManualClock)
    await world.clock.advance(timedelta(hours=10))
    refused = await decide(admin, entry, "accepted")
    assert (refused.status_code, refused.json()["code"]) == (409, "ai_suggestion_expired")

    fault(simulator, "error", "assistant")
    async with db.worker() as tx:
        assert await expire_entries(tx, now=world.clock.now(), limit=1_000) >= 1
    shown = (await listed(admin, status="expired"))["items"]
    assert entry["id"] in [one["id"] for one in shown]


async def test_a_suggestion_is_seen_by_who_sees_its_property(
    world: HttpWorld, simulator: PropertySimulator, tenant: Tenant, admin: SignedIn
) -> None:
    entry = await first(admin)
    clerk = await an_operator(
        world, tenant.id, email="clerk", role="tenant.support", properties=(OTHER_HOTEL,)
    )
    assert (await clerk.get(f"{INBOX}?property_id={HOTEL}")).json()["code"] == "property_not_found"
    assert (await decide(clerk, entry, "accepted")).json()["code"] == "ai_suggestion_not_found"
    theirs = (await clerk.get(INBOX)).json()["items"]
    assert {one["property_id"] for one in theirs} == {OTHER_HOTEL}
    everything = (await admin.get(f"{INBOX}?limit=100")).json()["items"]
    assert {HOTEL, OTHER_HOTEL} <= {one["property_id"] for one in everything}

    viewer = await an_operator(world, tenant.id, email="viewer", role="tenant.viewer")
    assert (await decide(viewer, entry, "accepted")).json()["code"] == "missing_scope"


async def test_the_service_says_that_it_suggests_something_else(
    world: HttpWorld, simulator: PropertySimulator, tenant: Tenant, admin: SignedIn
) -> None:
    await listed(admin)
    hearer = world.system.backoffice.parts.get(SuggestionHearer)
    told = EventReceived(
        event_id="evt-1",
        type="upstream.assistant.changed",
        source="/assistant",
        time=world.clock.now(),
        subject=HOTEL,
    )
    event = new_event(
        EVENT_RECEIVED_SUBJECT,
        told,
        tenant_id=tenant.id,
        ordering_key="x",
        source="/tidings/notify",
        clock=world.clock,
    )
    assert await hearer.select([event]) == [event]
    async with world.db.tenant(tenant.id) as tx:
        await hearer.handle(tx, [event])
        rows = await tx.connection.fetch("SELECT property_id, pulled_at FROM bff_backoffice.ai_inbox_places")
    assert [(row["property_id"], row["pulled_at"]) for row in rows] == [(HOTEL, None)]


@pytest.fixture
async def drafted(world: HttpWorld, tenant: Tenant) -> str:
    """The key of a template whose draft an AI has written."""
    async with world.as_tenant(tenant.id) as key:
        made = await key.post(
            "/api/v1/templates/welcome/email/versions",
            json={
                "semver": "1.0.0",
                "category": "transactional",
                "locales": {"en": {"subject": "Welcome", "body": "Hello {{name}}", "format": "text"}},
                "variables_schema": {"type": "object", "properties": {"name": {"type": "string"}}},
                "ai_provenance": {"model": "writer-1", "prompt_hash": "sha256:1"},
            },
        )
        assert made.status_code == 201, made.text
    return "welcome"


@pytest.mark.parametrize("outcome", ["accepted", "rejected"])
async def test_a_draft_of_an_ai_is_approved_or_put_away_from_the_inbox(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, drafted: str, outcome: str
) -> None:
    [entry] = (await admin.get(f"{INBOX}?category=template_draft")).json()["items"]
    assert entry["proposal"] == {"template": drafted, "channel": "email", "version": "1.0.0"}
    assert (await decide(admin, entry, "modified", delta={"version": "2"})).status_code == 400

    support = await an_operator(world, tenant.id, email="support", role="tenant.support")
    assert (await decide(support, entry, outcome)).json()["code"] == "missing_scope"
    assert (await decide(admin, entry, outcome)).status_code == 200

    shown = (await admin.get("/api/v1/templates/welcome/email/versions/1.0.0")).json()
    if outcome == "accepted":
        assert shown["approved_by"] == admin.who.id
    else:
        assert shown["status"] == "archived"
    [kept] = await ledger(world, tenant)
    assert (kept["outcome"], "writer-1" in kept["provenance"]) == (outcome, True)
    assert (await admin.get(INBOX)).json()["items"] == []


async def test_a_draft_that_was_changed_is_another_suggestion(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, drafted: str
) -> None:
    [read] = (await admin.get(INBOX)).json()["items"]
    path = "/api/v1/templates/welcome/email/versions/1.0.0"
    stored = await admin.get(path)
    async with world.as_tenant(tenant.id) as key:
        changed = await key.put(
            path,
            json={
                "locales": {"en": {"subject": "Welcome", "body": "Hello again {{name}}", "format": "text"}},
                "variables_schema": {"type": "object", "properties": {"name": {"type": "string"}}},
                "ai_provenance": {"model": "writer-1", "prompt_hash": "sha256:2"},
            },
            headers={"If-Match": stored.headers["etag"]},
        )
        assert changed.status_code == 200, changed.text

    # Nobody approves what they have not read.
    assert (await decide(admin, read, "accepted")).json()["code"] == "ai_suggestion_decided"
    [now] = (await admin.get(INBOX)).json()["items"]
    assert now["id"] != read["id"]
    assert (await decide(admin, now, "accepted")).status_code == 200


async def test_a_draft_that_was_approved_elsewhere_leaves_the_inbox(
    world: HttpWorld, admin: SignedIn, drafted: str
) -> None:
    [entry] = (await admin.get(INBOX)).json()["items"]
    version = await admin.get("/api/v1/templates/welcome/email/versions/1.0.0")
    approved = await admin.post(
        "/api/v1/templates/welcome/email/versions/1.0.0/approve",
        {},
        **{"If-Match": version.headers["etag"]},
    )
    assert approved.status_code == 200, approved.text
    assert (await decide(admin, entry, "accepted")).json()["code"] == "ai_suggestion_decided"
    assert (await admin.get(INBOX)).json()["items"] == []
