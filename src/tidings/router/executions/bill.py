"""What calls are reckoned to cost, as it is added to their tenant's days."""

from collections.abc import Iterable

from tidings.router.executions.model import ExecutionChange
from tidings.router.spend.model import SpendEntry, estimated


def spent_in(changes: Iterable[ExecutionChange]) -> list[SpendEntry]:
    """The calls of these turns that cost something."""
    return [
        estimated(
            started_at=attempt.started_at,
            channel=attempt.channel,
            vendor=attempt.vendor,
            currency=currency,
            micros=attempt.cost,
        )
        for change in changes
        if (currency := change.currency or change.execution.currency) is not None
        for attempt in change.transition.new_attempts
        if attempt.cost and attempt.vendor is not None
    ]
