"""What templates cost: summed by their keys, each currency for itself."""

from tidings.router.spend.by_template import sums_by_template
from tidings.router.spend.store import Price


def test_messages_are_summed_by_template_and_currency() -> None:
    costs = [
        ("n1", Price(micros=10, currency="USD")),
        ("n2", Price(micros=5, currency="USD")),
        ("n3", Price(micros=7, currency="EUR")),
        ("gone", Price(micros=1, currency="USD")),
    ]
    sums = sums_by_template(costs, {"n1": "otp", "n2": "otp", "n3": "otp"})

    assert [(one.part, one.currency, one.messages, one.real) for one in sums] == [
        ("?", "USD", 1, 1),
        ("otp", "EUR", 1, 7),
        ("otp", "USD", 2, 15),
    ]
