"""What the use cases of the status map need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.db import Database
from tidings.router.status_map.change import StatusMapper
from tidings.router.status_map.reapply import Reapplier


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that the status map touches."""

    db: Database
    mapper: StatusMapper
    reapplier: Reapplier
