"""What the public pages need; `bootstrap` fills it."""

from dataclasses import dataclass, field

from tidings.contracts.profiles import MailboxNews
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.hot_state import Limits
from tidings.kernel.keys.pepper import Pepper
from tidings.notify.facts.load import FactsLoader
from tidings.notify.preference_center.tokens import no_address
from tidings.notify.recipients.change_preferences import PreferenceChanger
from tidings.notify.refusals.refuse import Refuser


class Places:
    """Where visitors come from: known by a hash only, under a pepper that never leaves us and never changes."""

    def __init__(self) -> None:
        self._pepper: Pepper | None = None

    async def name(self, loader: FactsLoader, came_from: str) -> str:
        """How a place is called; the database is asked the first time only."""
        if self._pepper is None:
            self._pepper = (await loader.shared()).platform_pepper
        return self._pepper.hash(no_address(f"visitor:{came_from}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that the preference centre touches."""

    db: Database
    clock: Clock
    loader: FactsLoader
    changer: PreferenceChanger
    refuser: Refuser
    mailboxes: MailboxNews
    limits: Limits
    places: Places = field(default_factory=Places)
