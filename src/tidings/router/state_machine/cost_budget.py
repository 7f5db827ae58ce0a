"""The cost budget of one execution: what its attempts may cost together, under the cap that the policy sets."""

import msgspec


class CostBudget(msgspec.Struct, frozen=True, kw_only=True):
    """In micros of the execution's currency: reserved plus spent never exceeds the cap."""

    #: None: there is no cap.
    cap: int | None = None
    #: Held for open attempts until their answers are known.
    reserved: int = 0
    spent: int = 0

    def allows(self, cost: int) -> bool:
        """Whether an attempt at this cost stays under the cap."""
        return self.cap is None or self.reserved + self.spent + cost <= self.cap
