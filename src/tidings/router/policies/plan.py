"""Which ladder a hand-off gets: its tenant's policy, in the order that suits the person, frozen."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from functools import lru_cache

from tidings.contracts.delivery import DeliveryPlan, DeliveryRoute, HandOff
from tidings.contracts.enums import AUTO
from tidings.contracts.ids import RecipientId
from tidings.contracts.inbox import presence_key
from tidings.contracts.ladder import LadderSnapshot, LadderStep, Strategy
from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx
from tidings.kernel.durable.retry_policy import RandomUnit
from tidings.kernel.ids import TenantId
from tidings.kernel.local_hot_state.attendance import AttendanceList
from tidings.router.accounts.accounts import Accounts
from tidings.router.accounts.model import StoredAccount
from tidings.router.policies.conditions import barred_by
from tidings.router.policies.model import Policy, PolicyStep
from tidings.router.policies.policies import Policies
from tidings.router.prices.price import price_of_text
from tidings.router.prices.rates import Rates
from tidings.router.profiles import store as profiles
from tidings.router.profiles.model import Profile
from tidings.router.profiles.order import Orderable, arrange
from tidings.router.state_machine.model import NO_ROUTE
from tidings.router.traffic.vendor_selection import VendorSelection


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Planner:
    """Plans whole sets, of whatever tenants: from memory, but for the profiles that an order is learned from."""

    db: Database
    _: KW_ONLY
    policies: Policies
    accounts: Accounts
    rates: Rates
    traffic: VendorSelection
    clock: Clock
    random_unit: RandomUnit
    attendance: AttendanceList

    async def plan(self, hand_offs: Sequence[HandOff], within: TenantsTx | None = None) -> list[DeliveryPlan]:
        """One each, in the same order; where a transaction is open, `within` it."""
        policies = await self.policies.of_all({one.tenant_id for one in hand_offs}, within)
        found = [
            policies[one.tenant_id].get(one.use_case) if one.channel == AUTO else None for one in hand_offs
        ]
        under = {one.tenant_id for one, policy in zip(hand_offs, found, strict=True) if policy is not None}
        if not under:
            return [self._default(one) for one in hand_offs]
        accounts = await self.accounts.of_all(under, within)
        known = await self._profiles(hand_offs, found, within)
        online = await self.online(hand_offs, found, within)
        return [
            self._default(one)
            if policy is None
            else self.under(
                policy,
                one,
                accounts[one.tenant_id],
                known.get((one.tenant_id, one.recipient_id)),
                online=inbox_of(one) in online,
            )
            for one, policy in zip(hand_offs, found, strict=True)
        ]

    def under(
        self,
        policy: Policy,
        hand_off: HandOff,
        accounts: Mapping[str, StoredAccount],
        profile: Profile | None,
        *,
        online: bool = False,
    ) -> DeliveryPlan:
        """The ladder of a policy for one person."""
        now = self.clock.now()
        steps = [
            step
            for one in policy.ladder
            for step in _steps(one, hand_off, policy.strategy, profile, now, online=online)
        ]
        frozen = LadderSnapshot(steps=tuple(steps), order=policy.order, cap=policy.cost_cap_micros)
        if policy.order != "fixed" and len(steps) > 1 and policy.strategy != "PARALLEL":
            orderable = [self._orderable(i, step, accounts, policy) for i, step in enumerate(steps)]
            arranged = arrange(
                orderable,
                profile,
                order=policy.order,
                random_unit=self.random_unit,
                now=now,
                value_of_a_second=policy.second_micros,
            )
            frozen = LadderSnapshot(
                steps=tuple(steps[place] for place in arranged.places),
                order=policy.order,
                why=arranged.why,
                value_of_a_second=policy.second_micros if policy.order == "learned" else None,
                cap=policy.cost_cap_micros,
            )
        return DeliveryPlan(
            ladder=frozen,
            strategy=policy.strategy,
            first=_first(frozen.steps, policy.strategy),
            policy_id=policy.id,
            policy_version=policy.version,
            cap=policy.cost_cap_micros,
            # Without a cap nothing has to be converted to be held under it.
            currency=policy.cost_cap_currency if policy.cost_cap_micros is not None else None,
        )

    def _default(self, one: HandOff) -> DeliveryPlan:
        shared = frozenset(
            route.channel for route in one.routes if self.traffic.has_weights(one.tenant_id, route.channel)
        )
        return without_policy(one.routes, shared)

    def _orderable(
        self, place: int, step: LadderStep, accounts: Mapping[str, StoredAccount], policy: Policy
    ) -> Orderable:
        return Orderable(
            place=place,
            channel=step.channel,
            cost_micros=self._usual_cost(step, accounts, policy.cost_cap_currency),
            deadline_seconds=step.deadline or 0,
        )

    def _usual_cost(self, step: LadderStep, accounts: Mapping[str, StoredAccount], currency: str) -> int:
        """Of a short message to nowhere in particular; a price that can't be converted counts as it stands."""
        account = accounts.get(step.vendors[0]) if step.vendors else None
        if account is None or account.prices is None:
            return 0
        micros = price_of_text(account.prices, step.channel, to="", text="")
        return self.rates.convert(micros, account.prices.currency, currency) or micros

    async def _profiles(
        self, hand_offs: Sequence[HandOff], policies: Sequence[Policy | None], within: TenantsTx | None
    ) -> dict[tuple[TenantId, RecipientId], Profile]:
        people = {
            (one.tenant_id, one.recipient_id)
            for one, policy in zip(hand_offs, policies, strict=True)
            if policy is not None and _asks_profile(policy)
        }
        if not people:
            return {}
        if within is not None:
            return await profiles.load_of_all(within, sorted(people))
        async with self.db.tenants({tenant_id for tenant_id, _ in people}, by_index=True) as tx:
            return await profiles.load_of_all(tx, sorted(people))

    async def online(
        self, hand_offs: Sequence[HandOff], policies: Sequence[Policy | None], within: TenantsTx | None
    ) -> Collection[tuple[TenantId, str]]:
        """The inboxes that are open, of those whose policy asks."""
        asked = {
            inbox_of(one)
            for one, policy in zip(hand_offs, policies, strict=True)
            if policy is not None and _asks_presence(policy)
        }
        return await self.attendance.find(asked, within)


