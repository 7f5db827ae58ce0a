"""What a service says of itself that operators should know of: conditions that hold now, and figures of how it is.

The back office makes alerts of them; it reads no table of another service.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, Protocol

from tidings.contracts.backoffice import AlertSeverity
from tidings.kernel.ids import TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Something is so, and an alert stands for it as long as it is."""

    category: str
    #: What it is about, within its category: an account, a channel, a table.
    about: str
    severity: AlertSeverity
    #: None: the platform's concern.
    tenant_id: TenantId | None
    #: Ids and numbers.
    facts: Mapping[str, str | int] = field(default_factory=dict)
    #: Better than what raises an alert, and not yet good enough to end one.
    is_fading: bool = False
    #: So many looks in a row have to see it before it is told.
    after_looks: int = 1

    @property
    def dedup_key(self) -> str:
        """What is the same alert as long as it lasts."""
        return f"{self.category}:{self.about}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number of how a part is, for the page of the platform's health."""

    #: `outbox_seconds`, `queue_depth`.
    name: str
    value: int
    #: Of what, where there are several: a schema, an account.
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look found."""

    conditions: Sequence[Condition] = ()
    figures: Sequence[Figure] = ()


class ConditionSource(Protocol):
    """A part that looks at itself, by cheap statements that are bounded."""

    @property
    def name(self) -> str:
        """Whose alerts these are: what this source does not say any more is over."""
        ...

    @property
    def every(self) -> timedelta:
        """How often it is worth a look."""
        ...

    async def look(self) -> Look:
        """How it is now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LateTurn:
    """A job whose turn is overdue."""

    job: str
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessHealth:
    """A process of this installation, as it last reported."""

    id: str
    #: `api`, `jobs`, or both with a plus between.
    role: str
    services: str
    version: str
    host: str
    pid: int
    #: `running`, `stopped` in order, or `gone` without a word.
    state: Literal["running", "stopped", "gone"]
    started_at: datetime
    seen_at: datetime
    jobs: int
    late_jobs: Sequence[LateTurn]


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """How the installation is now."""

    looked_at: datetime
    processes: Sequence[ProcessHealth]
    figures: Sequence[Figure]
    #: What is wrong, tenants' matters too.
    conditions: Sequence[Condition]
    #: Sources that could not look.
    blind: Sequence[str]


class SystemHealth(Protocol):
    """Looks at all parts at once."""

    async def report(self) -> HealthReport:
        """How they are; a few seconds old at most."""
        ...
