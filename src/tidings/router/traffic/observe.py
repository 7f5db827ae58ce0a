"""What is measured of circuits and weights."""

from collections.abc import Sequence
from typing import Final, Protocol

from tidings.router.traffic.traffic_state import AccountCircuit


class TrafficObserver(Protocol):
    """Hears what changes; metrics listen here."""

    def circuits(self, barred: Sequence[AccountCircuit]) -> None:
        """All circuits that are not closed, at every look."""
        ...

    def changed(self, vendor: str, state: str) -> None:
        """This process has changed a circuit."""
        ...

    def moved(self, channel: str, frm: str, to: str, points: int) -> None:
        """This process has moved points between vendors."""
        ...


class _Nobody:
    def circuits(self, barred: Sequence[AccountCircuit]) -> None:
        """Nobody listens."""

    def changed(self, vendor: str, state: str) -> None:
        """Nobody listens."""

    def moved(self, channel: str, frm: str, to: str, points: int) -> None:
        """Nobody listens."""


NO_OBSERVER: Final[TrafficObserver] = _Nobody()
