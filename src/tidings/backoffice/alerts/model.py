"""What an alert is, and what somebody says who raises one."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias

import msgspec

from tidings.backoffice.ids import AlertId
from tidings.contracts.backoffice import AlertSeverity
from tidings.kernel.ids import TenantId

AlertStatus: TypeAlias = Literal["raised", "acknowledged", "resolved"]
#: Ids and numbers, by name: of these and the category the text is made that people read.
Facts: TypeAlias = Mapping[str, str | int]

_NAME: Final = re.compile(r"[a-z][a-z0-9_.]{0,63}")
#: An id, a code, a key: nothing that could be a name, an address or a sentence.
_FACT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/+-]{0,127}")
_KEY: Final = re.compile(r"\S{1,200}")
_MOST_FACTS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAlert:
    """Something that operators have to know of. A `ValueError` where a fact is neither an id nor a number."""

    #: What is the same alert as long as it is open, such as `device_offline:dvc_…`.
    dedup_key: str
    #: What it is, such as `device_offline`; the page of alerts has its text.
    category: str
    severity: AlertSeverity
    #: Where it is about one property.
    property_id: str | None
    #: The part of Tidings that raises it.
    source: str
    facts: Facts = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (_NAME.fullmatch(self.category) and _NAME.fullmatch(self.source)):
            raise ValueError("category and source are lower-case names")
        if _KEY.fullmatch(self.dedup_key) is None:
            raise ValueError("dedup_key is a text without spaces, 200 characters at most")
        if len(self.facts) > _MOST_FACTS:
            raise ValueError(f"{_MOST_FACTS} facts at most")
        for name, value in self.facts.items():
            if not (_NAME.fullmatch(name) and (isinstance(value, int) or _FACT.fullmatch(value))):
                raise ValueError(f"the fact {name!r} is neither an id nor a number")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """An alert as it is kept."""

    id: AlertId
    #: None: the platform's own.
    tenant_id: TenantId | None
    dedup_key: str
    category: str
    severity: AlertSeverity
    property_id: str | None
    source: str
    facts: Facts
    status: AlertStatus
    raised_at: datetime
    last_seen_at: datetime
    #: How often it was raised while it was open.
    times_seen: int
    acknowledged_at: datetime | None
    resolved_at: datetime | None
    #: An operator, or the part of Tidings that saw the end.
    resolved_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """An operator looks after an alert."""

    alert_id: AlertId
    operator_id: str
    acknowledged_at: datetime
    device_id: str
    #: What they wrote stands in the notes, sealed.
    note_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertFilter:
    """Which alerts are wanted."""

    with_open: bool = True
    with_resolved: bool = False
    severity: AlertSeverity | None = None
    category: str | None = None
    property_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCount:
    """How many open alerts there are of one kind, in one place."""

    property_id: str | None
    category: str
    severity: AlertSeverity
    status: AlertStatus
    alerts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mute:
    """A category of which nobody is told for a time."""

    category: str
    muted_until: datetime
    muted_by: str
    muted_at: datetime


def facts_of(text: str) -> Facts:
    """The facts of a row."""
    return msgspec.json.decode(text, type=dict[str, str | int])


def once_each(alerts: Iterable[NewAlert]) -> list[NewAlert]:
    """One alert for each key, the last one said, in the order in which their rows are locked."""
    return [alert for _, alert in sorted({alert.dedup_key: alert for alert in alerts}.items())]
