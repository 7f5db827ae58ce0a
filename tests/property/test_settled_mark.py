"""The floor of an outbox never rises above a number that is still to come."""

from hypothesis import given
from hypothesis import strategies as st

from tidings.kernel.postgres_bus.settled import SettledMark


@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("take"), st.integers(0, 4)),
            st.tuples(st.just("commit"), st.integers(0, 4)),
            st.tuples(st.just("roll back"), st.integers(0, 4)),
            st.tuples(st.just("pass"), st.booleans()),
            st.tuples(st.just("commit between survey and move"), st.integers(0, 4)),
        ),
        max_size=60,
    ),
    limit=st.integers(1, 4),
)
def test_no_number_is_ever_left_below_the_floor(steps: list[tuple[str, int]], limit: int) -> None:
    """Writers take numbers and commit in any order, passes come at any time and may be full."""
    mark = SettledMark()
    next_seq, generation = 1, 0
    open_: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    visible: set[int] = set()

    def run_pass(*, survey: bool, sneaking: int | None) -> None:
        confirming = mark.surveyed(frozenset(names[w] for w in open_)) if survey else None
        if sneaking is not None and sneaking in open_:
            visible.update(open_.pop(sneaking))
        moved = sorted(seq for seq in visible if seq > mark.floor)[:limit]
        visible.difference_update(moved)
        mark.moved(max(moved, default=0), full=len(moved) == limit, confirming=confirming)

    for step, argument in steps:
        if step == "take":
            if argument not in open_:
                generation += 1
                open_[argument], names[argument] = [], f"{argument}/{generation}"
            open_[argument].append(next_seq)
            next_seq += 1
        elif step == "commit" and argument in open_:
            visible.update(open_.pop(argument))
        elif step == "roll back":
            open_.pop(argument, None)
        elif step == "pass":
            run_pass(survey=bool(argument), sneaking=None)
        else:
            run_pass(survey=True, sneaking=argument)

        still_to_come = visible | {seq for numbers in open_.values() for seq in numbers}
        assert all(seq > mark.floor for seq in still_to_come)


def test_the_floor_rises_once_everybody_has_ended() -> None:
    """Not while a transaction that was there is still there; later ones don't matter."""
    mark = SettledMark()
    mark.moved(10, full=False, confirming=mark.surveyed(frozenset()))

    assert mark.surveyed(frozenset({"slow"})) is None
    assert mark.surveyed(frozenset({"slow", "later"})) is None
    mark.moved(0, full=False, confirming=None)
    assert mark.floor == 0
    confirming = mark.surveyed(frozenset({"later"}))
    mark.moved(0, full=False, confirming=confirming)

    assert mark.floor == 10
