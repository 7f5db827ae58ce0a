"""What reading executions needs; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that reading executions touches."""

    db: Database
    clock: Clock
