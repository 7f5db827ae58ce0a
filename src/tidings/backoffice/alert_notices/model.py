"""Who wants to be told of what, and of which alerts somebody is told now; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from tidings.backoffice.alerts.model import Alert
from tidings.backoffice.ids import OperatorId
from tidings.backoffice.properties.access import PropertyReach
from tidings.contracts.backoffice import AlertSeverity
from tidings.kernel.ids import TenantId

#: An alert is told when it has lasted so long: what is over at once disturbs nobody.
SETTLES: Final = timedelta(seconds=30)
#: Who was told of an alert that nobody looks after hears of it again.
REMINDS: Final = timedelta(hours=24)
#: What comes back within that time is the same outage.
COOLS: Final = timedelta(hours=1)
GRAVITY: Final[Mapping[str, int]] = {"info": 0, "warning": 1, "critical": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSubscription:
    """An operator who wants to be told."""

    operator_id: OperatorId
    #: None: of the platform.
    tenant_id: TenantId | None
    #: This severity and graver ones.
    severity: AlertSeverity
    language: str
    phone_ciphertext: bytes | None = field(repr=False, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldAlert:
    """What an operator was told of last under a key."""

    operator_id: OperatorId
    dedup_key: str
    alert_id: str
    told_at: datetime
    times: int


def to_tell(
    alerts: Sequence[Alert],
    told: Mapping[str, ToldAlert],
    *,
    severity: AlertSeverity,
    reach: PropertyReach,
    now: datetime,
) -> list[Alert]:
    """Of which of these open alerts an operator is to be told, the gravest first; `told` is by dedup key."""
    due = [
        alert
        for alert in alerts
        if GRAVITY[alert.severity] >= GRAVITY[severity]
        and reach.holds(alert.property_id)
        and _is_due(alert, told.get(alert.dedup_key), now)
    ]
    return sorted(due, key=lambda alert: (-GRAVITY[alert.severity], alert.raised_at))


def _is_due(alert: Alert, last: ToldAlert | None, now: datetime) -> bool:
    if last is None:
        return now - alert.raised_at >= SETTLES
    wait = REMINDS if last.alert_id == alert.id else COOLS
    return now - last.told_at >= wait and now - alert.raised_at >= SETTLES
