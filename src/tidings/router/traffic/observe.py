"""What is measured of circuits and weights."""

from collections.abc import Sequence

from tidings.router.traffic.traffic_state import AccountCircuit


class TrafficObserver:
    """Observes circuits and weights, for the metrics; a subclass overrides what it counts."""

    def circuits(self, barred: Sequence[AccountCircuit]) -> None:
        """All circuits that are not closed, at every look."""

    def changed(self, vendor: str, state: str) -> None:
        """This process has changed a circuit."""

    def moved(self, channel: str, frm: str, to: str, points: int) -> None:
        """This process has moved points between vendors."""
