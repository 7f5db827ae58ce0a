"""What the categories' use cases need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.idempotency import Idempotency
from tidings.notify.categories.registry import Categories


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that reading and changing categories touches."""

    db: Database
    clock: Clock
    #: Of the schema `notification`.
    audit: AuditLog
    #: Of the schema `notification`.
    idempotency: Idempotency
    #: Told at once when this process changes a category.
    categories: Categories
