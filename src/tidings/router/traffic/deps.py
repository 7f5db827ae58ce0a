"""What the use cases of circuits and weights need; `bootstrap` fills it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.router.traffic.change import TrafficChanger
from tidings.router.traffic.settings import TrafficSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that circuits and weights touch."""

    db: Database
    clock: Clock
    #: Of the schema `chan`.
    audit: AuditLog
    changer: TrafficChanger
    #: By name, with the channels that each serves.
    adapters: Mapping[str, frozenset[str]]
    settings: TrafficSettings = field(default_factory=TrafficSettings)
