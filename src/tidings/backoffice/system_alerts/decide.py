"""Which alerts begin and end with what a source sees; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from tidings.backoffice.alerts.model import NewAlert
from tidings.backoffice.system_alerts.store import OpenAlert
from tidings.contracts.conditions import Condition
from tidings.kernel.ids import TenantId

#: An open alert whose cause goes on is seen again so often: its facts are as old as that at most.
SEEN_AGAIN: Final = timedelta(minutes=5)
#: So many looks in a row have to find nothing before an alert ends: what flaps is one alert.
LOOKS_TO_END: Final = 3
#: So many tenants are written to after one look; the rest after the next.
MOST_TENANTS: Final = 200
_GRAVITY: Final = {"info": 0, "warning": 1, "critical": 2}

#: Whose alert, and which.
Key = tuple[TenantId | None, str]


@dataclass(slots=True)
class AlertMemory:
    """What one process has seen of one source: how often in a row, and how often not."""

    seen: dict[Key, int] = field(default_factory=dict)
    missed: dict[Key, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AlertDecision:
    """What is to be written for one tenant, or for the platform."""

    to_raise: Sequence[NewAlert]
    to_end: Sequence[str]


def decide(
    source: str,
    conditions: Sequence[Condition],
    known: Sequence[OpenAlert],
    memory: AlertMemory,
    *,
    now: datetime,
) -> Mapping[TenantId | None, AlertDecision]:
    """What follows from one look, by tenant; `memory` learns from it."""
    is_open = {(one.tenant_id, one.dedup_key): one for one in known}
    holding = {(one.tenant_id, one.dedup_key): one for one in conditions}
    memory.seen = {key: memory.seen.get(key, 0) + 1 for key, one in holding.items() if not one.is_fading}
    memory.missed = {key: memory.missed.get(key, 0) + 1 for key in is_open if key not in holding}
    begins = [
        key for key, one in holding.items() if _is_told(one, is_open.get(key), memory.seen.get(key, 0), now)
    ]
    ends = [key for key, looks in memory.missed.items() if looks >= LOOKS_TO_END]
    tenants = list(dict.fromkeys(tenant_id for tenant_id, _ in [*begins, *ends]))[:MOST_TENANTS]
    return {
        tenant_id: AlertDecision(
            to_raise=[_alert(source, holding[key]) for key in begins if key[0] == tenant_id],
            to_end=[key[1] for key in ends if key[0] == tenant_id],
        )
        for tenant_id in tenants
    }


def _is_told(condition: Condition, known: OpenAlert | None, looks: int, now: datetime) -> bool:
    if known is None:
        return not condition.is_fading and looks >= condition.after_looks
    if _GRAVITY[condition.severity] > _GRAVITY[known.severity]:
        return True
    return now - known.last_seen_at >= SEEN_AGAIN


def _alert(source: str, condition: Condition) -> NewAlert:
    return NewAlert(
        dedup_key=condition.dedup_key,
        category=condition.category,
        severity=condition.severity,
        property_id=None,
        source=source,
        facts=condition.facts,
    )
