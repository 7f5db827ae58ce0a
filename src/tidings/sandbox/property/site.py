"""The upstream services over HTTP, under `/property/{service}/v1/…`."""

from collections import Counter, OrderedDict
from collections.abc import Callable
from itertools import count
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec

from tidings.kernel.clock import Clock
from tidings.sandbox.faults import FaultEffect, Faults
from tidings.sandbox.http_messages import HeldResponse, SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.property.houses import BY_ID, HOUSES, House
from tidings.sandbox.property.suggestions import suggestions_at
from tidings.sandbox.property.tenant_changes import TenantChanges, shortcuts
from tidings.sandbox.property.views import HouseRequest, HouseViews, problem

SERVICES: Final = ("reservations", "housekeeping", "maintenance", "locks", "assistant", "operators")
SEED: Final = 2026
_MOST_TENANTS: Final = 100
_LOCK_ACTIONS: Final = frozenset({"issue", "revoke", "rebind", "extend"})

#: Told of what was changed: the service, and the property or the operator.
Changed = Callable[[str, str], None]


class PropertySite:
    """Answers for all six services. What they say follows from seed and clock, and from what was changed here."""

    def __init__(self, clock: Clock, faults: Faults, *, seed: int = SEED) -> None:
        self._clock = clock
        self._faults = faults
        self.seed = seed
        #: Requests that came, by service and path without `/v1`.
        self.calls: Counter[str] = Counter()
        #: Called after every change.
        self.on_change: Changed | None = None
        self._tenants: OrderedDict[str, TenantChanges] = OrderedDict()
        self._numbers = count(1)

    def handle(self, request: SandboxRequest, steps: list[str]) -> SandboxResponse:
        """One request; `steps` come after `/property`."""
        service, version, rest = [*steps[:2], "", ""][0], [*steps[:2], "", ""][1], steps[2:]
        if service not in SERVICES or version != "v1":
            return problem(404, "not_found")
        self.calls[f"{service}/{'/'.join(rest)}"] += 1
        fault = self._faults.strike("property", service)
        held: HeldResponse | None = None
        if fault is not None:
            broken = _struck(fault)
            if isinstance(broken, SandboxResponse):
                return broken
            held = broken
        tenant_id = request.headers.get("x-tenant-id", "")
        if not tenant_id:
            return problem(400, "tenant_missing")
        found = self._answer(service, rest, request, self._state(tenant_id))
        number = f"prop-{next(self._numbers)}"
        headers = {"x-request-id": request.headers.get("x-request-id", number), **found.headers}
        return SandboxResponse(
            status=found.status, body=found.body, media_type=found.media_type, headers=headers, hold=held
        )

    def _state(self, tenant_id: str) -> TenantChanges:
        state = self._tenants.get(tenant_id)
        if state is None:
            state = self._tenants[tenant_id] = TenantChanges(self.seed)
            if len(self._tenants) > _MOST_TENANTS:
                self._tenants.popitem(last=False)
        return state

    def _answer(
        self, service: str, rest: list[str], request: SandboxRequest, state: TenantChanges
    ) -> SandboxResponse:
        query = {
            name: values[-1] for name, values in parse_qs(request.query.decode("ascii", "replace")).items()
        }
        match (request.method, service, *rest):
            case ("GET", "reservations", "properties"):
                return json_answer({"properties": [_shown(house) for house in HOUSES]})
            case ("GET", "operators", "shortcuts"):
                return json_answer(shortcuts(query.get("theme_version", "1")))
            case ("GET" | "PUT", "operators", "operators", operator_id, "preferences"):
                return self._preferences(request, operator_id, query.get("property_id"), state)
            case (_, _, "properties", property_id, *more):
                house = BY_ID.get(property_id)
                if house is None:
                    return problem(404, "property_not_found")
                asked = HouseRequest(house=house, service=service, rest=more, request=request, query=query)
                return self._of_house(asked, state)
        return problem(404, "not_found")

    def _of_house(self, asked: HouseRequest, state: TenantChanges) -> SandboxResponse:
        if asked.request.method == "GET":
            found = HouseViews(self.seed, self._clock.now(), asked, state).answer()
            return problem(404, "not_found") if found is None else found
        match (asked.request.method, asked.service, *asked.rest):
            case ("POST", "locks", "lock-actions"):
                return self._lock_action(asked.house, asked.request, state)
            case ("POST", "assistant", "suggestions", suggestion_id, "decision"):
                return self._decide(asked.house, suggestion_id, asked.request, state)
        return problem(404, "not_found")

    # --- what is changed here

    def _lock_action(self, house: House, request: SandboxRequest, state: TenantChanges) -> SandboxResponse:
        key = request.headers.get("idempotency-key")
        if key is None:
            return problem(400, "idempotency_key_missing")
        known = state.once(key)
        if known is not None:
            return json_answer(known)
        wanted = _object(request.body)
        if wanted.get("action") not in _LOCK_ACTIONS or not wanted.get("attestation_id"):
            return problem(422, "bad_lock_action")
        number = request.headers.get("x-request-id", f"prop-{next(self._numbers)}")
        result = state.act(house, wanted, now=self._clock.now(), request_id=number)
        state.remember(key, result)
        self._tell("locks", house.id)
        return json_answer(result)

    def _decide(
        self, house: House, suggestion_id: str, request: SandboxRequest, state: TenantChanges
    ) -> SandboxResponse:
        now = self._clock.now()
        known = {one["id"]: one for one in suggestions_at(self.seed, house, now)}.get(suggestion_id)
        if known is None:
            return problem(404, "suggestion_not_found")
        outcome = _object(request.body).get("outcome")
        if outcome not in ("accepted", "rejected", "modified"):
            return problem(422, "bad_outcome")
        before = state.decision(suggestion_id)
        if before not in (None, outcome):
            return problem(409, "already_decided")
        if before is None and known["status"] == "expired":
            return problem(409, "suggestion_expired")
        state.decide(suggestion_id, outcome)
        self._tell("assistant", house.id)
        return json_answer({"id": suggestion_id, "status": outcome})

    # --- operators

    def _preferences(
        self, request: SandboxRequest, operator_id: str, property_id: str | None, state: TenantChanges
    ) -> SandboxResponse:
        if request.method == "PUT":
            stated = request.headers.get("if-match", "").strip('"')
            content = _object(request.body).get("preferences")
            if not stated.isdecimal() or not isinstance(content, dict):
                return problem(428 if not stated else 422, "bad_preferences")
            if not state.put_preferences(operator_id, property_id, content, version=int(stated)):
                return problem(412, "stale_version")
            self._tell("operators", operator_id)
        version, content = state.preferences(operator_id, property_id)
        return json_answer(
            {
                "operator_id": operator_id,
                "property_id": property_id,
                "version": version,
                "preferences": content,
            },
            headers={"etag": f'"{version}"'},
        )

    def _tell(self, service: str, subject: str) -> None:
        if self.on_change is not None:
            self.on_change(service, subject)


def _struck(fault: FaultEffect) -> SandboxResponse | HeldResponse:
    match fault.mode:
        case "slow":
            return HeldResponse(kind="slow", seconds=fault.delay)
        case "hang":
            return SandboxResponse(hold=HeldResponse(kind="hang", seconds=fault.delay))
        case "close":
            return SandboxResponse(hold=HeldResponse(kind="close"))
        case "garbage":
            return SandboxResponse(hold=HeldResponse(kind="garbage"))
        case "throttle":
            return problem(429, "too_many_requests")
        case "wrong_schema":
            return json_answer({"stays": "none", "rooms": 7, "tickets": None, "properties": {"x": 1}})
    return problem(500, "internal")


def _shown(house: House) -> dict[str, Any]:
    return {
        "id": house.id,
        "name": house.name,
        "kind": house.kind,
        "timezone": house.timezone,
        "rooms": len(house.rooms),
    }


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return found if isinstance(found, dict) else {}
