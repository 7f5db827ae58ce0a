"""What reading the audit needs; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.audit.log import AuditLog
from tidings.kernel.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that reading the audit touches."""

    db: Database
    #: Of the schema `chan`.
    audit: AuditLog
