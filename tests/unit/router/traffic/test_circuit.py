"""Circuits: what opens them, how they come back, and what never happens."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.router.traffic.circuit import (
    NONE,
    UNTOUCHED,
    Circuit,
    CircuitRules,
    Counts,
    Override,
    hold,
    judge,
    lift,
)

T0 = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
RULES = CircuitRules()


def look(
    circuit: Circuit,
    counts: Counts = NONE,
    *,
    after: float = 0,
    wanted: bool = False,
    me: str = "me",
) -> Circuit | None:
    return judge(circuit, counts, now=T0 + timedelta(seconds=after), me=me, wanted=wanted, rules=RULES)


def opened() -> Circuit:
    found = look(UNTOUCHED, Counts(ok=5, failed=15))
    assert found is not None
    return found


def half_open(after: float = 30) -> Circuit:
    found = look(opened(), after=after, wanted=True)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        (Counts(ok=10, failed=10), "10 of 20 calls failed"),
        (Counts(ok=0, failed=10), "10 of 10 calls failed"),
        (Counts(ok=20, failed=0, slow=16), "16 of 20 calls were slow"),
    ],
)
def test_half_of_the_calls_failing_or_most_being_slow_opens_it(counts: Counts, reason: str) -> None:
    found = look(UNTOUCHED, counts)

    assert found is not None
    assert (found.state, found.reason, found.version) == ("OPEN", reason, 1)
    assert found.until == T0 + RULES.pause


@pytest.mark.parametrize(
    "counts",
    [NONE, Counts(ok=0, failed=9), Counts(ok=11, failed=9), Counts(ok=20, slow=15), Counts(ok=100_000)],
)
def test_few_calls_and_few_failures_say_nothing(counts: Counts) -> None:
    assert look(UNTOUCHED, counts) is None


def test_it_is_tried_again_when_its_time_has_come_and_somebody_has_a_message_for_it() -> None:
    assert look(opened(), after=29.9, wanted=True) is None
    assert look(opened(), after=31, wanted=False) is None

    found = look(opened(), after=30, wanted=True)

    assert found is not None
    assert (found.state, found.prober, found.version) == ("HALF_OPEN", "me", 2)


def test_probes_that_go_well_close_it() -> None:
    assert look(half_open(), Counts(ok=2), after=31) is None

    found = look(half_open(), Counts(ok=3), after=31)

    assert found is not None
    assert (found.state, found.openings, found.prober) == ("CLOSED", 0, None)


@pytest.mark.parametrize("counts", [Counts(ok=2, failed=1), Counts(failed=1), Counts(ok=3, slow=2)])
def test_a_failed_probe_opens_it_for_twice_as_long(counts: Counts) -> None:
    found = look(half_open(), counts, after=40)

    assert found is not None
    assert (found.state, found.openings) == ("OPEN", 2)
    assert found.until == T0 + timedelta(seconds=40) + 2 * RULES.pause


def test_pauses_grow_up_to_a_bound() -> None:
    pauses = [RULES.pause_after(n).total_seconds() for n in range(1, 9)]

    assert pauses == [30, 60, 120, 240, 480, 600, 600, 600]
    assert RULES.pause_after(10_000) == RULES.longest_pause


def test_probes_that_nobody_answered_do_not_lengthen_the_pause() -> None:
    assert look(half_open(), after=30 + 59) is None

    found = look(half_open(), after=30 + 60)

    assert found is not None
    assert (found.state, found.openings) == ("OPEN", 1)
    assert found.until == T0 + timedelta(seconds=90) + RULES.short_pause


def test_with_little_to_do_the_probes_that_came_must_do() -> None:
    assert look(half_open(), Counts(ok=1), after=30 + 59) is None

    found = look(half_open(), Counts(ok=1), after=30 + 60)

    assert found is not None
    assert found.state == "CLOSED"


def test_what_a_person_holds_follows_no_counts_until_its_time_is_over() -> None:
    until = T0 + timedelta(minutes=10)
    held = hold(UNTOUCHED, Override(state="CLOSED", until=until, reason="we know"), now=T0)

    assert look(held, Counts(failed=1000), after=599) is None
    freed = look(held, Counts(failed=1000), after=600)

    assert freed is not None
    assert (freed.state, freed.override) == ("CLOSED", None)
    # Only what is answered from now on counts: this version has no counts yet.
    assert freed.version == held.version + 1


def test_one_that_was_held_open_is_tried_before_all_goes_through() -> None:
    held = hold(UNTOUCHED, Override(state="OPEN", until=None, reason="maintenance"), now=T0)

    assert look(held, after=10_000_000, wanted=True) is None
    freed = lift(held, now=T0)

    assert (freed.state, freed.until) == ("OPEN", T0)
    tried = look(freed, wanted=True)
    assert tried is not None
    assert tried.state == "HALF_OPEN"


_happenings = st.lists(
    st.tuples(
        st.builds(
            lambda ok, failed, share: Counts(ok, failed, int((ok + failed) * share)),
            st.integers(0, 40),
            st.integers(0, 40),
            st.floats(0, 1),
        ),
        st.floats(0, 700),
        st.booleans(),
        st.sampled_from(["look", "look", "look", "hold open", "hold closed", "lift"]),
    ),
    max_size=40,
)


@given(_happenings)
def test_whatever_happens_it_never_goes_from_closed_to_half_open(
    happenings: list[tuple[Counts, float, bool, str]],
) -> None:
    """Nor does a version ever stand for two states, nor time run backwards."""
    circuit, now = UNTOUCHED, T0
    for counts, seconds, wanted, what in happenings:
        now += timedelta(seconds=seconds)
        if what == "look":
            after = judge(circuit, counts, now=now, me="me", wanted=wanted, rules=RULES)
        elif what == "lift":
            after = lift(circuit, now=now) if circuit.override else None
        else:
            state = "OPEN" if what == "hold open" else "CLOSED"
            after = hold(circuit, Override(state=state, until=None, reason="x"), now=now)  # type: ignore[arg-type]
        if after is None:
            continue

        assert (circuit.state, after.state) != ("CLOSED", "HALF_OPEN")
        assert after.version == circuit.version + 1
        assert after.since == now
        if after.state == "HALF_OPEN":
            assert circuit.state == "OPEN"
            assert after.prober == "me"
        else:
            assert after.prober is None
        if after.state == "OPEN" and after.override is None and what == "look":
            assert after.until is not None
            assert now <= after.until <= now + RULES.longest_pause
        circuit = after
