"""What an adapter learns of a set, told on as soon as it is known."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tidings.contracts.messages import Outcome

#: Is told the place of a message in its set, and what became of it.
OnOutcome: TypeAlias = Callable[[int, Outcome], None]


class LearnedOutcomes(list[Outcome]):
    """The `learned` list of `Adapter.send`: the listener hears of each outcome when the adapter puts it in its place.

    What is put in as a slice is a beginning or an end, and no news.
    """

    def __init__(self, outcomes: Sequence[Outcome], on_outcome: OnOutcome) -> None:
        super().__init__(outcomes)
        self._on_outcome = on_outcome
        self._told: list[Outcome | None] = [None] * len(outcomes)

    def __setitem__(self, place: Any, outcome: Any) -> None:
        super().__setitem__(place, outcome)
        if isinstance(place, int):
            self.tell(place, outcome)

    def tell(self, place: int, outcome: Outcome) -> None:
        """Told once, where it is the same."""
        if self._told[place] is not outcome:
            self._told[place] = outcome
            self._on_outcome(place, outcome)
