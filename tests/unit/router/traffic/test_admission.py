"""Limits of accounts: as many go as there is room for, in one question."""

from collections.abc import Sequence
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.support.clock import ManualClock
from tests.unit.router.traffic.boards import account
from tidings.kernel.errors import DatabaseUnavailableError
from tidings.kernel.hot_state import Take, Taken, TenantTakes, take_side_by_side
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import LimitState, to_micros
from tidings.kernel.local_hot_state.limits import decide
from tidings.router.traffic.admission import halves
from tidings.router.traffic.model import AdmissionResult
from tidings.router.traffic.vendor_selection import VendorSelection


class MemoryLimits:
    """The arithmetic of the real ones, without a database."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.states: dict[str, LimitState] = {}
        self.asked = 0

    async def take(self, tenant_id: TenantId | None, groups: Sequence[Sequence[Take]]) -> list[Taken]:
        assert tenant_id is None
        self.asked += 1
        for group in groups:
            for take in group:
                self.states.setdefault(f"{take.limit.kind}:{take.key}", LimitState())
        return decide(groups, self.states, to_micros(self.clock.now()))[0]

    async def take_of(self, wishes: Sequence[TenantTakes]) -> list[Taken]:
        return await take_side_by_side(self, wishes)


class AwayLimits:
    """A store that does not answer."""

    async def take(self, tenant_id: TenantId | None, groups: Sequence[Sequence[Take]]) -> list[Taken]:
        raise DatabaseUnavailableError("away")

    async def take_of(self, wishes: Sequence[TenantTakes]) -> list[Taken]:
        return await take_side_by_side(self, wishes)


@given(st.integers(0, 2000), st.integers(0, 2500))
def test_pieces_fill_any_room_exactly(many: int, room: int) -> None:
    left = room
    for piece in halves(many):
        if piece <= left:
            left -= piece

    assert sum(halves(many)) == many
    assert room - left == min(room, many)


async def test_so_many_as_a_second_lets_through_then_more_as_time_goes() -> None:
    clock = ManualClock()
    limits = MemoryLimits(clock)
    board = VendorSelection(limits, clock=clock)
    limited, free = account("http_a", per_second=10), account("http_b")

    first = await board.admit([(limited, 25), (free, 7)])
    assert first[0].count == 10
    assert first[1] == AdmissionResult(7)
    assert limits.asked == 1
    assert first[0].until == clock.now() + timedelta(seconds=0.1)

    await clock.advance(timedelta(seconds=0.5))
    (second,) = await board.admit([(limited, 25)])

    assert second.count == 5


async def test_the_day_ends_it_before_the_second_does() -> None:
    clock = ManualClock()
    board = VendorSelection(MemoryLimits(clock), clock=clock)
    limited = account("http_a", per_second=100, per_day=130)

    counts = []
    for _ in range(3):
        (admitted,) = await board.admit([(limited, 100)])
        counts.append(admitted.count)
        await clock.advance(timedelta(seconds=1))

    assert counts == [100, 30, 0]
    assert admitted.until is not None
    midnight = clock.now().replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    assert admitted.until == midnight


async def test_accounts_do_not_share_limits_and_one_asked_twice_has_its_limit_once() -> None:
    clock = ManualClock()
    board = VendorSelection(MemoryLimits(clock), clock=clock)
    a, b = account("http_a", per_second=10), account("http_b", per_second=10)

    found = await board.admit([(a, 8), (b, 8), (a, 8)])

    assert [one.count for one in found] == [8, 8, 2]


async def test_while_limits_cannot_be_asked_nothing_that_is_limited_goes() -> None:
    clock = ManualClock()
    board = VendorSelection(AwayLimits(), clock=clock)

    found = await board.admit([(account("http_a", per_second=10), 8), (account("http_b"), 8)])

    assert found == [AdmissionResult(0, clock.now() + timedelta(seconds=1)), AdmissionResult(8)]
