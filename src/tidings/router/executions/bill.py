"""What calls are reckoned to cost, as it is added to their tenant's days."""

from collections.abc import Iterable

from tidings.router.executions.model import Note
from tidings.router.spend.model import Spent, estimated


def spent_in(notes: Iterable[Note]) -> list[Spent]:
    """The calls of these turns that cost something."""
    return [
        estimated(
            started_at=past.started_at,
            channel=past.channel,
            vendor=past.vendor,
            currency=currency,
            micros=past.cost,
        )
        for note in notes
        if (currency := note.currency or note.live.currency) is not None
        for past in note.turn.fresh
        if past.cost and past.vendor is not None
    ]
