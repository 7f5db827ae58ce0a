"""What branding needs; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that reading and changing branding touches."""

    db: Database
    clock: Clock
    #: Of the schema `notification`.
    audit: AuditLog
