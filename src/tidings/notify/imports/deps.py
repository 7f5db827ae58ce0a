"""What the imports' use cases need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.outbox import Outbox
from tidings.notify.categories.registry import Categories
from tidings.notify.imports.engine import Importer
from tidings.notify.recipients.upsert import RecipientUpserter
from tidings.notify.suppressions.suppress import Suppressor


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that imports touch."""

    db: Database
    clock: Clock
    importer: Importer
    suppressor: Suppressor
    upserter: RecipientUpserter
    categories: Categories
    #: Of the schema `notification`.
    outbox: Outbox
