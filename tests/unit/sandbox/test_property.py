"""The simulated houses: they keep the contract, follow from seed and clock, and change as days do."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from tests.support.clock import ManualClock
from tidings.backoffice.upstreams.contract.assistant import UpstreamSuggestions
from tidings.backoffice.upstreams.contract.housekeeping import Rooms, RoomSummary
from tidings.backoffice.upstreams.contract.locks import DoorKeys, LockActionResult, LockSummary
from tidings.backoffice.upstreams.contract.maintenance import Tickets, TicketSummary
from tidings.backoffice.upstreams.contract.operators import ShortcutMap, UpstreamPreferences
from tidings.backoffice.upstreams.contract.reservations import (
    OccupancySummary,
    Stay,
    Stays,
    UpstreamProperties,
)
from tidings.sandbox.faults import Faults
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse
from tidings.sandbox.property.changes import ChangeTeller
from tidings.sandbox.property.houses import HOUSES
from tidings.sandbox.property.site import PropertySite
from tidings.sandbox.property.stays import stays_around

_NOW = datetime(2026, 11, 19, 9, 0, tzinfo=UTC)
_VIEWS: list[tuple[str, Any]] = [
    ("reservations/v1/properties/{}/arrivals", Stays),
    ("reservations/v1/properties/{}/departures", Stays),
    ("reservations/v1/properties/{}/in-house", Stays),
    ("reservations/v1/properties/{}/summary", OccupancySummary),
    ("housekeeping/v1/properties/{}/rooms", Rooms),
    ("housekeeping/v1/properties/{}/summary", RoomSummary),
    ("maintenance/v1/properties/{}/tickets", Tickets),
    ("maintenance/v1/properties/{}/summary", TicketSummary),
    ("locks/v1/properties/{}/summary", LockSummary),
    ("assistant/v1/properties/{}/suggestions", UpstreamSuggestions),
]


class Asker:
    """Calls a site as the back office does."""

    def __init__(self, clock: ManualClock, seed: int = 7) -> None:
        self.site = PropertySite(clock, Faults(clock), seed=seed)

    def ask(
        self, method: str, path: str, body: Any = None, *, query: bytes = b"", **headers: str
    ) -> SandboxResponse:
        given = {"x-tenant-id": "tnt_1", **{name.replace("_", "-"): value for name, value in headers.items()}}
        request = SandboxRequest(
            method=method, path=path, query=query, headers=given, body=msgspec.json.encode(body)
        )
        return self.site.handle(request, path.split("/"))

    def read(self, kind: Any, path: str, *, query: bytes = b"", **headers: str) -> Any:
        answer = self.ask("GET", path, query=query, **headers)
        assert answer.status == 200, answer
        return msgspec.json.decode(answer.body, type=kind)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(_NOW)


@pytest.fixture
def asker(clock: ManualClock) -> Asker:
    return Asker(clock)


async def test_every_view_of_every_house_keeps_the_contract_around_the_clock(clock: ManualClock) -> None:
    asker = Asker(clock)
    for _ in range(8):
        await clock.advance(timedelta(hours=3))
        for house in HOUSES:
            for path, kind in _VIEWS:
                asker.read(kind, path.format(house.id))


def test_the_same_seed_and_moment_give_the_same_answers_and_another_seed_others(clock: ManualClock) -> None:
    path = "reservations/v1/properties/kabul-garden/arrivals"

    first, again, other = (Asker(clock, seed).ask("GET", path).body for seed in (7, 7, 8))

    assert first == again
    assert first != other


def test_there_are_three_hotels_and_a_school(asker: Asker) -> None:
    found = asker.read(UpstreamProperties, "reservations/v1/properties").properties

    assert sorted(one.kind for one in found) == ["hotel", "hotel", "hotel", "school"]


async def test_no_room_is_given_twice(clock: ManualClock) -> None:
    for house in HOUSES:
        for day in range(30):
            now = _NOW + timedelta(days=day)
            here = [s.room for s in stays_around(7, house, now.date()) if s.status(now) == "in_house"]
            assert len(here) == len(set(here)), (house.id, now)


async def test_a_day_goes_on(clock: ManualClock) -> None:
    asker = Asker(clock)
    path = "reservations/v1/properties/lagos-marina/{}"

    before = asker.read(OccupancySummary, path.format("summary"))
    await clock.advance(timedelta(hours=10))
    after = asker.read(OccupancySummary, path.format("summary"))

    assert after.arrivals_done > before.arrivals_done
    assert after.departures_done > before.departures_done


def _somebody(asker: Asker) -> Stay:
    stays: Stays = asker.read(Stays, "reservations/v1/properties/kabul-garden/in-house")
    return stays.stays[0]


def _action(asker: Asker, action: str, reservation_id: str, key: str, **more: Any) -> LockActionResult:
    body = {
        "action": action,
        "reservation_id": reservation_id,
        "operator_id": "o",
        "attestation_id": "m",
        **more,
    }
    answer = asker.ask("POST", "locks/v1/properties/kabul-garden/lock-actions", body, idempotency_key=key)
    assert answer.status == 200, answer
    return msgspec.json.decode(answer.body, type=LockActionResult)


def test_keys_are_issued_once_and_revoked(asker: Asker) -> None:
    stay = _somebody(asker)
    path = f"locks/v1/properties/kabul-garden/reservations/{stay.reservation_id}/keys"
    had = len(asker.read(DoorKeys, path).keys)

    issued = _action(asker, "issue", stay.reservation_id, "k1", credential="mobile")
    assert _action(asker, "issue", stay.reservation_id, "k1", credential="mobile") == issued
    assert len(asker.read(DoorKeys, path).keys) == had + 1

    _action(asker, "revoke", stay.reservation_id, "k2")
    assert {key.status for key in asker.read(DoorKeys, path).keys} == {"revoked"}
    assert _action(asker, "extend", stay.reservation_id, "k3").error_code == "no_key"


def test_a_lock_action_on_nobody_fails_with_a_code(asker: Asker) -> None:
    result = _action(asker, "issue", "res-kabul-101-20200101", "k")

    assert (result.outcome, result.error_code) == ("failure", "reservation_not_found")


def test_a_suggestion_is_decided_once(asker: Asker) -> None:
    path = "assistant/v1/properties/kabul-garden/suggestions"
    suggestion = asker.read(UpstreamSuggestions, path, query=b"status=open").suggestions[0]
    decision = {"outcome": "accepted", "decided_by": "opr", "decided_at": _NOW.isoformat()}

    assert asker.ask("POST", f"{path}/{suggestion.id}/decision", decision).status == 200
    assert asker.ask("POST", f"{path}/{suggestion.id}/decision", decision).status == 200
    other = {**decision, "outcome": "rejected"}
    assert asker.ask("POST", f"{path}/{suggestion.id}/decision", other).status == 409
    assert suggestion.id not in {
        one.id for one in asker.read(UpstreamSuggestions, path, query=b"status=open").suggestions
    }


def test_preferences_have_versions_and_tenants_of_their_own(asker: Asker) -> None:
    path = "operators/v1/operators/opr_1/preferences"
    body = {"preferences": {"density": "compact"}}

    assert asker.ask("PUT", path, body, if_match='"1"').status == 200
    assert asker.ask("PUT", path, body, if_match='"1"').status == 412
    assert asker.read(UpstreamPreferences, path).version == 2
    assert asker.read(UpstreamPreferences, path, x_tenant_id="tnt_2").version == 1
    assert asker.read(ShortcutMap, "operators/v1/shortcuts", query=b"theme_version=9").theme_version == "9"


async def test_changes_are_told_by_house_and_service(clock: ManualClock) -> None:
    asker = Asker(clock)
    sent: list[dict[str, Any]] = []

    async def send(events: list[dict[str, Any]]) -> int:
        sent.extend(events)
        return 202

    teller = ChangeTeller(asker.site, clock, send)
    teller.look()
    assert await teller.tell() == 0

    await clock.advance(timedelta(hours=3))
    teller.look()
    await teller.tell()
    told = {(event["type"], event["subject"]) for event in sent}
    assert ("upstream.reservations.changed", "lagos-marina") in told
    assert ("upstream.housekeeping.changed", "kabul-garden") in told

    sent.clear()
    _action(asker, "issue", _somebody(asker).reservation_id, "k1")
    await teller.tell()
    assert [(one["type"], one["subject"]) for one in sent] == [("upstream.locks.changed", "kabul-garden")]
