"""What the use cases of spending need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.router.prices.rates import Rates


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that spending touches."""

    db: Database
    clock: Clock
    rates: Rates
