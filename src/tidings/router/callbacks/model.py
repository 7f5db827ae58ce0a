"""What is told about callbacks, for the metrics."""

from typing import Protocol


class CallbackObserver(Protocol):
    """Hears how callbacks fare, for the metrics."""

    def received(self, vendor: str, count: int, repeated: int) -> None:
        """So many new events were taken in, and so many that were known."""
        ...

    def refused(self, vendor: str, code: str) -> None:
        """A request was refused: `unknown`, `unsigned`, `malformed`, `stale`, `mismatch`, `unreadable`."""
        ...

    def applied(self, count: int, seconds: float) -> None:
        """So many found their attempts; the oldest had waited so long."""
        ...

    def late(self, count: int) -> None:
        """So many did not, and wait."""
        ...

    def died(self, count: int) -> None:
        """So many have waited long enough."""
        ...

    def waiting(self, seconds: float) -> None:
        """How long the oldest that was never looked at has waited; 0 where there is none."""
        ...

    def failed(self, part: str) -> None:
        """Something of ours went wrong and will be tried again."""
        ...


class UnobservedCallbacks:
    """Hears nothing."""

    def received(self, vendor: str, count: int, repeated: int) -> None:
        """Nobody counts."""

    def refused(self, vendor: str, code: str) -> None:
        """Nobody counts."""

    def applied(self, count: int, seconds: float) -> None:
        """Nobody counts."""

    def late(self, count: int) -> None:
        """Nobody counts."""

    def died(self, count: int) -> None:
        """Nobody counts."""

    def waiting(self, seconds: float) -> None:
        """Nobody counts."""

    def failed(self, part: str) -> None:
        """Nobody counts."""
