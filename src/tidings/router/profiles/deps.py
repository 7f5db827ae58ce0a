"""What the profiles' routes need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.contracts.profiles import KnownRecipients
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that profiles touch."""

    db: Database
    clock: Clock
    recipients: KnownRecipients
    #: Of the schema `chan`.
    audit: AuditLog
