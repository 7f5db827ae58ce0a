"""A run of forty-five minutes in which one of two vendors turns slow, on the real code of circuits and weights.

Time is made up, luck is seeded, and the vendors are two lines. All else is what a worker runs: `VendorSelection` chooses and
counts, and once a second a look decides which points move.
"""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from tidings.kernel.hot_state import Take, Taken, TenantTakes, take_side_by_side
from tidings.kernel.ids import TenantId
from tidings.router.accounts.model import StoredAccount
from tidings.router.traffic.circuit import Counts
from tidings.router.traffic.evaluation import circuit_changes, weights_change, weights_to_look_at
from tidings.router.traffic.model import ChosenVendor
from tidings.router.traffic.sums import AnswerCounts, AnswerTotals
from tidings.router.traffic.traffic_state import AccountCircuit, ChannelWeights
from tidings.router.traffic.vendor_selection import VendorSelection
from tidings.router.traffic.weights import Points

TENANT: Final = TenantId("tnt_01JCQ8ZK6T9Y4M2V7N5B3D1F0G")
HOME: Final = {"http_acme": 70, "http_backup": 30}
NUMBER: Final = "+93700000001"
SECONDS: Final = 45 * 60
MESSAGES_A_SECOND: Final = 20
#: When http_acme takes seven seconds for six calls in ten.
SLOW_FROM: Final = 5 * 60
SLOW_UNTIL: Final = 20 * 60
_SLOW_SHARE: Final = 0.6
_BEGIN: Final = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Second:
    """What happened in one."""

    at: int
    points: Points
    #: Messages by the vendor that carried them.
    sent: Counter[str]
    #: Calls of http_acme that were slow.
    slow: int


class _Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return _BEGIN + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError


class _NoLimits:
    async def take(self, tenant_id: TenantId | None, groups: Sequence[Sequence[Take]]) -> list[Taken]:
        raise NotImplementedError

    async def take_of(self, wishes: Sequence[TenantTakes]) -> list[Taken]:
        return await take_side_by_side(self, wishes)


def run(*, seed: int = 7) -> list[Second]:
    """Second by second."""
    clock, random = _Clock(), Random(seed)  # noqa: S311  # the same run every time
    traffic = VendorSelection(_NoLimits(), clock=clock, name="one")
    weights = ChannelWeights(id="wgt_1", tenant_id=TENANT, channel="sms", version=1, home=HOME)
    traffic.learn_weights([weights])
    accounts = {vendor: _account(vendor) for vendor in HOME}
    window: deque[list[AnswerCounts]] = deque(maxlen=60)
    seconds: list[Second] = []
    for at in range(SECONDS):
        clock.seconds = at
        sent: Counter[str] = Counter()
        slow = 0
        for _ in range(MESSAGES_A_SECOND):
            chosen = traffic.choose(
                TENANT, "sms", tuple(HOME), accounts, to=NUMBER, tried=(), random_unit=random.random()
            )
            if not isinstance(chosen, ChosenVendor) or chosen.account_id is None:
                raise AssertionError("nobody could be called")
            took = _takes(chosen.vendor, at, random)
            is_slow = traffic.is_slow(took)
            slow += is_slow
            sent[chosen.vendor] += 1
            traffic.observe(chosen.account_id, prefix="+93", ok=1, failed=0, seconds=took, slow=is_slow)
        _look(traffic, window, accounts, clock.now())
        points = traffic.points(TENANT, "sms", NUMBER) or {}
        seconds.append(Second(at=at, points=dict(points), sent=sent, slow=slow))
    return seconds


def _takes(vendor: str, at: int, random: Random) -> float:
    sick = vendor == "http_acme" and SLOW_FROM <= at < SLOW_UNTIL and random.random() < _SLOW_SHARE
    return 7.0 if sick else 0.3


def _look(
    traffic: VendorSelection,
    window: deque[list[AnswerCounts]],
    accounts: dict[str, StoredAccount],
    now: datetime,
) -> None:
    """What `TrafficJob` does, with a minute in memory in the place of the table."""
    vendors = {account.id: vendor for vendor, account in accounts.items()}
    window.append(
        [
            AnswerCounts(
                account_id=one.account_id,
                tenant_id=TENANT,
                vendor=vendors[one.account_id],
                prefix=one.prefix,
                era=one.era,
                counts=Counts(one.ok, one.failed, one.slow),
            )
            for one in traffic.tally.take()
        ]
    )
    sums = AnswerTotals.of(one for some in window for one in some)
    for change in circuit_changes(traffic, sums, now=now):
        before = change.before
        traffic.learn_circuits(
            [
                AccountCircuit(
                    account_id=before.account_id,
                    tenant_id=before.tenant_id,
                    vendor=before.vendor,
                    circuit=change.after,
                )
            ]
        )
    ids = {vendor: account.id for vendor, account in accounts.items()}
    for known in weights_to_look_at(traffic, sums):
        moved = weights_change(traffic, known, ids, sums, now=now)
        if moved is not None:
            traffic.learn_weights([moved.after])


def _account(vendor: str) -> StoredAccount:
    return StoredAccount(
        id=f"adcfg_{vendor}",
        platform=False,
        vendor=vendor,
        handle=None,
        secret_ref="file://none",  # noqa: S106
        per_second=None,
        per_day=None,
    )
