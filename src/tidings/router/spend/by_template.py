"""The use case "what did each template cost": by the executions of its messages, which notify knows the templates of."""

from collections.abc import Mapping, Sequence
from typing import Final

from tidings.router.spend.model import SpendSum
from tidings.router.spend.store import Price

#: Messages that are read for one answer.
MOST_MESSAGES: Final = 10_000
#: Where the notification is gone.
UNKNOWN: Final = "?"


def sums_by_template(costs: Sequence[tuple[str, Price]], keys: Mapping[str, str]) -> list[SpendSum]:
    """One for each template and currency, in their order; what it cost when it was sent is all that is known."""
    found: dict[tuple[str, str], list[int]] = {}
    for notification_id, price in costs:
        part = found.setdefault((keys.get(notification_id, UNKNOWN), price.currency), [0, 0])
        part[0] += 1
        part[1] += price.micros
    return [
        SpendSum(part=key, currency=currency, messages=messages, estimated=micros, real=micros, corrected=0)
        for (key, currency), (messages, micros) in sorted(found.items())
    ]
