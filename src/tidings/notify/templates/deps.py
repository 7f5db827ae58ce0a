"""What the templates' use cases need; `bootstrap` fills it."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidings.contracts.prices import PriceList
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.idempotency import Idempotency
from tidings.kernel.outbox import Outbox
from tidings.notify.facts.load import FactsLoader
from tidings.notify.templates.authoring import Authoring
from tidings.notify.templates.resolve import TemplateResolver


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that drafting, publishing and showing templates touch."""

    db: Database
    clock: Clock
    #: Of the schema `notification`.
    outbox: Outbox
    #: Of the schema `notification`.
    audit: AuditLog
    #: Of the schema `notification`.
    idempotency: Idempotency
    #: Reads, compiles and tries what tenants write, in child processes.
    engine: Authoring
    #: Told at once when this process publishes.
    templates: TemplateResolver
    #: Reads recipients, for previews.
    facts: FactsLoader
    #: What the router knows of prices; previews show none where it is None.
    prices: PriceList | None = None
    #: Hosts of our own addresses, for links and assets.
    own_hosts: Sequence[str] = ()
