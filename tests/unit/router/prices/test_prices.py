"""What a message costs: by message, segment and minute, by the longest prefix; and in another currency."""

from dataclasses import replace
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.vendors import MESSAGE
from tidings.kernel.errors import BadValueError
from tidings.router.prices.model import PrefixPrice, PriceModel, prices_text, read_prices
from tidings.router.prices.price import price_of, price_of_text
from tidings.router.prices.rates import Rates

SMS = replace(MESSAGE, channel="sms", to="+93700000001", text="x" * 161)
MODEL = PriceModel(
    currency="USD",
    base_micros=100,
    per_segment_micros=7_500,
    per_minute_micros=20_000,
    by_prefix={
        "+93": PrefixPrice(per_segment_micros=90_000),
        "+9370": PrefixPrice(base_micros=0, per_segment_micros=80_000),
        "+1": PrefixPrice(base_micros=5),
    },
)


def test_what_nobody_priced_costs_nothing() -> None:
    assert price_of(None, SMS) == 0


@pytest.mark.parametrize(
    ("to", "text", "micros"),
    [
        ("+4915100000001", "x" * 160, 100 + 7_500),
        ("+4915100000001", "x" * 161, 100 + 2 * 7_500),
        ("+4915100000001", "س" * 71, 100 + 2 * 7_500),
        ("+93800000001", "hello", 100 + 90_000),
        ("+93700000001", "hello", 80_000),
        ("+12025550100", "hello", 5 + 7_500),
        ("+4915100000001", None, 100 + 7_500),
    ],
)
def test_an_sms_by_segments_and_the_longest_prefix(to: str, text: str | None, micros: int) -> None:
    assert price_of(MODEL, replace(SMS, to=to, text=text)) == micros


def test_a_call_by_the_minute_and_anything_else_by_the_message() -> None:
    call = replace(SMS, channel="voice", to="+4915100000001", text="Your code is 1 2 3 4 5 6")
    assert price_of(MODEL, call) == 100 + 20_000
    assert price_of(MODEL, replace(call, text="x" * 400)) == 100 + 2 * 20_000
    assert price_of(MODEL, replace(call, channel="whatsapp")) == 100
    assert price_of(MODEL, MESSAGE) == 100


def test_the_price_of_a_text_for_nobody_in_particular() -> None:
    assert price_of_text(MODEL, "sms", to="", text="hello") == 7_600


def test_a_model_is_stored_and_read_again() -> None:
    assert read_prices(prices_text(MODEL)) == MODEL
    assert read_prices(prices_text(None)) is None
    assert read_prices("{}") is None


def test_one_that_cannot_be_read_is_no_price_and_no_failure() -> None:
    assert read_prices('{"currency": "USD", "unknown": 1}') is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"currency": "usd"},
        {"currency": "USD", "base_micros": -1},
        {"currency": "USD", "by_prefix": {"93": {}}},
        {"currency": "USD", "by_prefix": {"+93": {"currency": "EUR"}}},
        {},
    ],
)
def test_wrong_models_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, PriceModel)


RATES = Rates.read("USD EUR=0.92, AFN=70.5")


def test_amounts_in_other_currencies_are_rounded_up() -> None:
    assert RATES.convert(1_000_000, "USD", "EUR") == 920_000
    assert RATES.convert(1, "USD", "EUR") == 1
    assert RATES.convert(920_000, "EUR", "USD") == 1_000_000
    assert RATES.convert(1_000_000, "EUR", "AFN") == -(-70_500_000 * 100 // 92)
    assert RATES.convert(5, "NGN", "NGN") == 5
    assert RATES.convert(0, "NGN", "USD") == 0


def test_an_unknown_currency_is_no_amount() -> None:
    assert RATES.convert(5, "NGN", "USD") is None
    assert RATES.convert(5, "USD", "NGN") is None


@given(st.integers(0, 10**12), st.sampled_from(RATES.currencies), st.sampled_from(RATES.currencies))
def test_there_and_back_never_loses_anything(micros: int, frm: str, to: str) -> None:
    there = RATES.convert(micros, frm, to)
    assert there is not None
    back = RATES.convert(there, to, frm)

    assert back is not None
    assert micros <= back
    # One unit of the coarser currency at most.
    assert back - micros <= 1 + max(Fraction(1), Fraction("70.5") / Fraction("0.92"))


@pytest.mark.parametrize(
    "text", ["usd", "USD EUR", "USD EUR=0", "USD EUR=-1", "USD EUR=x", "USD Euro=1", "USD EUR=1/0"]
)
def test_a_setting_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BadValueError, match="TIDINGS_CURRENCY_RATES"):
        Rates.read(text)


def test_no_setting_at_all_knows_one_currency() -> None:
    assert Rates.read("").currencies == ("USD",)
    assert Rates.read("EUR").base == "EUR"
