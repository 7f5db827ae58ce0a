"""What is acceptable in a policy and may surprise its author, as things stand now; no I/O."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from msgspec import Struct

from tidings.contracts.enums import UseCase
from tidings.contracts.inbox import IN_APP
from tidings.contracts.prices import PriceModel
from tidings.router.accounts.model import StoredAccount
from tidings.router.policies.check import AvailableAdapters
from tidings.router.policies.model import PolicyStep, PolicyTerms
from tidings.router.policies.step_deadlines import beginnings, told
from tidings.router.prices.rates import Rates

#: A step that begins later than this is often too late for its message.
_USUAL_LIFE: Final[Mapping[UseCase, timedelta]] = {"otp": timedelta(minutes=10)}
_OTHERWISE: Final = timedelta(days=1)


class PolicyWarning(Struct, frozen=True, kw_only=True):
    """Something that is allowed and may not be meant."""

    #: Where: `ladder[2].vendor`.
    field: str
    #: `channel_not_set_up no_account account_off zero_cap over_cap no_rate order_unused late_step`
    code: str
    #: What will happen, as the rest of a sentence that begins with the field.
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyContext:
    """What a policy depends on and does not say itself."""

    adapters: AvailableAdapters
    #: Through which the tenant can send, by vendor.
    accounts: Mapping[str, StoredAccount]
    rates: Rates
    #: Channels that the tenant has set up; None where that is not asked.
    set_up: frozenset[str] | None = None

    def carrying(self, step: PolicyStep) -> list[StoredAccount]:
        """The accounts that could carry a step."""
        if step.vendor is not None:
            named = self.accounts.get(step.vendor)
            return [] if named is None else [named]
        return [
            account
            for vendor, account in self.accounts.items()
            if (kind := self.adapters.find(vendor)) is not None and step.channel in kind.channels
        ]


def warnings_about(terms: PolicyTerms, use_case: UseCase, around: PolicyContext) -> list[PolicyWarning]:
    """All of them, in the order of the policy's fields."""
    return [
        *_without_account(terms.ladder, around),
        *_about_order(terms),
        *_about_cost(terms, around),
        *_late_steps(terms, use_case),
    ]


def _without_account(steps: Sequence[PolicyStep], around: PolicyContext) -> Iterator[PolicyWarning]:
    for place, step in enumerate(steps):
        if around.set_up is not None and step.channel not in around.set_up:
            yield PolicyWarning(
                field=f"ladder[{place}].channel",
                code="channel_not_set_up",
                text=f"is {step.channel}, which is not set up: the step is skipped until `tidings channel set "
                f"{step.channel}` or PUT /api/v1/channels/{step.channel} sets it up",
            )
            continue
        if step.channel == IN_APP:
            # The inbox is the system's own, and needs none.
            continue
        if carrying := around.carrying(step):
            if not any(account.active for account in carrying):
                yield PolicyWarning(
                    field=f"ladder[{place}].{'channel' if step.vendor is None else 'vendor'}",
                    code="account_off",
                    text="has an account that is switched off: until it is on, the step is skipped while another is left, "
                    "and waits where it is the last",
                )
            continue
        field, remedy = (
            ("channel", f"{step.channel} is set up")
            if step.vendor is None
            else ("vendor", f"there is one with {step.vendor}")
        )
        yield PolicyWarning(
            field=f"ladder[{place}].{field}",
            code="no_account",
            text=f"has no account yet: until {remedy}, the step is skipped while another is left, and waits where it "
            "is the last",
        )


def _about_cost(terms: PolicyTerms, around: PolicyContext) -> Iterator[PolicyWarning]:
    cap, currency = terms.cost_cap_micros, terms.cost_cap_currency
    if cap == 0:
        yield PolicyWarning(
            field="cost_cap_micros",
            code="zero_cap",
            text="is 0: steps that have a price are never taken; leave it out for no cap",
        )
        return
    if cap is None:
        return
    compared = currency in around.rates.currencies
    for place, step in enumerate(terms.ladder):
        carrying = around.carrying(step)
        priced = [account.prices for account in carrying if account.prices is not None]
        if not priced or len(priced) < len(carrying):
            continue
        # One at least: nothing is nothing in every currency.
        costs = [around.rates.convert(_least(prices) or 1, prices.currency, currency) for prices in priced]
        known = [cost for cost in costs if cost is not None]
        compared = True
        if not known:
            yield PolicyWarning(
                field="cost_cap_currency",
                code="no_rate",
                text=f"has no rate to {priced[0].currency}, in which ladder[{place}] is priced: it is never taken",
            )
        elif min(known) > cap:
            yield PolicyWarning(
                field=f"ladder[{place}]",
                code="over_cap",
                text=f"costs {min(known)} micros or more, and the cap is {cap}: it is never taken",
            )
    if not compared:
        yield PolicyWarning(
            field="cost_cap_currency",
            code="no_rate",
            text=f"has no rate here: a step with a price in another currency is never taken; "
            f"rates are known for {', '.join(around.rates.currencies)}",
        )


def _least(prices: PriceModel) -> int:
    """What no message of this account is cheaper than."""
    bases = [apart.base_micros for apart in prices.by_prefix.values() if apart.base_micros is not None]
    return min([prices.base_micros, *bases])


def _about_order(terms: PolicyTerms) -> Iterator[PolicyWarning]:
    why = None
    if terms.strategy == "PARALLEL":
        why = "PARALLEL begins all steps at once"
    elif terms.strategy == "SEQUENTIAL" and len(terms.ladder) == 1:
        why = "one step has only one order"
    if terms.order != "fixed" and why is not None:
        yield PolicyWarning(field="order", code="order_unused", text=f"changes nothing here: {why}")


def _late_steps(terms: PolicyTerms, use_case: UseCase) -> Iterator[PolicyWarning]:
    usual = _USUAL_LIFE.get(use_case, _OTHERWISE)
    for place, begins in enumerate(beginnings(terms)):
        if begins > usual:
            yield PolicyWarning(
                field=f"ladder[{place}]",
                code="late_step",
                text=f"may begin {told(begins)} after the first; messages that expire sooner never get there",
            )
            return
