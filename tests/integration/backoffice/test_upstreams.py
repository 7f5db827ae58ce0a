"""The client of the upstream services, against the simulator: what it sends, how long it waits, what it gives up."""

import asyncio
from datetime import timedelta

import msgspec
import pytest

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tests.support.system import system_over
from tests.support.upstreams import HOTEL, fault
from tidings.backoffice.upstreams.client import Upstreams, at
from tidings.backoffice.upstreams.contract.housekeeping import Rooms
from tidings.backoffice.upstreams.contract.reservations import Stays, UpstreamProperties
from tidings.backoffice.upstreams.errors import UpstreamAwayError, UpstreamNotConnectedError
from tidings.kernel.ids import TenantId
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse
from tidings.sandbox.property.simulator import PropertySimulator

_TENANT = TenantId("tnt_01JCQ00000000000000000000A")
#: For services that answer, however busy the machine is, and for those that never do.
_PATIENT = timedelta(seconds=20)
_SHORT = timedelta(seconds=0.4)


@pytest.fixture
def upstreams(world: HttpWorld, simulator: PropertySimulator) -> Upstreams:
    return world.system.backoffice.parts.get(Upstreams)


async def _arrivals(
    upstreams: Upstreams, tenant_id: TenantId = _TENANT, *, within: timedelta = _PATIENT
) -> Stays | None:
    path = at("/v1/properties/{}/arrivals", HOTEL)
    return await upstreams.read(Stays, "reservations", path, tenant_id=tenant_id, deadline=within)


async def test_it_reads_what_the_contract_says(upstreams: Upstreams) -> None:
    found = await upstreams.read(UpstreamProperties, "reservations", "/v1/properties", tenant_id=_TENANT)
    assert found is not None
    assert HOTEL in {one.id for one in found.properties}
    stays = await _arrivals(upstreams)
    assert stays is not None
    assert stays.stays
    gone = at("/v1/properties/{}/arrivals", "nowhere")
    assert await upstreams.read(Stays, "reservations", gone, tenant_id=_TENANT) is None


async def test_a_step_of_a_path_stays_one_step() -> None:
    assert at("/v1/properties/{}/rooms", "../../admin?x=1") == "/v1/properties/..%2F..%2Fadmin%3Fx%3D1/rooms"


async def test_a_read_is_repeated_and_a_write_is_not(
    upstreams: Upstreams, simulator: PropertySimulator
) -> None:
    fault(simulator, "error", "reservations", count=1)
    assert await _arrivals(upstreams) is not None

    fault(simulator, "error", "locks", count=1)
    path = at("/v1/properties/{}/lock-actions", HOTEL)
    with pytest.raises(UpstreamAwayError) as refused:
        await upstreams.call("locks", "POST", path, tenant_id=_TENANT, body={}, idempotency_key="k")
    assert refused.value.reason == "error"
    assert refused.value.was_asked
    assert simulator.site.calls[f"locks/properties/{HOTEL}/lock-actions"] == 1


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("hang", "timeout"),
        ("close", "broken_off"),
        ("garbage", "broken_off"),
        ("error", "error"),
        ("throttle", "error"),
        ("wrong_schema", "schema"),
    ],
)
async def test_each_fault_is_called_by_its_name(
    upstreams: Upstreams, simulator: PropertySimulator, mode: str, reason: str
) -> None:
    fault(simulator, mode, "reservations")

    with pytest.raises(UpstreamAwayError) as away:
        await asyncio.wait_for(_arrivals(upstreams, within=_SHORT if mode == "hang" else _PATIENT), 30)

    assert away.value.reason == reason
    assert away.value.since is not None


