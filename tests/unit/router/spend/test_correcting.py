"""What is added when a vendor says what it takes."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from tidings.router.prices.rates import Rates
from tidings.router.spend.correct_spend import corrections
from tidings.router.spend.model import SpendEntry, SpendSum, UnpricedCalls, day_of, estimated, gathered
from tidings.router.spend.store import Price, Priced
from tidings.router.spend.wire import ConvertedView, SpendView

DAY = date(2026, 11, 15)
AT = datetime(2026, 11, 15, 23, 59, tzinfo=UTC)


def usd(micros: int) -> Price:
    return Price(micros=micros, currency="USD")


def eur(micros: int) -> Price:
    return Price(micros=micros, currency="EUR")


def added(
    estimate: Price | None, before: Price | None, after: Price | None
) -> dict[str, tuple[int, int, int, int]]:
    """By currency: messages, estimated, real, corrected."""
    priced = Priced(
        attempt_id="attempt_x",
        started_at=AT,
        channel="sms",
        vendor="http",
        estimate=estimate,
        before=before,
        after=after,
    )
    rows = gathered(corrections(priced))
    assert {(row.day, row.channel, row.vendor) for row in rows} <= {(DAY, "sms", "http")}
    return {row.currency: (row.messages, row.estimated, row.real, row.corrected) for row in rows}


@pytest.mark.parametrize(
    ("estimate", "before", "after", "adds"),
    [
        (usd(100), None, usd(130), {"USD": (0, 0, 30, 1)}),
        (usd(100), None, usd(100), {"USD": (0, 0, 0, 1)}),
        (usd(100), usd(130), usd(130), {}),
        (usd(100), usd(130), usd(90), {"USD": (0, 0, -40, 0)}),
        # Not known to cost anything: it was not counted before.
        (None, None, usd(50), {"USD": (1, 0, 50, 1)}),
        (None, usd(50), usd(60), {"USD": (0, 0, 10, 0)}),
        # Another currency than the price list's.
        (usd(100), None, eur(70), {"USD": (0, 0, -100, 0), "EUR": (0, 0, 70, 1)}),
        (usd(100), eur(70), eur(80), {"EUR": (0, 0, 10, 0)}),
        (usd(100), None, None, {}),
    ],
)
def test_the_difference_is_added_once(
    estimate: Price | None,
    before: Price | None,
    after: Price | None,
    adds: dict[str, tuple[int, int, int, int]],
) -> None:
    assert added(estimate, before, after) == adds


def test_a_set_is_one_row_for_each_day_channel_vendor_and_currency() -> None:
    def one(micros: int, *, at: datetime = AT, vendor: str = "http") -> SpendEntry:
        return estimated(started_at=at, channel="sms", vendor=vendor, currency="USD", micros=micros)

    rows = gathered([one(5), one(7), one(1, vendor="a"), one(2, at=AT + timedelta(minutes=1))])

    assert [(row.day, row.vendor, row.messages, row.estimated, row.real) for row in rows] == [
        (DAY, "a", 1, 1, 1),
        (DAY, "http", 2, 12, 12),
        (DAY + timedelta(days=1), "http", 1, 2, 2),
    ]


def test_a_day_is_one_of_utc() -> None:
    assert day_of(datetime(2026, 11, 16, 1, 0, tzinfo=timezone(timedelta(hours=4, minutes=30)))) == DAY


@pytest.mark.parametrize(
    ("rates", "converted"),
    [
        (
            "USD EUR=0.5",
            ConvertedView(currency="USD", estimated_micros=100 + 200, real_micros=110 + 240),
        ),
        ("USD", None),
    ],
)
def test_currencies_stay_apart_and_are_put_together_where_rates_are_known(
    rates: str, converted: ConvertedView | None
) -> None:
    sums = [
        SpendSum(part="sms", currency="EUR", messages=2, estimated=100, real=120, corrected=1),
        SpendSum(part="sms", currency="USD", messages=1, estimated=60, real=70, corrected=1),
        SpendSum(part="voice", currency="USD", messages=1, estimated=40, real=40, corrected=0),
    ]

    unpriced = [UnpricedCalls(part="email", messages=20), UnpricedCalls(part="push", messages=3)]

    view = SpendView.of(sums, unpriced, since=DAY, until=DAY, by="channel", rates=Rates.read(rates))

    assert [(one.currency, one.messages, one.real_micros) for one in view.totals] == [
        ("EUR", 2, 120),
        ("USD", 2, 110),
    ]
    assert view.converted == converted
    assert (view.unpriced.messages, view.unpriced.more) == (23, False)
