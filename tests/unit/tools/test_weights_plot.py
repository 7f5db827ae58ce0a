"""The picture of the weights shows a run, and the run keeps the rules that the page states."""

from itertools import pairwise

import pytest
from tools.weights_plot import PICTURE, draw
from tools.weights_run import HOME, MESSAGES_A_SECOND, SLOW_FROM, SLOW_UNTIL, Second, run


@pytest.fixture(scope="module")
def seconds() -> list[Second]:
    return run()


def moves(seconds: list[Second]) -> list[tuple[int, int]]:
    """When http_acme's points changed, and by how many."""
    return [
        (after.at, after.points["http_acme"] - before.points["http_acme"])
        for before, after in pairwise(seconds)
        if before.points != after.points
    ]


def test_points_come_to_a_hundred_and_leave_by_tens_a_minute_apart(seconds: list[Second]) -> None:
    found = moves(seconds)

    assert all(sum(second.points.values()) == 100 for second in seconds)
    assert {abs(many) for _, many in found} == {10}
    assert all(later - sooner >= 60 for (sooner, _), (later, _) in pairwise(found))


def test_nothing_moves_before_it_is_slow_and_all_has_left_within_minutes(seconds: list[Second]) -> None:
    assert all(second.points == HOME for second in seconds[: SLOW_FROM + 1])
    away = [at for at, many in moves(seconds) if many < 0]

    assert away[0] - SLOW_FROM < 60
    assert seconds[away[-1]].points["http_acme"] == 0
    assert away[-1] - SLOW_FROM < 8 * 60


def test_points_drift_home_after_fifteen_quiet_minutes(seconds: list[Second]) -> None:
    found = moves(seconds)
    last_away = max(at for at, many in found if many < 0)
    home = [at for at, many in found if many > 0]

    assert home[0] >= max(SLOW_UNTIL, last_away + 15 * 60)
    assert home[0] < last_away + 16 * 60 + 60
    assert len(home) == 7
    assert seconds[-1].points == HOME


def test_traffic_follows_the_points(seconds: list[Second]) -> None:
    """Each stretch between two moves carries what its points say, within what luck allows."""
    borders = [0, *(at + 1 for at, _ in moves(seconds)), len(seconds)]
    for begin, end in pairwise(borders):
        stretch = seconds[begin:end]
        sent = sum(second.sent["http_acme"] for second in stretch)
        share = sent / (len(stretch) * MESSAGES_A_SECOND)
        # Four standard deviations of so many throws, at most.
        allowed = 4 * 0.5 / (len(stretch) * MESSAGES_A_SECOND) ** 0.5
        assert abs(share - stretch[0].points["http_acme"] / 100) <= allowed


def test_nothing_is_lost_on_the_way(seconds: list[Second]) -> None:
    assert all(second.sent.total() == MESSAGES_A_SECOND for second in seconds)


def test_the_picture_in_the_docs_is_of_this_run(seconds: list[Second]) -> None:
    assert PICTURE.read_text(encoding="utf-8") == draw(seconds)
