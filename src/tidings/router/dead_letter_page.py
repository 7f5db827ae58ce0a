"""Pages of what the router has given up: events of vendors without their message, messages without their conversation."""

from dataclasses import dataclass
from datetime import datetime

from tidings.kernel.ids import time_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterPage:
    """Which dead letters of vendors a list shows, the newest first: a source of the parameters of its query."""

    vendor: str | None = None
    account_id: str | None = None
    #: Received then or later.
    since: datetime | None = None
    #: The last one of the page before.
    after_id: str | None = None
    limit: int

    @property
    def after_at(self) -> datetime | None:
        """When that one was received, as its id says."""
        return None if self.after_id is None else time_of(self.after_id)
