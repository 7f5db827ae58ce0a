"""What a step of a simulation would come to before its call: its gates, its vendor, its price; no I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime

from tidings.contracts.delivery import ReadyStep, SkipStep, WaitStep
from tidings.contracts.inbox import IN_APP
from tidings.contracts.ladder import LadderStep
from tidings.contracts.simulation import SimulatedMessage
from tidings.router.accounts.model import StoredAccount
from tidings.router.policies.check import AvailableAdapters
from tidings.router.policies.simulated_ladder import SimulatedStepCost
from tidings.router.prices.price import price_of, price_of_text
from tidings.router.prices.rates import Rates
from tidings.router.state_machine.cost_budget import CostBudget
from tidings.router.state_machine.model import COST_CAP, NO_ACCOUNT, WRONG_PREFIX, StepBarred, StepBlocked
from tidings.router.traffic.model import ACCOUNT_OFF, CIRCUIT_OPEN
from tidings.router.traffic.vendor_selection import VendorSelection

_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SimulatedCosts:
    """Answers for the steps of one ladder."""

    #: What notify would answer.
    told: SimulatedMessage
    steps: Sequence[LadderStep]
    accounts: Mapping[str, StoredAccount]
    #: What costs are in, in micros.
    currency: str | None
    _: KW_ONLY
    adapters: AvailableAdapters
    traffic: VendorSelection
    rates: Rates

    def ask(
        self, place: int, at: datetime, purse: CostBudget
    ) -> SimulatedStepCost | StepBarred | StepBlocked:
        """What the step would come to at that moment, with so much in the purse."""
        step = self.steps[place - 1]
        prepared = self.told.steps.get(step.channel)
        if isinstance(prepared, SkipStep) or (isinstance(prepared, WaitStep) and at < prepared.until):
            return StepBarred(step=place, by=prepared)
        if (
            isinstance(prepared, ReadyStep)
            and step.prefixes is not None
            and not prepared.message.to.startswith(step.prefixes)
        ):
            return StepBarred(step=place, by=SkipStep(reason=WRONG_PREFIX, result="REFUSED_NO_CHANNEL"))
        if IN_APP in step.vendors:
            return SimulatedStepCost(vendor=IN_APP, account_id=None, cost=0, receipts=self._may_tell(IN_APP))
        if not any(vendor in self.accounts for vendor in step.vendors):
            return StepBarred(step=place, by=SkipStep(reason=NO_ACCOUNT, result="FAILED"))
        open_until = [self._open_until(vendor, at) for vendor in step.vendors if vendor in self.accounts]
        if all(until is not None for until in open_until):
            until = min(until for until in open_until if until is not None)
            off = all(not self.accounts[v].active for v in step.vendors if v in self.accounts)
            return StepBlocked(step=place, reason=ACCOUNT_OFF if off else CIRCUIT_OPEN, until=until)
        vendor = self._carrier(step, at)
        cost = self.cost(place, at)
        if cost is None or not purse.allows(cost):
            return StepBarred(step=place, by=SkipStep(reason=COST_CAP, result="REFUSED_COST_CAP"))
        account = self.accounts.get(vendor)
        return SimulatedStepCost(
            vendor=vendor,
            account_id=None if account is None else account.id,
            cost=cost,
            receipts=self._may_tell(vendor),
        )

    def cost(self, place: int, at: datetime) -> int | None:
        """What one call would cost; None where its price can't be converted, 0 where none is known."""
        step = self.steps[place - 1]
        account = self.accounts.get(self._carrier(step, at))
        if account is None or account.prices is None:
            return 0
        prepared = self.told.steps.get(step.channel)
        micros = (
            price_of(account.prices, prepared.message)
            if isinstance(prepared, ReadyStep)
            # Its words are not known; a short one to nowhere in particular.
            else price_of_text(account.prices, step.channel, to="", text="")
        )
        if self.currency is None:
            return micros
        return self.rates.convert(micros, account.prices.currency, self.currency)

    def currency_of(self, place: int, at: datetime) -> str | None:
        """In which its account's prices are; None where none are known."""
        account = self.accounts.get(self._carrier(self.steps[place - 1], at))
        return None if account is None or account.prices is None else account.prices.currency

    def _carrier(self, step: LadderStep, at: datetime) -> str:
        """The first with an account that is on, and a circuit that is not open. Weights are not drawn: that would say nothing about the
        next message."""
        usable = (
            vendor
            for vendor in step.vendors
            if vendor in self.accounts and self._open_until(vendor, at) is None
        )
        return next(usable, step.vendors[0] if step.vendors else "")

    def _open_until(self, vendor: str, at: datetime) -> datetime | None:
        account = self.accounts.get(vendor)
        if account is not None and not account.active:
            return _NEVER
        known = None if account is None else self.traffic.circuit_of(account.id)
        if known is None or known.circuit.state != "OPEN":
            return None
        until = known.circuit.until or _NEVER
        return until if at < until else None

    def _may_tell(self, vendor: str) -> bool:
        """Whether receipts may come. Where an account's settings say so: in doubt, one waits for them."""
        kind = self.adapters.find(vendor)
        return kind is None or "receipts" in kind.by_settings or kind.capabilities.receipts
