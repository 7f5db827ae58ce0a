"""What a look at accounts needs; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.db import Database
from tidings.kernel.hot_state import Limits
from tidings.router.channel_configs.check import AccountChecker


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that a look touches."""

    db: Database
    checker: AccountChecker
    limits: Limits
