"""One look at what all processes saw: which circuits change, which points move. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from tidings.contracts.failures import why
from tidings.router.traffic.circuit import NONE, UNTOUCHED, Circuit, Counts, judge
from tidings.router.traffic.sums import AnswerTotals
from tidings.router.traffic.traffic_state import AccountCircuit, ChannelWeights
from tidings.router.traffic.vendor_selection import VendorSelection
from tidings.router.traffic.weights import Health, WeightMove, next_move


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitChange:
    """A circuit that is to change, and the counts that say so."""

    before: AccountCircuit
    after: Circuit
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsChange:
    """Weights that are to change, and the moves by calling code."""

    before: ChannelWeights
    after: ChannelWeights
    moves: Mapping[str, WeightMove]


def circuit_changes(traffic: VendorSelection, sums: AnswerTotals, *, now: datetime) -> list[CircuitChange]:
    """Circuits that open, close, or are tried."""
    rules = traffic.settings.circuits
    known = {one.account_id: one for one in traffic.watched()}
    for account_id, (tenant_id, vendor) in sums.accounts.items():
        if account_id not in known:
            known[account_id] = traffic.circuit_of(account_id) or AccountCircuit(
                account_id=account_id, tenant_id=tenant_id, vendor=vendor, circuit=UNTOUCHED
            )
    changes: list[CircuitChange] = []
    for account_id, one in known.items():
        counts = sums.by_era.get((account_id, one.circuit.version), NONE)
        wanted = account_id in traffic.wanted
        after = judge(one.circuit, counts, now=now, me=traffic.name, wanted=wanted, rules=rules)
        if after is not None:
            after = _with_cause(after, traffic.cause(account_id), one.vendor)
            changes.append(CircuitChange(before=one, after=after, counts=counts))
    return changes


def _with_cause(after: Circuit, code: str | None, vendor: str) -> Circuit:
    """The circuit with what its calls failed of, as far as this process knows."""
    if after.state != "OPEN" or code is None or after.reason is None or "failed" not in after.reason:
        return after
    words = why(code, vendor=vendor)
    return replace(after, reason=f"{after.reason}, mostly {code}{f': {words}' if words else ''}")


def weights_to_look_at(traffic: VendorSelection, sums: AnswerTotals) -> list[ChannelWeights]:
    """Those with points away from home, and those with a vendor that may be sick."""
    doubtful = {vendor for _, vendor in sums.accounts.values()}
    doubtful |= {one.vendor for one in traffic.barred()}
    return [
        one
        for one in traffic.weights()
        if one.home and (_away(one) or any(not doubtful.isdisjoint(points) for points in _homes(one)))
    ]


def weights_change(
    traffic: VendorSelection,
    one: ChannelWeights,
    accounts: Mapping[str, str],
    sums: AnswerTotals,
    *,
    now: datetime,
) -> WeightsChange | None:
    """What follows for the vendors of one channel; `accounts` are theirs, by vendor."""
    rules = traffic.settings.weights
    mine = set(accounts.values())
    prefixes = set(one.shifts) | {prefix for account, prefix in sums.by_prefix if account in mine}
    moves: dict[str, WeightMove] = {}
    for prefix in sorted(prefixes):
        home = one.home_of(prefix)
        health = {
            vendor: _health(traffic, accounts[vendor], prefix, sums) for vendor in home if vendor in accounts
        }
        move = next_move(home, one.shifts.get(prefix), health, now=now, rules=rules)
        if move is not None:
            moves[prefix] = move
    if not moves:
        return None
    shifts = {**one.shifts, **{prefix: move.shift for prefix, move in moves.items()}}
    after = replace(one, version=one.version + 1, shifts=shifts)
    return WeightsChange(before=one, after=after, moves=moves)


def _health(traffic: VendorSelection, account_id: str, prefix: str, sums: AnswerTotals) -> Health:
    known = traffic.circuit_of(account_id)
    is_open = known is not None and known.circuit.state == "OPEN"
    return Health(counts=sums.by_prefix.get((account_id, prefix), NONE), open=is_open)


def _homes(one: ChannelWeights) -> list[Mapping[str, int]]:
    return [one.home, *one.by_prefix.values()]


def _away(one: ChannelWeights) -> bool:
    return any(shift.points != one.home_of(prefix) for prefix, shift in one.shifts.items())
