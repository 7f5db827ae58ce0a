"""Weights: ten points at a time, not twice within a minute, nothing when all are sick, home after a quiet time."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tidings.router.traffic.circuit import Counts
from tidings.router.traffic.weights import Health, WeightMove, WeightRules, WeightShift, next_move

T0 = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
RULES = WeightRules()
HOME = {"http_a": 70, "http_b": 30}
WELL = Health(counts=Counts(ok=100))
SLOW = Health(counts=Counts(ok=100, slow=40))
FAILING = Health(counts=Counts(ok=80, failed=20))
MINUTE = timedelta(minutes=1)


def look(shift: WeightShift | None, *, now: datetime = T0, **health: Health) -> WeightMove | None:
    named = {f"http_{name}": one for name, one in health.items()}
    return next_move(HOME, shift, named, now=now, rules=RULES)


def moved(points: dict[str, int], *, ago: timedelta, sick_ago: timedelta | None = None) -> WeightShift:
    return WeightShift(points=points, moved_at=T0 - ago, sick_at=T0 - (sick_ago or ago))


def test_ten_points_leave_a_vendor_that_is_slow() -> None:
    found = look(None, a=SLOW, b=WELL)

    assert found is not None
    assert found.shift == WeightShift(points={"http_a": 60, "http_b": 40}, moved_at=T0, sick_at=T0)
    assert (found.frm, found.to, found.many) == ("http_a", "http_b", 10)
    assert found.reason == "40 of 100 calls were slow"


def test_and_one_that_fails_or_whose_circuit_is_open() -> None:
    for sick in (FAILING, Health(open=True)):
        found = look(None, a=WELL, b=sick)

        assert found is not None
        assert found.shift.points == {"http_a": 80, "http_b": 20}


def test_not_twice_within_a_minute() -> None:
    shift = moved({"http_a": 60, "http_b": 40}, ago=timedelta(seconds=59))

    assert look(shift, a=SLOW, b=WELL) is None
    found = look(shift, now=T0 + timedelta(seconds=1), a=SLOW, b=WELL)

    assert found is not None
    assert found.shift.points == {"http_a": 50, "http_b": 50}


def test_nothing_moves_when_all_are_slow() -> None:
    assert look(None, a=SLOW, b=SLOW) is None
    assert look(None, a=SLOW, b=FAILING) is None


def test_but_then_it_is_noted_that_it_is_not_quiet() -> None:
    shift = moved({"http_a": 50, "http_b": 50}, ago=timedelta(minutes=20))

    found = look(shift, a=SLOW, b=SLOW)

    assert found is not None
    assert (found.frm, found.shift.points, found.shift.sick_at) == (None, shift.points, T0)
    assert found.shift.moved_at == shift.moved_at


def test_a_vendor_with_nothing_left_has_nothing_to_lose() -> None:
    shift = moved({"http_a": 0, "http_b": 100}, ago=MINUTE)

    found = look(shift, a=SLOW, b=WELL)

    assert found is None or found.frm is None


def test_few_calls_say_nothing() -> None:
    assert look(None, a=Health(counts=Counts(ok=0, failed=9)), b=WELL) is None


def test_points_drift_home_after_fifteen_quiet_minutes_ten_at_a_time() -> None:
    shift = moved({"http_a": 45, "http_b": 55}, ago=timedelta(minutes=15))

    assert look(shift, now=T0 - timedelta(seconds=1), a=WELL, b=WELL) is None
    first = look(shift, a=WELL, b=WELL)
    assert first is not None
    assert first.shift.points == {"http_a": 55, "http_b": 45}

    # The next one a minute later: the quiet goes on.
    assert look(first.shift, now=T0 + timedelta(seconds=59), a=WELL, b=WELL) is None
    second = look(first.shift, now=T0 + MINUTE, a=WELL, b=WELL)
    third = second and look(second.shift, now=T0 + 2 * MINUTE, a=WELL, b=WELL)

    assert second is not None
    assert second.shift.points == {"http_a": 65, "http_b": 35}
    assert third is not None
    assert third.shift.points == HOME
    assert look(third.shift, now=T0 + 3 * MINUTE, a=WELL, b=WELL) is None


def test_on_the_way_home_nobody_gets_more_than_belongs_to_them() -> None:
    home = {"http_a": 40, "http_b": 30, "http_c": 30}
    shift = moved({"http_a": 50, "http_b": 25, "http_c": 25}, ago=timedelta(minutes=15))

    first = next_move(home, shift, {}, now=T0, rules=RULES)
    second = first and next_move(home, first.shift, {}, now=T0 + MINUTE, rules=RULES)

    assert first is not None
    assert first.shift.points == {"http_a": 45, "http_b": 30, "http_c": 25}
    assert second is not None
    assert second.shift.points == home


def test_of_three_the_worst_loses_to_the_best() -> None:
    home = {"http_a": 40, "http_b": 30, "http_c": 30}
    health = {
        "http_a": Health(counts=Counts(ok=90, failed=10)),
        "http_b": Health(counts=Counts(ok=50, failed=50)),
        "http_c": Health(counts=Counts(ok=95, failed=5)),
    }

    found = next_move(home, None, health, now=T0, rules=RULES)

    assert found is not None
    assert found.shift.points == {"http_a": 40, "http_b": 20, "http_c": 40}


_names = ["http_a", "http_b", "http_c", "http_d"]
_health = st.builds(
    lambda ok, failed, share, is_open: Health(
        counts=Counts(ok, failed, int((ok + failed) * share)), open=is_open
    ),
    st.integers(0, 60),
    st.integers(0, 20),
    st.floats(0, 1),
    st.booleans(),
)


@st.composite
def _homes(draw: st.DrawFn) -> dict[str, int]:
    names = _names[: draw(st.integers(1, 4))]
    cuts = sorted(draw(st.lists(st.integers(0, 100), min_size=len(names) - 1, max_size=len(names) - 1)))
    edges = [0, *cuts, 100]
    return {name: edges[at + 1] - edges[at] for at, name in enumerate(names)}


@given(
    _homes(),
    st.lists(st.tuples(st.integers(1, 400), st.dictionaries(st.sampled_from(_names), _health)), max_size=60),
)
def test_whatever_happens_points_come_to_a_hundred_and_rest_a_minute_between_moves(
    home: dict[str, int], story: list[tuple[int, dict[str, Health]]]
) -> None:
    shift: WeightShift | None = None
    last_move: datetime | None = None
    last_sick = T0
    now = T0
    for seconds, health in story:
        now += timedelta(seconds=seconds)
        faults = {vendor for vendor in home if vendor in health and RULES.fault(health[vendor])}
        if faults:
            last_sick = now
        before = dict(shift.points if shift else home)

        found = next_move(home, shift, health, now=now, rules=RULES)

        if found is None:
            continue
        after = dict(found.shift.points)
        assert sum(after.values()) == 100
        assert set(after) == set(home)
        assert all(0 <= many <= 100 for many in after.values())
        if found.frm is None:
            assert after == before
        else:
            assert last_move is None or now - last_move >= RULES.rest
            last_move = now
            assert sum(abs(after[v] - before[v]) for v in home) == 2 * found.many
            assert 1 <= found.many <= RULES.step
            if faults:
                assert found.frm in faults
                assert found.to not in faults
                assert faults != set(home)
            else:
                # To within the minute in which a sickness is not noted again.
                assert now - last_sick >= RULES.quiet - RULES.rest
                assert found.to is not None
                assert after[found.frm] >= home[found.frm]
                assert after[found.to] <= home[found.to]
        shift = found.shift


@given(_homes(), st.permutations([0, 25, 25, 50]))
def test_left_in_peace_points_come_home_and_stay(home: dict[str, int], away: list[int]) -> None:
    names = list(home)
    points = dict.fromkeys(names, 0)
    for at, many in enumerate(away):
        points[names[at % len(names)]] += many
    shift = WeightShift(points=points, moved_at=T0, sick_at=T0)
    now = T0 + RULES.quiet

    for _ in range(40):
        found = next_move(home, shift, {}, now=now, rules=RULES)
        if found is not None:
            shift = found.shift
        now += RULES.rest

    assert shift.points == home
    assert next_move(home, shift, {}, now=now, rules=RULES) is None
