"""Accounts, circuits and weights over HTTP: shown, priced, held, shared; a tenant its own, the platform its own."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld, http_world
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.router.traffic import store
from tidings.router.traffic.circuit import Circuit
from tidings.router.traffic.tally import Observed

ADAPTERS = "/api/v1/router/adapters"
CIRCUITS = "/api/v1/router/circuits"
WEIGHTS = "/api/v1/router/weights"
PRICES = {
    "currency": "USD",
    "per_segment_micros": 7500,
    "by_prefix": {"+93": {"per_segment_micros": 90_000}},
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now())


@pytest.fixture
def http(fresh_db: Database, clock: ManualClock) -> HttpWorld:
    return http_world(fresh_db, clock=clock)


@pytest.fixture
async def tenant(http: HttpWorld) -> TenantId:
    return (await http.tenant()).id


@pytest.fixture
async def accounts(http: HttpWorld, tenant: TenantId) -> dict[str, str]:
    """Ids by vendor: one of the tenant's own, two of the platform's."""
    configs = http.system.router.adapter_configs
    async with http.db.platform() as tx:
        theirs = [ConfigureAccount(vendor=v, secret_ref="file://x") for v in ("http_a", "http_b")]
        found = await configs.configure_platform(tx, theirs, actor="test")
    async with http.db.tenant(tenant) as own:
        mine = [ConfigureAccount(vendor="http_own", secret_ref="file://x")]
        found |= await configs.configure(own, mine, actor="test")
    return {vendor: account.id for vendor, account in found.items()}


@pytest.fixture
async def client(
    http: HttpWorld, tenant: TenantId, accounts: dict[str, str]
) -> AsyncIterator[httpx2.AsyncClient]:
    async with http.as_tenant(tenant) as client:
        yield client


async def test_a_tenant_sees_its_own_accounts_and_those_it_may_use(
    client: httpx2.AsyncClient, accounts: dict[str, str]
) -> None:
    items = (await client.get(ADAPTERS)).json()["items"]

    assert [(item["vendor"], item["owner"]) for item in items] == [
        ("http_own", "tenant"),
        ("http_a", "platform"),
        ("http_b", "platform"),
    ]
    own = items[0]
    assert own["id"] == accounts["http_own"]
    assert (own["adapter"], own["circuit"], own["prices"], own["weights"]) == ("http", "CLOSED", None, [])
    assert "sms" in own["channels"]
    assert own["capabilities"]["html"] is True
    # Switched on or off in the account's settings, which nobody sees here.
    assert {own["capabilities"][name] for name in ("receipts", "idempotent", "cancel")} == {None}
    assert "secret" not in (await client.get(ADAPTERS)).text


async def test_prices_and_limits_are_set_whole_from_a_version_and_audited(
    http: HttpWorld, client: httpx2.AsyncClient, accounts: dict[str, str], tenant: TenantId
) -> None:
    place = f"{ADAPTERS}/{accounts['http_own']}"
    shown = await client.get(place)
    assert shown.headers["ETag"] == '"v1"'

    done = await client.put(place, json={"prices": PRICES, "per_second": 20}, headers={"If-Match": '"v1"'})
    stale = await client.put(place, json={}, headers={"If-Match": '"v1"'})
    blind = await client.put(place, json={})
    same = await client.put(place, json={"prices": PRICES, "per_second": 20}, headers={"If-Match": '"v2"'})

    assert done.status_code == 200, done.text
    assert (done.json()["prices"], done.json()["per_second"], done.headers["ETag"]) == (PRICES, 20, '"v2"')
    assert (stale.status_code, blind.status_code, same.json()["version"]) == (412, 428, 2)
    async with http.db.tenant(tenant) as tx:
        rows = await http.system.kernel.router_audit.read_recent(tx, entity_type="adapter_config")
    by_action = {row.action: row for row in rows}
    assert sorted(by_action) == ["created", "updated"]
    assert "90000" in str(by_action["updated"].after)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"prices": {"currency": "dollars"}}, "prices.currency"),
        ({"prices": {"currency": "USD", "base_micros": -1}}, "prices.base_micros"),
        ({"prices": {"currency": "USD", "base": 1}}, "prices.base"),
        ({"per_second": 0}, "per_second"),
        ({"secret_ref": "file://theirs"}, "secret_ref"),
    ],
)
async def test_wrong_terms_are_refused_by_field(
    client: httpx2.AsyncClient, accounts: dict[str, str], body: dict[str, Any], field: str
) -> None:
    refused = await client.put(f"{ADAPTERS}/{accounts['http_own']}", json=body, headers={"If-Match": '"v1"'})

    assert refused.status_code in (400, 422)
    assert [error["field"] for error in refused.json()["errors"]] == [field]


async def test_the_platforms_accounts_are_changed_by_its_own_keys_alone(
    http: HttpWorld, client: httpx2.AsyncClient, accounts: dict[str, str]
) -> None:
    theirs = accounts["http_a"]
    held = {"state": "OPEN", "reason": "maintenance"}
    refused = [
        await client.put(f"{ADAPTERS}/{theirs}", json={}, headers={"If-Match": "*"}),
        await client.post(f"{CIRCUITS}/{theirs}/override", json=held),
        await client.delete(f"{CIRCUITS}/{theirs}/override"),
    ]
    assert [(one.status_code, one.json()["code"]) for one in refused] == [(403, "platform_account")] * 3

    async with http.as_platform() as platform:
        inside = "/internal/v1/router"
        priced = await platform.put(
            f"{inside}/adapters/{theirs}", json={"prices": PRICES}, headers={"If-Match": '"v1"'}
        )
        opened = await platform.post(f"{inside}/circuits/{theirs}/override", json=held)
        # A tenant's account is not the platform's business.
        foreign = await platform.get(f"{inside}/adapters/{accounts['http_own']}")
        listed = (await platform.get(f"{inside}/circuits")).json()["items"]

    assert (priced.status_code, opened.status_code, foreign.status_code) == (200, 200, 404)
    assert {one["vendor"]: one["state"] for one in listed} == {"http_a": "OPEN", "http_b": "CLOSED"}
    seen = {item["vendor"]: item["circuit"] for item in (await client.get(ADAPTERS)).json()["items"]}
    assert seen["http_a"] == "OPEN"
    assert (await client.get(f"{inside}/circuits")).status_code == 403


async def test_another_tenants_account_is_not_there(http: HttpWorld, accounts: dict[str, str]) -> None:
    stranger = await http.tenant()
    own = accounts["http_own"]
    async with http.as_tenant(stranger.id) as client:
        found = [
            await client.get(f"{ADAPTERS}/{own}"),
            await client.put(f"{ADAPTERS}/{own}", json={}, headers={"If-Match": "*"}),
            await client.get(f"{CIRCUITS}/{own}"),
            await client.post(f"{CIRCUITS}/{own}/override", json={"state": "OPEN", "reason": "x"}),
            await client.delete(f"{CIRCUITS}/{own}/override"),
        ]
        listed = (await client.get(CIRCUITS)).json()["items"]

    assert [(one.status_code, one.json()["code"]) for one in found] == [(404, "adapter_not_found")] * 5
    assert own not in [one["account_id"] for one in listed]


async def test_a_circuit_is_held_shown_and_let_go(
    http: HttpWorld,
    client: httpx2.AsyncClient,
    accounts: dict[str, str],
    clock: ManualClock,
    tenant: TenantId,
) -> None:
    place = f"{CIRCUITS}/{accounts['http_own']}"
    until = (clock.now() + timedelta(hours=1)).isoformat()

    held = (
        await client.post(
            f"{place}/override", json={"state": "OPEN", "reason": "maintenance", "until": until}
        )
    ).json()

    assert (held["state"], held["held"]["reason"]) == ("OPEN", "maintenance")
    assert (await client.get(place)).json() == held
    free = (await client.delete(f"{place}/override", params={"reason": "it is over"})).json()
    assert (free["state"], free["held"]) == ("OPEN", None)
    again = (await client.delete(f"{place}/override")).json()
    assert again["since"] == free["since"]
    async with http.db.tenant(tenant) as tx:
        rows = await http.system.kernel.router_audit.read_recent(tx, entity_type="circuit_breaker")
    assert [(row.action, row.reason) for row in sorted(rows, key=lambda row: row.seq)] == [
        ("held", "maintenance"),
        ("released", "it is over"),
    ]


async def test_the_platforms_circuit_is_not_shown_beside_an_account_of_ones_own(
    http: HttpWorld, client: httpx2.AsyncClient, tenant: TenantId, accounts: dict[str, str]
) -> None:
    """Nothing of the tenant's goes through it."""
    async with http.db.tenant(tenant) as tx:
        mine = [ConfigureAccount(vendor="http_a", secret_ref="file://x")]
        own = await http.system.router.adapter_configs.configure(tx, mine, actor="test")

    listed = [one["account_id"] for one in (await client.get(CIRCUITS)).json()["items"]]

    assert sorted(listed) == sorted([own["http_a"].id, accounts["http_own"], accounts["http_b"]])


