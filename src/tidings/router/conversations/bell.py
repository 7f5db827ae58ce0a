"""Tells whoever takes inbound messages on that some came, and whoever sends from here that something is to be sent."""

from typing import Final

from tidings.kernel.postgres_bus.wakeups import Wake

#: Where processes that only take in tell those that go on with it.
CHANNEL: Final = "tidings_conversations"
PAYLOAD: Final = "queued"


class Bell:
    """One per process; `wake` may be one that the database's notifications set too."""

    def __init__(self, wake: Wake | None = None) -> None:
        self.wake = wake or Wake()
        #: Those who send from here: confirmations, webhook calls.
        self.replies = Wake()
        self.deliveries = Wake()
        #: A job of this process hears it; otherwise others have to be notified.
        self.attended = False

    def ring(self) -> None:
        """There is something to take on."""
        self.wake.set()