async def test_the_largest_house_of_the_contract_has_room_and_an_endless_answer_has_an_end(
    upstreams: Upstreams, simulator: PropertySimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = [
        {"room": f"Tower {n}", "floor": "Tower", "status": "clean", "use": "vacant", "tasks": ["towels"] * 5}
        for n in range(3000)
    ]
    body = msgspec.json.encode({"rooms": rooms})

    async def read() -> Rooms | None:
        path = at("/v1/properties/{}/rooms", HOTEL)
        return await upstreams.read(Rooms, "housekeeping", path, tenant_id=_TENANT)

    monkeypatch.setattr(simulator.site, "handle", lambda *_: SandboxResponse(body=body))
    found = await read()
    assert found is not None
    assert len(found.rooms) == 3000

    monkeypatch.setattr(simulator.site, "handle", lambda *_: SandboxResponse(body=b" " * 3_000_000 + body))
    with pytest.raises(UpstreamAwayError) as away:
        await read()
    assert away.value.reason == "schema"


async def test_no_redirect_is_followed(
    upstreams: Upstreams, simulator: PropertySimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []

    def elsewhere(_: SandboxRequest, steps: list[str]) -> SandboxResponse:
        heard.append(steps[0])
        return SandboxResponse(status=307, headers={"location": f"{simulator.url}/locks/v1/secrets"})

    monkeypatch.setattr(simulator.site, "handle", elsewhere)

    with pytest.raises(UpstreamAwayError) as away:
        await _arrivals(upstreams)

    assert away.value.reason == "error"
    assert set(heard) == {"reservations"}


async def test_a_service_that_is_down_is_spared_for_its_tenant_and_tried_again(
    upstreams: Upstreams, simulator: PropertySimulator, world: HttpWorld
) -> None:
    assert isinstance(world.clock, ManualClock)
    await simulator.stop()
    reasons = []
    for _ in range(4):
        with pytest.raises(UpstreamAwayError) as away:
            await _arrivals(upstreams)
        reasons.append(away.value.reason)
    assert reasons[0] == "connection"
    assert reasons[-1] == "circuit_open"

    other = TenantId("tnt_01JCQ00000000000000000000B")
    with pytest.raises(UpstreamAwayError) as away:
        await _arrivals(upstreams, other)
    assert away.value.reason == "connection"
    metrics = world.system.kernel.metrics.render().decode()
    assert 'tidings_upstream_circuits_not_closed{upstream="reservations"} 1.0' in metrics

    await simulator.start()
    await world.clock.advance(timedelta(seconds=6))
    assert await _arrivals(upstreams) is not None
    metrics = world.system.kernel.metrics.render().decode()
    assert 'tidings_upstream_circuits_not_closed{upstream="reservations"} 0.0' in metrics
    assert 'tidings_upstream_calls_total{result="circuit_open",upstream="reservations"}' in metrics


async def test_one_tenant_waits_for_a_hanging_service_with_so_many_and_no_more(
    upstreams: Upstreams, simulator: PropertySimulator
) -> None:
    fault(simulator, "hang", "reservations")

    found = await asyncio.gather(
        *(_arrivals(upstreams, within=_SHORT) for _ in range(20)), return_exceptions=True
    )

    assert sorted(one.reason for one in found if isinstance(one, UpstreamAwayError)) == (
        ["busy"] * 4 + ["timeout"] * 16
    )


async def test_without_an_address_it_says_what_to_set(world: HttpWorld) -> None:
    upstreams = world.system.backoffice.parts.get(Upstreams)

    with pytest.raises(UpstreamNotConnectedError, match="TIDINGS_UPSTREAM_RESERVATIONS_URL"):
        await _arrivals(upstreams)


async def test_the_token_of_each_service_is_read_from_its_secret(
    world: HttpWorld, simulator: PropertySimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDINGS_SECRET_PROPERTY_reservations", "token-1\n")
    seen: list[str | None] = []
    handle = simulator.site.handle

    def handle_seen(request: SandboxRequest, steps: list[str]) -> SandboxResponse:
        seen.append(request.headers.get("authorization"))
        return handle(request, steps)

    monkeypatch.setattr(simulator.site, "handle", handle_seen)
    system = system_over(
        world.db,
        clock=world.clock,
        TIDINGS_UPSTREAM_URL=simulator.url,
        TIDINGS_UPSTREAM_TOKEN_REF="env://TIDINGS_SECRET_PROPERTY_{upstream}",
    )
    upstreams = system.backoffice.parts.get(Upstreams)

    await _arrivals(upstreams)
    with pytest.raises(UpstreamAwayError) as away:
        await upstreams.call("locks", "GET", "/v1/x", tenant_id=_TENANT)
    await upstreams.close()

    assert seen == ["Bearer token-1"]
    assert away.value.reason == "refused"