async def test_of_the_platforms_circuits_a_tenant_sees_how_they_stand_and_no_more(
    http: HttpWorld, client: httpx2.AsyncClient, accounts: dict[str, str], clock: ManualClock
) -> None:
    """Not how much all the others send, and not what operators write to each other."""
    counted, held, own = accounts["http_a"], accounts["http_b"], accounts["http_own"]
    seen = [
        Observed(account_id=one, prefix="+93", era=0, ok=23, failed=37, slow=0, seconds=6.0)
        for one in (counted, own)
    ]
    async with http.db.worker() as tx:
        await store.add_counts(tx, seen, bucket=clock.now(), worker="w")
    opened = Circuit(state="OPEN", version=1, since=clock.now(), reason="37 of 60 calls failed")
    async with http.db.platform() as platform_tx:
        assert await store.change_circuit(platform_tx, counted, opened, known_version=0, now=clock.now())
    async with http.as_platform() as platform:
        wish = {"state": "OPEN", "reason": "Omar says that they have not paid"}
        await platform.post(f"/internal/v1/router/circuits/{held}/override", json=wish)
        inside = {
            one["account_id"]: one
            for one in (await platform.get("/internal/v1/router/circuits")).json()["items"]
        }

    listed = await client.get(CIRCUITS)
    shown = {one["account_id"]: one for one in listed.json()["items"]}
    single = [(await client.get(f"{CIRCUITS}/{one}")).json() for one in (counted, held, own)]

    assert single == [shown[one] for one in (counted, held, own)]
    assert (shown[counted]["state"], shown[counted]["reason"], shown[counted]["last_minute"]) == (
        "OPEN",
        "calls failed",
        None,
    )
    assert (shown[held]["reason"], shown[held]["held"]) == ("by hand", {"until": None, "reason": None})
    assert "37 of" not in listed.text
    assert "Omar" not in listed.text
    counts = {"calls": 60, "failed": 37, "slow": 0}
    assert (shown[own]["last_minute"], inside[counted]["last_minute"]) == (counts, counts)
    assert inside[counted]["reason"] == "37 of 60 calls failed"
    assert inside[held]["held"]["reason"] == wish["reason"]


