"""What the tenants' use cases need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.idempotency import Idempotency
from tidings.kernel.outbox import Outbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that reading and changing tenants touches."""

    db: Database
    clock: Clock
    #: Of the schema `notification`.
    outbox: Outbox
    #: Of the schema `notification`.
    audit: AuditLog
    #: Of the schema `notification`.
    idempotency: Idempotency
    #: Told at once when this process changes a tenant.
    gate: TenantGate
