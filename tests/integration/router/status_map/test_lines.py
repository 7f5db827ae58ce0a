"""What codes mean: said, changed from a version, taken back, removed; a tenant its own, the platform everybody's."""

from dataclasses import replace
from typing import Any

import pytest

from tests.integration.router.callbacks.conftest import CallbackWorld
from tidings.kernel.ids import TenantId
from tidings.router.adapters.kind import StatusSeed
from tidings.router.adapters.registry import ADAPTERS, kind_of
from tidings.router.status_map.meanings import Meanings
from tidings.router.status_map.model import StatusMeaning
from tidings.router.status_map.seed import seed

HOME = "/api/v1/router/status-map"
INSIDE = "/internal/v1/router/status-map"

BLOCKED = {"canonical": "rejected_by_recipient", "reason": "blocked"}
GONE = {"canonical": "failed_perm", "reason": "invalid_address"}


async def test_a_tenants_line_is_before_the_platforms_until_it_is_removed(
    world: CallbackWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    place = "http/4711"
    async with world.client("admin") as platform:
        said = await platform.put(f"{INSIDE}/{place}", json=BLOCKED)
    async with world.client(tenant_id) as client:
        before = await client.get(f"{HOME}/{place}")
        made = await client.put(f"{HOME}/{place}", json=GONE)
        listed = (await client.get(HOME, params={"adapter": "http"})).json()["items"]
        stale = await client.delete(f"{HOME}/{place}", headers={"If-Match": '"v9"'})
        removed = await client.delete(f"{HOME}/{place}", headers={"If-Match": made.headers["ETag"]})
        after = (await client.get(f"{HOME}/{place}")).json()
        again = await client.delete(f"{HOME}/{place}", headers={"If-Match": "*"})
    async with world.client(other_tenant) as stranger:
        theirs = (await stranger.get(f"{HOME}/{place}")).json()

    operator = (await world.http.key_of("admin"))[0].id
    assert (said.status_code, said.json()["platform"]["updated_by"]) == (200, operator)
    assert (before.json()["counts"], before.json()["tenant"], before.headers.get("ETag")) == (
        "platform",
        None,
        None,
    )
    # Who of the operators wrote it is not for tenants.
    assert before.json()["platform"]["updated_by"] is None
    assert (made.status_code, made.json()["counts"], made.headers["ETag"]) == (200, "tenant", '"v1"')
    [line] = [one for one in listed if one["code"] == "4711"]
    assert (line["tenant"]["canonical"], line["platform"]["canonical"]) == (
        "failed_perm",
        "rejected_by_recipient",
    )
    assert (stale.status_code, removed.status_code, again.status_code) == (412, 204, 404)
    assert (after["counts"], after["tenant"]) == ("platform", None)
    assert theirs["tenant"] is None


async def test_every_version_is_kept_and_can_count_again(world: CallbackWorld, tenant_id: TenantId) -> None:
    place = f"{HOME}/http/30007"
    async with world.client(tenant_id) as client:
        await client.put(place, json=BLOCKED)
        blind = await client.put(place, json=GONE)
        second = await client.put(place, json=GONE, headers={"If-Match": '"v1"'})
        same = await client.put(place, json=GONE, headers={"If-Match": '"v2"'})
        third = await client.post(f"{place}/revert", json={"version": 1}, headers={"If-Match": '"v2"'})
        never = await client.post(f"{place}/revert", json={"version": 7}, headers={"If-Match": '"v3"'})
    async with world.db.tenant(tenant_id) as tx:
        rows = await world.audit.read_recent(tx, entity_type="status_map")

    assert (blind.status_code, second.status_code, same.headers["ETag"]) == (428, 200, '"v2"')
    assert (third.json()["tenant"]["canonical"], third.headers["ETag"]) == ("rejected_by_recipient", '"v3"')
    carried = (await world.http.key_of(tenant_id))[0].id
    assert [(one["version"], one["canonical"], one["by"]) for one in third.json()["history"]] == [
        (2, "failed_perm", carried),
        (1, "rejected_by_recipient", carried),
    ]
    assert (never.status_code, never.json()["code"]) == (404, "status_version_not_found")
    assert [(row.action, row.entity_id) for row in sorted(rows, key=lambda row: row.seq)] == [
        ("created", "http/30007"),
        ("updated", "http/30007"),
        ("reverted", "http/30007"),
    ]


@pytest.mark.parametrize(
    ("place", "body", "field"),
    [
        ("http/1", {"canonical": "unknown", "reason": "x"}, "canonical"),
        ("http/1", {"canonical": "bounced", "reason": "Somebody wrote a sentence"}, "reason"),
        ("carrier_pigeon/1", BLOCKED, "adapter"),
        ("http/no blanks", BLOCKED, "code"),
    ],
)
async def test_wrong_lines_are_refused_by_field(
    world: CallbackWorld, tenant_id: TenantId, place: str, body: dict[str, Any], field: str
) -> None:
    async with world.client(tenant_id) as client:
        refused = await client.put(f"{HOME}/{place}", json=body)

    assert refused.status_code == 400
    assert [error["field"] for error in refused.json()["errors"]] == [field]


async def test_pages_of_codes(world: CallbackWorld, tenant_id: TenantId) -> None:
    async with world.client(tenant_id) as client:
        for code in ("b~2", "a", "c"):
            await client.put(f"{HOME}/http_pages/{code}", json=BLOCKED)
        first = (await client.get(HOME, params={"adapter": "http_pages", "limit": 2})).json()
        then = {"adapter": "http_pages", "limit": 2, "cursor": first["next_cursor"]}
        second = (await client.get(HOME, params=then)).json()
        mangled = await client.get(HOME, params={"cursor": "nonsense"})

    assert [one["code"] for one in first["items"]] == ["a", "b/2"]
    assert ([one["code"] for one in second["items"]], second["next_cursor"]) == (["c"], None)
    assert mangled.status_code == 400


async def test_adapters_bring_lines_that_people_may_change_and_never_remove(world: CallbackWorld) -> None:
    """Every start seeds: what is missing, and what is still as it was seeded."""
    kind = _seeded(("1", "failed_temp", "busy"), ("2", "failed_perm", "invalid_address"))
    newer = _seeded(("1", "failed_perm", "gone"), ("2", "bounced", "hard_bounce"))
    now = world.clock.now()

    async with world.db.platform() as tx:
        first = await seed(tx, [kind], now=now)
        again = await seed(tx, [kind], now=now)
    async with world.client("admin") as platform:
        await platform.put(f"{INSIDE}/http/1", json=BLOCKED, headers={"If-Match": '"v1"'})
    async with world.db.platform() as tx:
        changed = await seed(tx, [newer], now=now)
    async with world.client("admin") as platform:
        one = (await platform.get(f"{INSIDE}/http/1")).json()["platform"]
        two = (await platform.get(f"{INSIDE}/http/2")).json()["platform"]

    assert (first, again, changed) == (2, 0, 1)
    assert (one["reason"], one["version"]) == ("blocked", 2)
    assert (two["canonical"], two["version"], two["updated_by"]) == ("bounced", 1, "seed")


async def test_what_an_adapter_says_of_its_vendor_is_not_removed(world: CallbackWorld) -> None:
    """The next start would bring it back."""
    kind = next(kind for _, kind in sorted(ADAPTERS.items()) if kind.statuses)
    place = f"{INSIDE}/{kind.name}/{kind.statuses[0].code.replace('/', '~')}"
    async with world.db.platform() as tx:
        await seed(tx, [kind], now=world.clock.now())

    async with world.client("admin") as platform:
        refused = await platform.delete(place, headers={"If-Match": "*"})
        there = await platform.get(place)

    assert (refused.status_code, refused.json()["code"]) == (409, "status_line_seeded")
    assert there.status_code == 200


async def test_meanings_are_remembered_for_a_moment(
    world: CallbackWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """The vendor's own name before its kind's, the tenant's own before everybody's, as receipts are read too."""
    meanings = Meanings(world.db, clock=world.clock)
    async with world.client("admin") as platform:
        await platform.put(f"{INSIDE}/http/77", json=BLOCKED)
        await platform.put(f"{INSIDE}/http_acme/78", json=BLOCKED)
    async with world.client(tenant_id) as client:
        await client.put(f"{HOME}/http/77", json=GONE)
        await client.put(f"{HOME}/http/78", json=GONE)
        mine = StatusMeaning(canonical="failed_perm", reason="invalid_address")
        everybodys = StatusMeaning(canonical="rejected_by_recipient", reason="blocked")

        assert await meanings.of(tenant_id, "http_acme", "77") == mine
        assert await meanings.of(tenant_id, "http_acme", "78") == everybodys
        assert await meanings.of(other_tenant, "http", "77") == everybodys
        assert await meanings.of(other_tenant, "https", "77") is None
        await client.delete(f"{HOME}/http/77", headers={"If-Match": "*"})
        remembered = await meanings.of(tenant_id, "http_acme", "77")
        await world.later(seconds=1)
        seen = await meanings.of(tenant_id, "http_acme", "77")

    assert (remembered, seen) == (mine, everybodys)


def _seeded(*lines: tuple[str, Any, str]) -> Any:
    kind = kind_of("http")
    assert kind is not None
    return replace(
        kind, statuses=tuple(StatusSeed(code=code, canonical=means, reason=why) for code, means, why in lines)
    )
