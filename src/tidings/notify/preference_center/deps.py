"""What the public pages need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.hot_state import Limits
from tidings.notify.facts.load import FactsLoader
from tidings.notify.recipients.choose import PreferenceChanger


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that the preference centre touches."""

    db: Database
    clock: Clock
    loader: FactsLoader
    changer: PreferenceChanger
    limits: Limits