@lru_cache(maxsize=10_000)
def without_policy(
    routes: tuple[DeliveryRoute, ...], shared: frozenset[Channel] = frozenset()
) -> DeliveryPlan:
    """The channel's vendor, then its fallback vendor; being accepted is enough.

    Where vendors share a channel by weight, they are one step together.
    """
    ways = dict.fromkeys(
        (route.channel, tuple(r.vendor for r in routes if r.channel == route.channel))
        if route.channel in shared
        else (route.channel, (route.vendor,))
        for route in routes
    )
    steps = tuple(LadderStep(channel=channel, vendors=vendors) for channel, vendors in ways)
    return DeliveryPlan(
        ladder=LadderSnapshot(steps=steps),
        strategy=_strategy_of(steps),
        first=steps[0].channel if steps else None,
    )


def _steps(
    one: PolicyStep,
    hand_off: HandOff,
    strategy: Strategy,
    profile: Profile | None,
    now: datetime,
    *,
    online: bool,
) -> list[LadderStep]:
    vendors = tuple(route.vendor for route in hand_off.routes if route.channel == one.channel)
    # What is known for the whole ladder; hours and addresses are looked at when the step is taken.
    barred = (
        barred_by(
            one.conditions,
            one.channel,
            priority=hand_off.priority,
            profile=profile,
            now=now,
            online=online,
        )
        if vendors
        else NO_ROUTE
    )
    if one.vendor is not None and vendors:
        vendors = (one.vendor,)
    apart = [(vendor,) for vendor in vendors] if strategy == "FAILOVER" and one.vendor is None else [vendors]
    return [
        LadderStep(
            channel=one.channel,
            vendors=some,
            success=one.success,
            deadline=one.deadline_seconds,
            retries=one.retry_budget,
            call_seconds=one.call_seconds,
            prefixes=one.conditions.prefixes if one.conditions is not None else None,
            hours=one.conditions.hours if one.conditions is not None else None,
            barred=barred,
        )
        for some in apart or [()]
    ]


def _first(steps: tuple[LadderStep, ...], strategy: Strategy) -> Channel | None:
    """A first step that is sure to be taken can be prepared with the hand-off."""
    if strategy == "PARALLEL" or not steps or steps[0].barred is not None or steps[0].hours is not None:
        return None
    return steps[0].channel


def _asks_profile(policy: Policy) -> bool:
    return policy.order == "learned" or any(
        step.conditions is not None
        and (step.conditions.reachable is not None or step.conditions.min_score is not None)
        for step in policy.ladder
    )


def _asks_presence(policy: Policy) -> bool:
    """Whether a step of it goes by who has their inbox open."""
    return any(step.conditions is not None and step.conditions.online is not None for step in policy.ladder)


def inbox_of(one: HandOff) -> tuple[TenantId, str]:
    """Under what it is kept who has the recipient's inbox open."""
    return one.tenant_id, presence_key(one.recipient_id, is_test=one.is_test)


def _strategy_of(steps: tuple[LadderStep, ...]) -> Strategy:
    """Without a policy: the next vendor of the same channel, or the next channel."""
    return "FAILOVER" if len({step.channel for step in steps}) <= 1 else "SEQUENTIAL"
