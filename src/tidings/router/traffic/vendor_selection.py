"""What a process knows about its vendors, for a task that is about to call one. All from memory but `admit`."""

import secrets
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from tidings.contracts.delivery import MessagePace
from tidings.contracts.messages import Accepted, Outcome
from tidings.kernel.clock import Clock
from tidings.kernel.hot_state import Limits
from tidings.kernel.ids import TenantId
from tidings.router.accounts.model import StoredAccount
from tidings.router.traffic.admission import admit
from tidings.router.traffic.circuit import Circuit
from tidings.router.traffic.model import (
    ACCOUNT_OFF,
    CIRCUIT_OPEN,
    FIRST,
    NOT_TRIED,
    ONLY,
    AdmissionResult,
    ChosenVendor,
    NoVendorAvailable,
)
from tidings.router.traffic.prefixes import prefix_of
from tidings.router.traffic.settings import TrafficSettings
from tidings.router.traffic.tally import LATE, AnswerTally
from tidings.router.traffic.traffic_state import AccountCircuit, ChannelWeights
from tidings.router.traffic.vendor_failures import cause_of, is_failure
from tidings.router.traffic.weights import Points

PROBE = "probe"


#: Remembered failure codes of an account.
_CAUSES: Final = 50


class VendorSelection:
    """Who is to be called, how many at once, and what became of it."""

    def __init__(
        self,
        limits: Limits,
        *,
        clock: Clock,
        settings: TrafficSettings | None = None,
        name: str | None = None,
    ) -> None:
        """`name` tells this process from the others; made up where it is None."""
        self.settings = settings or TrafficSettings()
        self.name = name or secrets.token_hex(8)
        #: What was observed since it was last taken away.
        self.tally = AnswerTally()
        #: Codes of the latest failures of accounts that fail, as this process met them.
        self._causes: dict[str, deque[str]] = {}
        #: Accounts with a circuit that may be tried again, and that were asked for.
        self.wanted: set[str] = set()
        self._limits = limits
        self._clock = clock
        #: Those that are not closed.
        self._barred: dict[str, AccountCircuit] = {}
        #: Every circuit that ever changed.
        self._circuits: dict[str, AccountCircuit] = {}
        self._weights: dict[tuple[TenantId | None, str], ChannelWeights] = {}
        #: By account: how many more may go through its half-open circuit.
        self._probes: dict[str, int] = {}
        #: By account: when it was last seen to take a message, by any process.
        self._took_at: dict[str, datetime] = {}
        #: A circuit may be gone through earlier than those who wait for it were told; the job that wakes them takes it back.
        self.sooner = True

    # --- asked before a call

    def choose(
        self,
        tenant_id: TenantId,
        channel: str,
        vendors: Sequence[str],
        accounts: Mapping[str, StoredAccount],
        *,
        to: str,
        tried: Collection[str],
        random_unit: float,
    ) -> ChosenVendor | NoVendorAvailable:
        """Who is to carry a message to `to`; `tried` were called in this step already, `random_unit` is from 0 up to 1."""
        if len(vendors) == 1:
            vendor = vendors[0]
            account = accounts.get(vendor)
            if account is None:
                return ChosenVendor(vendor, None, ONLY)
            if account.active and account.id not in self._barred:
                return ChosenVendor(vendor, account.id, ONLY)
        return self._weigh(tenant_id, channel, vendors, accounts, to=to, tried=tried, random_unit=random_unit)

    async def admit(
        self, asks: Sequence[tuple[StoredAccount, int]], *, paces: Sequence[MessagePace | None] = ()
    ) -> list[AdmissionResult]:
        """How many of each may go now by the limits of the accounts and the paces of their batches; nothing is asked where there are none."""
        if all(account.per_second is None and account.per_day is None for account, _ in asks) and not any(
            paces
        ):
            return [AdmissionResult(many) for _, many in asks]
        return await admit(self._limits, asks, clock=self._clock, paces=paces)

    # --- told after a call

    def observe(
        self, account_id: str, *, prefix: str, ok: int, failed: int, seconds: float, slow: bool
    ) -> None:
        """So many calls were answered, or were not, all of them in this time."""
        known = self._circuits.get(account_id)
        era = 0
        if known is not None:
            circuit = known.circuit
            mine = circuit.state == "CLOSED" or circuit.prober == self.name
            # What was begun before the circuit opened says nothing about it now.
            era = circuit.version if mine else LATE
        self.tally.add(account_id, prefix, era, ok=ok, failed=failed, slow=slow, seconds=seconds)

    def observe_set(
        self,
        account_id: str,
        answers: Sequence[tuple[str, Outcome]],
        *,
        seconds: float,
        tried_since: Sequence[datetime | None] = (),
    ) -> None:
        """What became of a set that was handed over in one call: each address with its outcome.

        `tried_since`: for each when it was first handed to this account, where that was before this call.
        """
        now = self._clock.now()
        if any(type(outcome) is Accepted for _, outcome in answers):
            self._took_at[account_id] = now
        since = iter(tried_since or (None,) * len(answers))
        by_prefix: dict[str, list[int]] = {}
        many = 0
        for to, outcome in answers:
            many += 1
            # Nearly all of them.
            first = next(since)
            verdict = False if type(outcome) is Accepted else is_failure(outcome)
            if verdict is None:
                continue
            if verdict and first is not None and self._takes_others(account_id, since=first):
                # It fails again and again where others are taken: that speaks of the message.
                self._give_probe_back(account_id)
                continue
            if verdict:
                self._causes.setdefault(account_id, deque(maxlen=_CAUSES)).append(cause_of(outcome))
            prefix = prefix_of(to)
            counts = by_prefix.get(prefix)
            if counts is None:
                counts = by_prefix[prefix] = [0, 0]
            counts[verdict] += 1
        if self._causes and all(not failed for _, failed in by_prefix.values()):
            self._causes.pop(account_id, None)
        slow = self.is_slow(seconds, many)
        for prefix, (ok, failed) in by_prefix.items():
            self.observe(account_id, prefix=prefix, ok=ok, failed=failed, seconds=seconds, slow=slow)

    def cause(self, account_id: str) -> str | None:
        """The code that this process has met most among the account's latest failures; None where it met none."""
        known = self._causes.get(account_id)
        return Counter(known).most_common(1)[0][0] if known else None

    def learn_taken(self, taken: Mapping[str, datetime]) -> None:
        """When accounts took a message, as other processes saw it."""
        for account_id, at in taken.items():
            known = self._took_at.get(account_id)
            if known is None or known < at:
                self._took_at[account_id] = at

    def _takes_others(self, account_id: str, *, since: datetime) -> bool:
        took_at = self._took_at.get(account_id)
        return took_at is not None and took_at > since

    def is_slow(self, seconds: float, messages: int = 1) -> bool:
        """Whether a vendor took too long for so many messages."""
        return seconds > self.settings.slow_seconds + self.settings.slow_seconds_each * (messages - 1)

    # --- told by the job that looks at the database

    def learn_circuits(self, circuits: Iterable[AccountCircuit]) -> None:
        """How circuits stand; one that is known to be further on stays."""
        for one in circuits:
            known = self._circuits.get(one.account_id)
            if known is not None and known.circuit.version >= one.circuit.version:
                continue
            self._circuits[one.account_id] = one
            self.sooner |= known is not None and _is_sooner(known.circuit, one.circuit)
            self._probes.pop(one.account_id, None)
            self.wanted.discard(one.account_id)
            if one.circuit.state == "CLOSED":
                self._barred.pop(one.account_id, None)
                continue
            self._barred[one.account_id] = one
            if one.circuit.state == "HALF_OPEN" and one.circuit.prober == self.name:
                self._probes[one.account_id] = self.settings.circuits.probes

    def learn_weights(self, weights: Iterable[ChannelWeights]) -> None:
        """How vendors share their channels; what is known to be further on stays."""
        for one in weights:
            key = (one.tenant_id, one.channel)
            known = self._weights.get(key)
            if known is None or known.version < one.version:
                self._weights[key] = one

    def circuit_of(self, account_id: str) -> AccountCircuit | None:
        """The circuit, if it ever changed."""
        return self._circuits.get(account_id)

    def barred(self) -> list[AccountCircuit]:
        """All circuits that are not closed."""
        return list(self._barred.values())

    def watched(self) -> list[AccountCircuit]:
        """All circuits that may change without any call: those that are not closed, or are held by hand."""
        return [
            one for one in self._circuits.values() if one.circuit.state != "CLOSED" or one.circuit.override
        ]

    def weights(self) -> Iterable[ChannelWeights]:
        """All that are known."""
        return self._weights.values()

    def points(self, tenant_id: TenantId, channel: str, to: str) -> Points | None:
        """How vendors share what goes to this address; None where they have no weights."""
        found = self._shared(tenant_id, channel)
        return None if found is None else found.points_of(prefix_of(to))

    def has_weights(self, tenant_id: TenantId, channel: str) -> bool:
        """Whether vendors share this channel, instead of being called in their order."""
        return self._shared(tenant_id, channel) is not None

    def _shared(self, tenant_id: TenantId, channel: str) -> ChannelWeights | None:
        """The tenant's own, or else the platform's."""
        if not self._weights:
            return None
        for owner in (tenant_id, None):
            found = self._weights.get((owner, channel))
            if found is not None and found.home:
                return found
        return None

    # --- the longer way: several vendors, or a circuit that is not closed

    def _weigh(
        self,
        tenant_id: TenantId,
        channel: str,
        vendors: Sequence[str],
        accounts: Mapping[str, StoredAccount],
        *,
        to: str,
        tried: Collection[str],
        random_unit: float,
    ) -> ChosenVendor | NoVendorAvailable:
        free, barred, off = self._sorted(vendors, accounts)
        fresh = [vendor for vendor in free if vendor not in tried]
        if barred:
            for known in barred:
                # A repeat goes to another vendor first. Where there is no other it may be a probe, once all that wait
                # have had the time to come back and those that never failed here have had their turn.
                may = known.vendor not in tried or (not fresh and self._is_late(known.circuit))
                if may and self._take_probe(known):
                    return ChosenVendor(known.vendor, known.account_id, PROBE)
            until = self._ask_again(barred) + self.settings.spread * random_unit
            if not free:
                return NoVendorAvailable(CIRCUIT_OPEN, until)
        if off and not free:
            # Who switched it off may switch it on at any time.
            again = self._clock.now() + self.settings.ask_again + self.settings.spread * random_unit
            return NoVendorAvailable(ACCOUNT_OFF, again)
        if not free:
            return ChosenVendor(vendors[0], None, ONLY if len(vendors) == 1 else FIRST)
        vendor, why = self._pick(tenant_id, channel, fresh or free, to, random_unit)
        if barred:
            why = f"circuit of {', '.join(known.vendor for known in barred)} open"
        elif off:
            why = f"account of {', '.join(off)} off"
        elif fresh and len(fresh) < len(free):
            why = NOT_TRIED
        return ChosenVendor(vendor, accounts[vendor].id, why)

    def _sorted(
        self, vendors: Sequence[str], accounts: Mapping[str, StoredAccount]
    ) -> tuple[list[str], list[AccountCircuit], list[str]]:
        """Vendors that can be called, those with a circuit that is not closed, those with an account that is switched off; each in their order."""
        free: list[str] = []
        barred: list[AccountCircuit] = []
        off: list[str] = []
        for vendor in vendors:
            account = accounts.get(vendor)
            if account is None:
                continue
            known = self._barred.get(account.id)
            if not account.active:
                off.append(vendor)
            elif known is None:
                free.append(vendor)
            else:
                barred.append(known)
        return free, barred, off

    def _pick(
        self, tenant_id: TenantId, channel: str, vendors: Sequence[str], to: str, random_unit: float
    ) -> tuple[str, str]:
        if len(vendors) == 1:
            return vendors[0], ONLY
        points = self.points(tenant_id, channel, to)
        if points is None:
            return vendors[0], FIRST
        shares = [points.get(vendor, 0) for vendor in vendors]
        total = sum(shares)
        if total == 0:
            return vendors[0], FIRST
        place = random_unit * total
        for vendor, share in zip(vendors, shares, strict=True):
            place -= share
            if place < 0:
                return vendor, f"weight {':'.join(map(str, shares))}"
        # Only rounding leads here.
        last = max(range(len(shares)), key=lambda at: (shares[at] > 0, at))
        return vendors[last], f"weight {':'.join(map(str, shares))}"

    def _take_probe(self, known: AccountCircuit) -> bool:
        left = self._probes.get(known.account_id, 0)
        if left <= 0:
            return False
        self._probes[known.account_id] = left - 1
        return True

    def _give_probe_back(self, account_id: str) -> None:
        left = self._probes.get(account_id)
        if left is not None:
            self._probes[account_id] = min(left + 1, self.settings.circuits.probes)

    def _is_late(self, circuit: Circuit) -> bool:
        return circuit.since is None or self._clock.now() >= circuit.since + self.settings.spread

    def _ask_again(self, barred: Sequence[AccountCircuit]) -> datetime:
        """When the first of them may be tried; those that may already are noted as wanted."""
        now = self._clock.now()
        soon = now + self.settings.look_every
        times: list[datetime] = []
        for known in barred:
            circuit = known.circuit
            if circuit.state == "HALF_OPEN":
                times.append(soon)
            elif circuit.until is None:
                times.append(now + self.settings.ask_again)
            elif circuit.until <= now:
                self.wanted.add(known.account_id)
                times.append(soon)
            elif circuit.override is not None:
                # Who holds it by hand may let go of it at any time.
                times.append(min(circuit.until, now + self.settings.ask_again))
            else:
                times.append(circuit.until)
        return max(min(times), now + timedelta(milliseconds=1))


def _is_sooner(before: Circuit, after: Circuit) -> bool:
    """Whether those who wait for the circuit wait for a moment that is no longer the first at which it may be tried."""
    if before.state != "OPEN":
        return False
    return after.state == "CLOSED" or (
        after.until is not None and (before.until is None or after.until < before.until)
    )
