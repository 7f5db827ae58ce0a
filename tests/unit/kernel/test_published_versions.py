"""Which of several versions of an event a reader is told, who is pinned to a day."""

from datetime import UTC, date, datetime, timedelta

import pytest

from tests.support.clock import ManualClock
from tidings.kernel.bus import SubjectFilter
from tidings.kernel.event_versions.model import SETTLING, PublishedVersions, Successor, VersionWindow
from tidings.kernel.events import Event, new_event

BEGAN = datetime(2026, 11, 10, 12, tzinfo=UTC)
NOON = BEGAN + timedelta(days=5)
V1, V2, V3 = "order.placed.v1", "order.placed.v2", "order.placed.v3"
SECOND, THIRD = date(2026, 11, 10), date(2026, 11, 12)
CHAIN = [
    Successor(subject=V2, replaces=V1, introduced=SECOND, down=lambda data: data),
    Successor(subject=V3, replaces=V2, introduced=THIRD, down=lambda data: data),
]


def window(subject: str, successor: str, closed_at: datetime | None = None) -> VersionWindow:
    return VersionWindow(subject=subject, successor=successor, began_at=BEGAN, closed_at=closed_at, groups=())


OPEN = [window(V1, V2), window(V2, V3)]


def event(subject: str, at: datetime = NOON) -> Event:
    return new_event(subject, {}, tenant_id=None, ordering_key="k", source="/tests", clock=ManualClock(at))


def told(
    pinned: date, *patterns: str, windows: list[VersionWindow] | None = None, at: datetime = NOON
) -> list[str]:
    versions = PublishedVersions(CHAIN, OPEN if windows is None else windows)
    takes = SubjectFilter(patterns or ("order.>",)).takes
    return [
        one
        for one in (V1, V2, V3, "order.paid.v1")
        if takes(one) and not versions.has_better(event(one, at), pinned=pinned, takes=takes)
    ]


@pytest.mark.parametrize(
    ("pinned", "version"),
    [
        (SECOND - timedelta(days=1), V1),
        (SECOND, V2),
        (THIRD - timedelta(days=1), V2),
        (THIRD, V3),
        (THIRD + timedelta(days=9), V3),
    ],
)
def test_the_newest_version_of_the_day_and_no_other(pinned: date, version: str) -> None:
    assert told(pinned) == [version, "order.paid.v1"]


def test_a_version_that_is_named_is_told_whatever_the_day() -> None:
    old, new = SECOND - timedelta(days=1), THIRD
    assert told(old, V3) == [V3]
    assert told(new, V1) == [V1]


def test_what_has_ended_is_not_waited_for() -> None:
    """By the time of the event: one of before has its older version, and no other is told."""
    windows = [window(V1, V2, closed_at=NOON), window(V2, V3)]
    old = SECOND - timedelta(days=1)
    assert told(old, windows=windows, at=NOON - timedelta(seconds=1))[:1] == [V1]
    assert V2 in told(old, windows=windows)
    assert V3 not in told(old, windows=windows)


def test_until_a_release_has_settled_no_older_version_is_passed_over() -> None:
    """A process of the release before may publish the older one alone."""
    assert told(THIRD, at=BEGAN + SETTLING - timedelta(seconds=1)) == [V1, V2, V3, "order.paid.v1"]
    assert told(THIRD, at=BEGAN + SETTLING) == [V3, "order.paid.v1"]
    assert told(THIRD, windows=[]) == [V1, V2, V3, "order.paid.v1"]


@pytest.mark.parametrize("pinned", [SECOND - timedelta(days=1), SECOND, THIRD])
@pytest.mark.parametrize(
    "windows",
    [
        OPEN,
        [window(V1, V2, closed_at=NOON), window(V2, V3)],
        [window(V1, V2, closed_at=NOON), window(V2, V3, closed_at=NOON)],
    ],
)
@pytest.mark.parametrize("patterns", [(V1, V3), (V1, V2), (V2, V3), (V1, V2, V3), (V1,), (V2,), (V3,)])
def test_each_event_is_told_once_whichever_versions_are_taken(
    pinned: date, windows: list[VersionWindow], patterns: tuple[str, ...]
) -> None:
    for at in (NOON - timedelta(seconds=1), NOON):
        published = [V3]
        for newer, successor in ((V3, CHAIN[1]), (V2, CHAIN[0])):
            if newer in published and PublishedVersions(CHAIN, windows).publishes_older(successor, at):
                published.append(successor.replaces)
        heard = [one for one in told(pinned, *patterns, windows=windows, at=at) if one in published]
        assert len(heard) == bool(set(published) & set(patterns))
