"""Tells whoever applies events that some were taken in."""

from typing import Final

from tidings.kernel.postgres_bus.wakeups import Wake

#: Where processes that only take in tell those that apply.
CHANNEL: Final = "tidings_callbacks"
PAYLOAD: Final = "queued"


class Bell:
    """One per process; `wake` may be one that the database's notifications set too."""

    def __init__(self, wake: Wake | None = None) -> None:
        self.wake = wake or Wake()
        #: A job of this process hears it; otherwise others have to be notified.
        self.attended = False

    def ring(self) -> None:
        """There is something to apply."""
        self.wake.set()
