"""What is told about callbacks, for the metrics."""


class CallbackObserver:
    """Observes callbacks, for the metrics; a subclass overrides what it counts."""

    def received(self, vendor: str, count: int, repeated: int) -> None:
        """So many new events were taken in, and so many that were known."""

    def refused(self, vendor: str, code: str) -> None:
        """A request was refused: `unknown`, `unsigned`, `malformed`, `stale`, `mismatch`, `unreadable`."""

    def applied(self, count: int, seconds: float) -> None:
        """So many found their attempts; the oldest had waited so long."""

    def late(self, count: int) -> None:
        """So many did not, and wait."""

    def died(self, count: int) -> None:
        """So many have waited long enough."""

    def waiting(self, seconds: float) -> None:
        """How long the oldest that was never looked at has waited; 0 where there is none."""

    def failed(self, part: str) -> None:
        """Something of ours went wrong and will be tried again."""
