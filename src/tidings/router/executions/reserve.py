"""Reserves attempts before they are made: a vendor, its cost under the cap (cost budget), room in the account's limits.

No transaction is open.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Final, Protocol, TypeAlias

from msgspec.structs import replace

from tidings.contracts.delivery import BATCH_PACE, MessagePace, ReadyStep, Reservation, SkipStep, WaitStep
from tidings.contracts.messages import OutboundMessage
from tidings.contracts.senders import ANY_SENDER, may_show
from tidings.kernel.clock import Clock
from tidings.kernel.durable.retry_policy import RandomUnit
from tidings.kernel.ids import TenantId
from tidings.router.accounts.accounts import Accounts
from tidings.router.accounts.model import StoredAccount
from tidings.router.executions.model import ReservedAttempt, moment
from tidings.router.prices.price import price_of
from tidings.router.prices.rates import Rates
from tidings.router.state_machine.model import (
    ATTEMPT,
    COST_CAP,
    NO_ACCOUNT,
    SENDER_UNAUTHORISED,
    VENDOR_LIMIT,
    WRONG_PREFIX,
    ExecutionState,
    StepBarred,
    StepBlocked,
)
from tidings.router.traffic import model as traffic_model
from tidings.router.traffic.admission import is_paced, spacing
from tidings.router.traffic.vendor_selection import VendorSelection
from tidings.router.vendors.built_in import WITHOUT_ACCOUNT
from tidings.router.vendors.vendors import Vendors

#: The key of messages that belong to no batch with a pace.
_UNPACED: Final = ""

ReservationResult: TypeAlias = ReservedAttempt | StepBarred | StepBlocked


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationRequest:
    """An execution with steps that are ready to be sent."""

    tenant_id: TenantId
    state: ExecutionState
    ready: Sequence[tuple[int, ReadyStep]]
    is_test: bool
    #: What its costs are in; None: whatever the first vendor charges in.
    currency: str | None = None


class FixedSenders(Protocol):
    """Knows which accounts have a sender of their own in their settings."""

    async def fixed_senders(self, account: StoredAccount, tenant_id: TenantId) -> Mapping[str, str]:
        """By channel, the sender that goes out whatever the message says."""
        ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AttemptReserver:
    """Reserves for whole sets, of whatever tenants: from memory, but for the limits of accounts that have any."""

    accounts: Accounts
    traffic: VendorSelection
    _: KW_ONLY
    senders: FixedSenders
    rates: Rates
    clock: Clock
    random_unit: RandomUnit

    async def reserve(self, requests: Sequence[ReservationRequest]) -> list[list[ReservationResult]]:
        """For each execution one result for each of its steps, in the same order."""
        accounts = await self.accounts.of_all({request.tenant_id for request in requests})
        fixed = await self._fixed(requests, accounts)
        now = moment(self.clock)
        answers = [
            [
                self._one(
                    request, step, ready.message, accounts=accounts[request.tenant_id], fixed=fixed, now=now
                )
                for step, ready in request.ready
            ]
            for request in requests
        ]
        await self._admit(requests, answers, accounts.values())
        return [
            self._priced(request, some, accounts[request.tenant_id])
            for request, some in zip(requests, answers, strict=True)
        ]

    async def _fixed(
        self,
        requests: Sequence[ReservationRequest],
        accounts: Mapping[TenantId, Mapping[str, StoredAccount]],
    ) -> dict[str, Mapping[str, str]]:
        """By account, what the settings of shared accounts fix, where a tenant may not choose its sender."""
        shared = {
            account.id: (account, request.tenant_id)
            for request in requests
            if not request.is_test
            for place, ready in request.ready
            if ANY_SENDER not in ready.message.grants
            for vendor in request.state.steps[place - 1].vendors
            if (account := accounts[request.tenant_id].get(vendor)) is not None and account.platform
        }
        return {
            id_: await self.senders.fixed_senders(account, tenant_id)
            for id_, (account, tenant_id) in sorted(shared.items())
        }

    def _priced(
        self,
        request: ReservationRequest,
        answers: Sequence[ReservationResult],
        accounts: Mapping[str, StoredAccount],
    ) -> list[ReservationResult]:
        """What each costs, held under the cap one after the other."""
        cost_budget, currency = request.state.cost_budget, request.currency
        priced: list[ReservationResult] = []
        for answer in answers:
            if (
                not isinstance(answer, ReservedAttempt)
                or (account := accounts.get(answer.reservation.vendor)) is None
            ):
                priced.append(answer)
                continue
            cost, paid_in = self._cost(account, answer.message, currency)
            if cost is None and cost_budget.cap is None:
                # What it costs is not known, and there is no cap.
                cost, paid_in = 0, None
            if cost is None or not cost_budget.allows(cost):
                # What can't be put into the cap's currency can't be held under it.
                priced.append(_over_cap(answer.step))
                continue
            if cost:
                cost_budget = replace(cost_budget, reserved=cost_budget.reserved + cost)
                currency = currency or paid_in
                held = replace(answer.reservation, cost=cost, currency=paid_in)
                answer = replace(answer, reservation=held)  # noqa: PLW2901  # the same, with its price
            priced.append(answer)
        return priced

    def _one(
        self,
        request: ReservationRequest,
        place: int,
        message: OutboundMessage,
        *,
        accounts: Mapping[str, StoredAccount],
        fixed: Mapping[str, Mapping[str, str]],
        now: datetime,
    ) -> ReservationResult:
        step = request.state.steps[place - 1]
        active = next((active for active in request.state.active_steps if active.step == place), None)
        if step.prefixes is not None and not message.to.startswith(step.prefixes):
            return StepBarred(step=place, by=SkipStep(reason=WRONG_PREFIX, result="REFUSED_NO_CHANNEL"))
        attempt_id = ATTEMPT.new(now)
        within = step.call_seconds
        really = Vendors.of(step.vendors[0], message, is_test=request.is_test)
        if really in WITHOUT_ACCOUNT:
            free = Reservation(vendor=really, within=within)
            return ReservedAttempt(step=place, message=message, attempt_id=attempt_id, reservation=free)
        # The vendor that may have the message already is asked again, and no other.
        asked = (
            step.vendors if active is None or active.unlearned not in step.vendors else (active.unlearned,)
        )
        vendors = tuple(vendor for vendor in asked if _may_carry(accounts.get(vendor), message, fixed))
        if not vendors:
            return StepBarred(
                step=place, by=SkipStep(reason=SENDER_UNAUTHORISED, result="REFUSED_SENDER_UNAUTHORIZED")
            )
        chosen = self.traffic.choose(
            request.tenant_id,
            step.channel,
            vendors,
            accounts,
            to=message.to,
            tried=() if active is None else active.tried,
            random_unit=self.random_unit(),
        )
        if isinstance(chosen, traffic_model.NoVendorAvailable):
            return StepBlocked(step=place, reason=chosen.reason, until=chosen.until)
        if chosen.account_id is None and _another_way(request.state, place):
            return StepBarred(step=place, by=SkipStep(reason=NO_ACCOUNT, result="FAILED"))
        return ReservedAttempt(
            step=place,
            message=message,
            attempt_id=attempt_id,
            reservation=Reservation(
                vendor=chosen.vendor,
                account_id=chosen.account_id,
                within=within,
                why=None if chosen.why == traffic_model.ONLY else chosen.why,
            ),
        )

    def _cost(
        self, account: StoredAccount, message: OutboundMessage, currency: str | None
    ) -> tuple[int | None, str | None]:
        prices = account.prices
        if prices is None:
            return 0, None
        cost = price_of(prices, message)
        if currency is None:
            return cost, prices.currency
        return self.rates.convert(cost, prices.currency, currency), currency

    async def _admit(
        self,
        requests: Sequence[ReservationRequest],
        answers: list[list[ReservationResult]],
        known: Iterable[Mapping[str, StoredAccount]],
    ) -> None:
        """Those that an account's limits or their batch's pace have no room for wait until they have."""
        accounts = {account.id: account for some in known for account in some.values()}
        limited = {
            id_ for id_, one in accounts.items() if one.per_second is not None or one.per_day is not None
        }
        places: dict[tuple[str, str], list[tuple[int, int]]] = {}
        paces: dict[str, MessagePace] = {}
        for i, of_execution in enumerate(answers):
            for j, answer in enumerate(of_execution):
                if not isinstance(answer, ReservedAttempt) or (id_ := answer.reservation.account_id) is None:
                    continue
                pace = requests[i].ready[j][1].pace
                if pace is not None and is_paced(accounts[id_], pace):
                    paces[pace.key] = pace
                    places.setdefault((id_, pace.key), []).append((i, j))
                elif id_ in limited:
                    places.setdefault((id_, _UNPACED), []).append((i, j))
        if not places:
            return
        # What has no pace first: a batch takes of an account what others leave.
        asked = sorted(places, key=lambda key: key[1] != _UNPACED)
        admitted = await self.traffic.admit(
            [(accounts[id_], len(places[id_, key])) for id_, key in asked],
            paces=[paces.get(key) for _, key in asked],
        )
        now = self.clock.now()
        for (account_id, key), some in zip(asked, admitted, strict=True):
            # To have all of them back at once would be in vain for most.
            apart = spacing(accounts[account_id], paces.get(key))
            for late, (i, j) in enumerate(places[account_id, key][some.count :]):
                step, at = answers[i][j].step, (some.until or now) + late * apart
                answers[i][j] = (
                    StepBarred(step=step, by=WaitStep(until=at, reason=BATCH_PACE))
                    if some.paced
                    else StepBlocked(step=step, reason=VENDOR_LIMIT, until=at)
                )


def _another_way(state: ExecutionState, step: int) -> bool:
    """Whether another vendor can be asked; one that is alone is asked again until there is an account."""
    return state.next <= len(state.steps) or any(active.step != step for active in state.active_steps)


def _may_carry(
    account: StoredAccount | None, message: OutboundMessage, known: Mapping[str, Mapping[str, str]]
) -> bool:
    """Whether the tenant may appear as the sender that goes out through this account; `known`: what accounts fix."""
    if account is None or not account.platform:
        return True
    channel, fixed = message.channel, known.get(account.id, {})
    return may_show(
        channel, message.sender.value, message.grants, handle=account.handle, fixed=fixed.get(channel)
    )


def _over_cap(step: int) -> StepBarred:
    return StepBarred(step=step, by=SkipStep(reason=COST_CAP, result="REFUSED_COST_CAP"))