async def test_two_who_hold_at_once_are_both_heard(
    client: httpx2.AsyncClient, accounts: dict[str, str]
) -> None:
    place = f"{CIRCUITS}/{accounts['http_own']}/override"
    wishes = [{"state": state, "reason": f"r{n}"} for n in range(4) for state in ("OPEN", "CLOSED")]

    done = await asyncio.gather(*(client.post(place, json=wish) for wish in wishes))

    assert {one.status_code for one in done} <= {200, 409}
    assert sum(one.status_code == 200 for one in done) >= 2


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"state": "HALF_OPEN", "reason": "x"}, "state"),
        ({"state": "OPEN"}, "reason"),
        ({"state": "OPEN", "reason": "x", "until": "2020-01-01T00:00:00Z"}, "until"),
        ({"state": "OPEN", "reason": "x", "until": "2030-01-01T00:00:00"}, "until"),
    ],
)
async def test_a_wish_that_makes_no_sense(
    client: httpx2.AsyncClient, accounts: dict[str, str], wish: dict[str, Any], field: str
) -> None:
    refused = await client.post(f"{CIRCUITS}/{accounts['http_own']}/override", json=wish)

    assert refused.status_code in (400, 422)
    assert [error["field"] for error in refused.json()["errors"]] == [field]


async def test_weights_are_set_shown_changed_from_a_version_and_removed(client: httpx2.AsyncClient) -> None:
    home = {"http_a": 70, "http_own": 30}
    missing = await client.get(f"{WEIGHTS}/sms")
    too_early = await client.put(f"{WEIGHTS}/sms", json={"home": home}, headers={"If-Match": '"v1"'})
    made = await client.put(f"{WEIGHTS}/sms", json={"home": home, "by_prefix": {"+93": {"http_own": 100}}})
    blind = await client.put(f"{WEIGHTS}/sms", json={"home": home})

    assert (missing.status_code, missing.json()["code"]) == (404, "weights_not_found")
    assert (too_early.status_code, blind.status_code) == (412, 428)
    assert made.status_code == 200, made.text
    assert made.json() == {
        "channel": "sms",
        "owner": "tenant",
        "home": home,
        "by_prefix": {"+93": {"http_own": 100}},
        "moved": [],
        "version": 1,
    }
    items = (await client.get(ADAPTERS)).json()["items"]
    assert items[0]["weights"] == [{"channel": "sms", "home": 30, "now": {}}]
    assert (await client.get(WEIGHTS)).json()["items"] == [made.json()]

    gone = await client.put(f"{WEIGHTS}/sms", json={"home": {}}, headers={"If-Match": '"v1"'})
    assert gone.json()["version"] == 2
    assert (await client.get(f"{WEIGHTS}/sms")).status_code == 404
    anew = await client.put(f"{WEIGHTS}/sms", json={"home": home})
    assert anew.json()["version"] == 3


