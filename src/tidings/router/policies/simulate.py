"""The use case "what would happen to this message now, step by step, at what cost?"; nothing is written or sent."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from functools import partial

from msgspec.structs import asdict

from tidings.contracts.delivery import DeliveryPlan, HandOff
from tidings.contracts.ids import NOTIFICATION
from tidings.contracts.messages import Accepted, Unlearned
from tidings.contracts.simulation import HypotheticalMessage, SimulatedMessage, StepSimulation
from tidings.kernel.clock import Clock
from tidings.kernel.db import CallerRole, Database
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import attributes
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.router.accounts.accounts import Accounts
from tidings.router.accounts.model import StoredAccount
from tidings.router.policies import store
from tidings.router.policies.check import AvailableAdapters, wrong_with
from tidings.router.policies.model import POLICY, Policy, PolicyTerms, terms_of
from tidings.router.policies.plan import Planner, inbox_of, without_policy
from tidings.router.policies.policy_warnings import PolicyContext, PolicyWarning, warnings_about
from tidings.router.policies.simulated_costs import SimulatedCosts
from tidings.router.policies.simulated_ladder import SimulatedRun, walk
from tidings.router.prices.rates import Rates
from tidings.router.profiles import store as profiles
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.traffic.vendor_selection import VendorSelection

#: Every vendor takes the message, and nothing is heard of it afterwards.
_SILENCE = Accepted()
#: Every vendor may have taken the message and charged for it, at every try, and the pauses between are the shortest.
_DEAREST = Unlearned(reason="rehearsed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a policy that is not stored would say."""

    terms: PolicyTerms


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySimulation:
    """What would happen."""

    told: SimulatedMessage
    plan: DeliveryPlan
    #: Whether it goes by a draft.
    draft: bool
    #: If every vendor took it and nothing were heard of it.
    silence: SimulatedRun
    #: What it would cost at most, in micros of the plan's currency.
    worst_case: int
    #: For each step what one call would cost; None where that can't be known or converted.
    costs: tuple[int | None, ...]
    #: For each step the currency of its account's prices; None where they are not known.
    currencies: tuple[str | None, ...]
    warnings: list[PolicyWarning]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PolicySimulator:
    """Puts together what notify would say and what the ladder would do."""

    db: Database
    _: KW_ONLY
    steps: StepSimulation
    planner: Planner
    ladder: ExecutionStateMachine
    accounts: Accounts
    adapters: AvailableAdapters
    traffic: VendorSelection
    rates: Rates
    clock: Clock

    async def simulate(
        self,
        tenant_id: TenantId,
        message: HypotheticalMessage,
        draft: Draft | None,
        *,
        role: CallerRole | None = None,
    ) -> PolicySimulation:
        """By the draft, or else by the policy that is in force for the message's use case."""
        if draft is not None:
            wrong = wrong_with(draft.terms, self.adapters)
            if wrong:
                raise InvalidError([FieldError(f"policy.{field}", remedy) for field, remedy in wrong])
        told = await self.steps.simulate(tenant_id, message, role=role)
        async with self.db.tenant(tenant_id, caller_role=role) as tx:
            policy = (
                (await store.find_in_force(tx)).get(told.use_case)
                if draft is None
                else _imagined(draft.terms, told, self.clock.now())
            )
            accounts = await self.accounts.within(tx)
            known = await profiles.load(tx, [told.recipient_id]) if told.recipient_known else {}
        plan = without_policy(told.routes)
        if policy is not None:
            hand_off = _hand_off(tenant_id, told, self.clock.now())
            online = await self.planner.online([hand_off], [policy], None)
            plan = self.planner.under(
                policy,
                hand_off,
                accounts,
                known.get(told.recipient_id),
                online=inbox_of(hand_off) in online,
            )
        return self._walked(told, plan, accounts, policy, draft=draft is not None)

    def _walked(
        self,
        told: SimulatedMessage,
        plan: DeliveryPlan,
        accounts: Mapping[str, StoredAccount],
        policy: Policy | None,
        *,
        draft: bool,
    ) -> PolicySimulation:
        at = told.until if told.would == "defer" and told.until is not None else told.at
        start = self.ladder.start(
            plan.ladder.steps,
            use_case=told.use_case,
            expires_at=told.expires_at,
            strategy=plan.strategy,
            now=at,
            cap=plan.cap,
        )
        fares = SimulatedCosts(
            told,
            plan.ladder.steps,
            accounts,
            plan.currency,
            adapters=self.adapters,
            traffic=self.traffic,
            rates=self.rates,
        )
        around = PolicyContext(adapters=self.adapters, accounts=accounts, rates=self.rates)
        nowhere = SimulatedRun(ended_at=at)
        go = partial(walk, self.ladder, start, now=at, ask=fares.ask)
        silence, dearest = (
            (go(answer=_SILENCE), go(answer=_DEAREST, jitter=0.0))
            if told.would != "stop"
            else (nowhere, nowhere)
        )
        return PolicySimulation(
            told=told,
            plan=plan,
            draft=draft,
            silence=silence,
            worst_case=max(silence.spent, dearest.spent),
            costs=tuple(fares.cost(place, at) for place in range(1, len(plan.ladder.steps) + 1)),
            currencies=tuple(fares.currency_of(place, at) for place in range(1, len(plan.ladder.steps) + 1)),
            warnings=[] if policy is None else warnings_about(terms_of(policy), policy.use_case, around),
        )


def _imagined(terms: PolicyTerms, told: SimulatedMessage, now: datetime) -> Policy:
    return Policy(
        **asdict(terms), id=POLICY.new(now), use_case=told.use_case, version=1, created_at=now, updated_at=now
    )


def _hand_off(tenant_id: TenantId, told: SimulatedMessage, now: datetime) -> HandOff:
    return HandOff(
        tenant_id=tenant_id,
        notification_id=NOTIFICATION.new(now),
        **attributes(told, "recipient_id use_case priority expires_at routes"),
    )
