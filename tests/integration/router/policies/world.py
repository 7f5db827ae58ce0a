"""The application with policies, over a test's database."""

from dataclasses import dataclass
from typing import Any

import httpx2

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld, http_world
from tests.support.system import now_clock
from tidings.kernel.db import Database

HOME = "/api/v1/router/policies"
AUDIT = "/api/v1/router/audit"

OTP: dict[str, Any] = {
    "use_case": "otp",
    "ladder": [
        {"channel": "whatsapp", "deadline_seconds": 20, "conditions": {"reachable": "not_known_no"}},
        {"channel": "sms", "deadline_seconds": 30, "retry_budget": 1},
        {"channel": "email", "deadline_seconds": 60, "success": "accepted"},
    ],
    "cost_cap_micros": 150_000,
    "description": "Codes: WhatsApp, then SMS, then mail.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyWorld:
    """The application and its clock."""

    http: HttpWorld
    clock: ManualClock


def policy_world(db: Database) -> PolicyWorld:
    """One whose clock stands until it is moved."""
    clock = now_clock()
    return PolicyWorld(http=http_world(db, clock=clock), clock=clock)


async def made(client: httpx2.AsyncClient, **more: Any) -> dict[str, Any]:
    """A new policy."""
    answer = await client.post(HOME, json={**OTP, **more})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def wish(policy: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What a PUT sends back after a change."""
    named = (
        "ladder", "strategy", "order", "value_of_a_second", "cost_cap_micros", "cost_cap_currency", "session_ttl_seconds",
        "stop_keywords", "description",
    )  # fmt: skip
    return {**{name: policy[name] for name in named}, **more}
