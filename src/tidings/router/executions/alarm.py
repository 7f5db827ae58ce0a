"""When somebody has to look for due ladders next; known without asking the database."""

from datetime import UTC, datetime

from tidings.kernel.postgres_bus.wakeups import Wake

_NEVER = datetime.max.replace(tzinfo=UTC)


class Alarm:
    """Set by whoever leaves a ladder waiting; heard by the job of this process."""

    def __init__(self, wake: Wake | None = None) -> None:
        """`wake` may be one that others can set too, over the database's notifications."""
        self.wake = wake or Wake()
        self._next = _NEVER

    def expect(self, at: datetime) -> None:
        """Something is due then."""
        if at < self._next:
            self._next = at
            self.wake.set()

    def look_now(self) -> None:
        """Something may be due that nobody here has heard of."""
        self.wake.set()

    def begin_look(self) -> None:
        """From here on every `expect` counts, because the look may miss it."""
        self.wake.clear()
        self._next = _NEVER

    def seconds_left(self, found: datetime | None, *, now: datetime, longest: float) -> float:
        """How long may be slept after a look that found this to be due next."""
        if found is not None and found < self._next:
            self._next = found
        if self._next is _NEVER:
            return longest
        return max(0.0, min((self._next - now).total_seconds(), longest))
