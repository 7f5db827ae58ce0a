"""What happened in a simulation, event by event, in sentences; written down only for a seed that failed."""

from datetime import datetime


class Story:
    """Nothing is written while it is off: telling costs more than happening."""

    def __init__(self, *, on: bool = False) -> None:
        self.on = on
        self.begin: datetime | None = None
        self._lines: list[str] = []
        self._names: dict[str, str] = {}

    def tell(self, at: datetime, sentence: str) -> None:
        """One event."""
        if self.on:
            self.begin = self.begin or at
            self._lines.append(f"{_since(self.begin, at)}  {sentence}")

    def call(self, attempt_id: str) -> str:
        """A short name for a call, in the order in which they were first spoken of."""
        return self._names.setdefault(attempt_id, f"call {len(self._names) + 1}")

    def __str__(self) -> str:
        return "\n".join(self._lines)


def _since(begin: datetime, at: datetime) -> str:
    seconds = (at - begin).total_seconds()
    hours, rest = divmod(seconds, 3600)
    minutes, rest = divmod(rest, 60)
    return f"{int(hours):3d}:{int(minutes):02d}:{rest:06.3f}"
