"""What may be done with an item, and what it counts as."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.notify.ids import InboxItemId
from tidings.notify.inbox.model import InboxItem, Verb, expiry_of, item_of, notification_of

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=2)
ITEM = InboxItem(
    id=InboxItemId("inb_01M7FH87G06QQE67ATFGNQ1BJ2"),
    place=7,
    category="transactional",
    priority="normal",
    tags=(),
    arrived_at=NOW,
    expires_at=NOW + timedelta(days=30),
    content=b"sealed",
)
VERBS: tuple[Verb, ...] = get_args(Verb)


def counted(item: InboxItem) -> tuple[bool, bool]:
    return item.is_unread, item.is_unseen


@pytest.mark.parametrize(
    ("verbs", "expected"),
    [
        ([], (True, True)),
        (["see"], (True, False)),
        (["read"], (False, False)),
        (["read", "unread"], (True, False)),
        (["archive"], (False, False)),
        (["archive", "unarchive"], (True, True)),
        (["read", "archive", "unarchive"], (False, False)),
        (["snooze"], (False, False)),
        (["snooze", "unsnooze"], (True, True)),
        (["snooze", "archive", "unarchive"], (True, True)),
        (["delete"], (False, False)),
    ],
)
def test_what_an_item_counts_as(verbs: list[Verb], expected: tuple[bool, bool]) -> None:
    item = ITEM
    for verb in verbs:
        item = item.after(verb, NOW, LATER)

    assert counted(item) == expected


@given(st.lists(st.sampled_from(VERBS), max_size=8))
def test_a_change_that_is_repeated_changes_nothing(verbs: list[Verb]) -> None:
    item = ITEM
    for verb in verbs:
        item = item.after(verb, NOW, LATER)
        assert item.after(verb, NOW + timedelta(seconds=5), LATER) == item


@given(st.lists(st.sampled_from([verb for verb in VERBS if verb != "delete"]), max_size=8))
def test_what_was_deleted_stays_so_and_has_no_content(verbs: list[Verb]) -> None:
    item = ITEM.after("delete", NOW)
    for verb in verbs:
        item = item.after(verb, NOW, LATER)

    assert item.removed_at == NOW
    assert item.content is None
    assert item.due_at is None
    assert counted(item) == (False, False)


def test_the_first_of_a_snooze_and_an_expiry_is_due() -> None:
    assert ITEM.due_at == ITEM.expires_at
    assert ITEM.after("snooze", NOW, LATER).due_at == LATER
    short = replace(ITEM, expires_at=NOW + timedelta(hours=1))
    assert short.after("snooze", NOW, LATER).due_at == short.expires_at


def test_who_returns_from_a_snooze_is_new_and_on_top() -> None:
    snoozed = ITEM.after("read", NOW).after("snooze", NOW, LATER)

    returned = snoozed.returned(12)

    assert (returned.place, counted(returned), returned.snoozed_until) == (12, (True, True), None)


def test_an_item_is_named_after_its_notification() -> None:
    id_ = "ntf_01M7FH87G06QQE67ATFGNQ1BJ2"

    assert item_of(id_) == "inb_01M7FH87G06QQE67ATFGNQ1BJ2"
    assert notification_of(item_of(id_)) == id_


def test_an_item_is_kept_as_its_category_says_and_never_longer() -> None:
    assert expiry_of("marketing", NOW, None) == NOW + timedelta(days=90)
    assert expiry_of("regulated", NOW, NOW + timedelta(days=2)) == NOW + timedelta(days=2)
    assert expiry_of("standard", NOW, NOW + timedelta(days=400)) == NOW + timedelta(days=180)
