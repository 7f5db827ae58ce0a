"""How often to look while waiting for a notification to be done."""

from collections.abc import Iterator

_FIRST, _LONGEST, _GROWTH = 0.02, 1.0, 1.5


def looks(timeout: float) -> Iterator[float]:
    """Pauses between looks in seconds, quick at first; they end when the time is up."""
    left, pause = timeout, _FIRST
    while left > 0:
        yield min(pause, left)
        left -= pause
        pause = min(pause * _GROWTH, _LONGEST)
