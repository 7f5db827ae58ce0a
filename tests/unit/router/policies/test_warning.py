"""What is allowed in a policy and may surprise is said beside it."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tests.unit.router.policies.test_checking import ADAPTERS_HERE, step, terms
from tidings.contracts.prices import PrefixPrice, PriceModel
from tidings.router.accounts.model import StoredAccount
from tidings.router.policies.policy_warnings import PolicyContext, PolicyWarning, warnings_about
from tidings.router.prices.rates import Rates

RATES = Rates("USD", {"EUR": Fraction("0.5")})


def account(vendor: str, prices: PriceModel | None = None) -> StoredAccount:
    return StoredAccount(
        id="adcfg_1",
        platform=True,
        vendor=vendor,
        handle=None,
        secret_ref="file://x",
        per_second=None,
        per_day=None,
        prices=prices,
    )


def warned(
    *ladder: dict[str, Any],
    vendors: tuple[str, ...] = ("http", "smtp"),
    prices: PriceModel | None = None,
    use_case: Any = "txn",
    **more: Any,
) -> list[PolicyWarning]:
    accounts = {vendor: account(vendor, prices) for vendor in vendors}
    around = PolicyContext(adapters=ADAPTERS_HERE, accounts=accounts, rates=RATES)
    return warnings_about(terms(*ladder, **more), use_case, around)


def codes(*ladder: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
    return [(one.field, one.code) for one in warned(*ladder, **more)]


def test_an_ordinary_ladder_surprises_nobody() -> None:
    ladder = step("whatsapp"), step("sms", vendor="http_acme", call_seconds=5.0), step("email", vendor="smtp")

    assert warned(*ladder, vendors=("http_acme", "smtp")) == []


def test_no_account_is_a_warning() -> None:
    found = warned(step("sms", vendor="http_acme"), step("whatsapp"), vendors=("smtp",))

    assert [(one.field, one.code) for one in found] == [
        ("ladder[0].vendor", "no_account"),
        ("ladder[1].channel", "no_account"),
    ]


def test_an_account_that_is_off_is_a_warning() -> None:
    accounts = {"http": account("http"), "smtp": replace(account("smtp"), active=False)}
    around = PolicyContext(adapters=ADAPTERS_HERE, accounts=accounts, rates=RATES)

    found = warnings_about(terms(step("sms"), step("email", vendor="smtp")), "txn", around)

    assert [(one.field, one.code) for one in found] == [("ladder[1].vendor", "account_off")]


def test_a_channel_that_is_not_set_up_is_a_warning_and_says_what_to_do() -> None:
    """Once for each step, whether there is an account that could carry it or not."""
    accounts = {"http": account("http")}
    set_up = frozenset({"sms"})
    around = PolicyContext(adapters=ADAPTERS_HERE, accounts=accounts, rates=RATES, set_up=set_up)

    found = warnings_about(terms(step("sms"), step("whatsapp"), step("email")), "txn", around)

    assert [(one.field, one.code) for one in found] == [
        ("ladder[1].channel", "channel_not_set_up"),
        ("ladder[2].channel", "channel_not_set_up"),
    ]
    assert found[0].text == (
        "is whatsapp, which is not set up: the step is skipped until `tidings channel set whatsapp` or "
        "PUT /api/v1/channels/whatsapp sets it up"
    )


def test_a_cap_of_nothing_is_a_warning() -> None:
    assert [one.code for one in warned(step(), cost_cap_micros=0)] == ["zero_cap"]
    assert warned(step(), cost_cap_micros=1) == []


@pytest.mark.parametrize(
    "more",
    [
        {"ladder": (step(),)},
        {"ladder": (step(), step("email")), "strategy": "PARALLEL"},
    ],
)
def test_an_order_that_changes_nothing_is_a_warning(more: dict[str, Any]) -> None:
    given = dict(more)
    ladder = given.pop("ladder")

    assert [one.code for one in warned(*ladder, order="learned", **given)] == ["order_unused"]
    assert warned(*ladder, **given) == []


def test_the_vendors_of_one_channel_can_be_taken_by_their_price() -> None:
    assert warned(step(), strategy="FAILOVER", order="cheapest") == []


def test_a_late_step_is_a_warning_sooner_for_codes() -> None:
    ladder = step("whatsapp", deadline_seconds=700), step("sms")

    assert [(one.field, one.code) for one in warned(*ladder, use_case="otp")] == [("ladder[1]", "late_step")]
    assert warned(*ladder, use_case="txn") == []


def test_a_currency_that_nothing_is_known_of() -> None:
    """Also where no account says yet in what its prices are."""
    without_cap = warned(step("sms"), cost_cap_currency="XYZ")
    [found] = [
        one
        for one in warned(step("sms"), cost_cap_micros=1, cost_cap_currency="XYZ")
        if one.code == "no_rate"
    ]

    assert found.field == "cost_cap_currency"
    assert "rates are known for EUR, USD" in found.text
    assert "no_rate" not in {one.code for one in without_cap}


@pytest.mark.parametrize(
    ("prices", "cap", "code"),
    [
        (PriceModel(currency="USD", base_micros=100), 100, None),
        (PriceModel(currency="USD", base_micros=101), 100, "over_cap"),
        (PriceModel(currency="EUR", base_micros=50), 100, None),
        (PriceModel(currency="EUR", base_micros=51), 100, "over_cap"),
        # Somebody somewhere can be reached for less.
        (
            PriceModel(currency="USD", base_micros=101, by_prefix={"+93": PrefixPrice(base_micros=9)}),
            100,
            None,
        ),
        (PriceModel(currency="NGN", per_segment_micros=1), 100, "no_rate"),
        # Without a cap there is nothing to compare with.
        (PriceModel(currency="NGN", base_micros=1), None, None),
        (PriceModel(currency="USD", base_micros=101), None, None),
    ],
)
def test_a_step_that_its_cap_never_allows(prices: PriceModel, cap: int | None, code: str | None) -> None:
    found = warned(step("sms", vendor="http"), prices=prices, cost_cap_micros=cap)

    assert [one.code for one in found] == ([] if code is None else [code])


def test_one_account_without_a_price_is_enough() -> None:
    dear = account("http", PriceModel(currency="USD", base_micros=500))
    around = PolicyContext(
        adapters=ADAPTERS_HERE, accounts={"http": dear, "http_b": account("http_b")}, rates=RATES
    )

    assert warnings_about(terms(step(), cost_cap_micros=100), "txn", around) == []
    named = warnings_about(terms(step(vendor="http"), cost_cap_micros=100), "txn", around)
    assert [one.code for one in named] == ["over_cap"]