async def test_weights_of_the_platform_are_seen_by_a_tenant_without_its_own(
    http: HttpWorld, client: httpx2.AsyncClient
) -> None:
    async with http.as_platform() as platform:
        made = await platform.put(
            "/internal/v1/router/weights/sms", json={"home": {"http_a": 50, "http_b": 50}}
        )
        foreign = await platform.put("/internal/v1/router/weights/sms", json={"home": {"http_own": 100}})

    assert made.status_code == 200, made.text
    assert foreign.status_code in (400, 422)
    shown = (await client.get(f"{WEIGHTS}/sms")).json()
    assert (shown["owner"], shown["home"]) == ("platform", {"http_a": 50, "http_b": 50})
    own = await client.put(f"{WEIGHTS}/sms", json={"home": {"http_own": 100}})
    assert own.status_code == 200, own.text
    assert (await client.get(f"{WEIGHTS}/sms")).json()["owner"] == "tenant"


async def test_a_channel_that_is_none(client: httpx2.AsyncClient) -> None:
    refused = await client.put(f"{WEIGHTS}/pigeon", json={"home": {}})

    assert refused.json()["errors"][0]["field"] == "channel"


async def test_readers_change_nothing(http: HttpWorld, tenant: TenantId, accounts: dict[str, str]) -> None:
    async with http.as_tenant(tenant, role="tenant.viewer") as viewer:
        seen = await viewer.get(CIRCUITS)
        held = await viewer.post(
            f"{CIRCUITS}/{accounts['http_own']}/override", json={"state": "OPEN", "reason": "x"}
        )

    assert (seen.status_code, held.status_code) == (200, 403)
