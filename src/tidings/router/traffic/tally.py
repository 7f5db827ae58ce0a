"""What a process has observed and not yet told the others."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

#: The era of calls that were begun before their circuit opened: they count for no circuit.
LATE: Final = -1


@dataclass(frozen=True, slots=True)
class Observed:
    """Calls of one account to one country, answered under one version of its circuit."""

    account_id: str
    prefix: str
    era: int
    ok: int
    failed: int
    slow: int
    seconds: float


class AnswerTally:
    """Sums, by account, country and era."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str, int], list[float]] = {}

    def add(
        self, account_id: str, prefix: str, era: int, *, ok: int, failed: int, slow: bool, seconds: float
    ) -> None:
        """So many calls were answered, or were not, all of them in this time."""
        key = (account_id, prefix, era)
        sums = self._sums.get(key)
        if sums is None:
            sums = self._sums[key] = [0, 0, 0, 0.0]
        sums[0] += ok
        sums[1] += failed
        if slow:
            sums[2] += ok + failed
        sums[3] += seconds

    def take(self) -> list[Observed]:
        """All of it; it begins anew."""
        sums, self._sums = self._sums, {}
        return [
            Observed(account, prefix, era, int(ok), int(failed), int(slow), seconds)
            for (account, prefix, era), (ok, failed, slow, seconds) in sums.items()
        ]

    def give_back(self, observed: Iterable[Observed]) -> None:
        """What could not be told stays."""
        for one in observed:
            key = (one.account_id, one.prefix, one.era)
            sums = self._sums.setdefault(key, [0, 0, 0, 0.0])
            for at, more in enumerate((one.ok, one.failed, one.slow, one.seconds)):
                sums[at] += more
