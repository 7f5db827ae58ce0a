"""The cache of views in one process: how old a view may be, what a change ends, how much is kept."""

from datetime import UTC, datetime, timedelta

import pytest

from tidings.backoffice.properties.access import PropertyAccess, PropertyId
from tidings.backoffice.view_cache.changes import UpstreamChange
from tidings.backoffice.view_cache.entry import CachedView
from tidings.backoffice.view_cache.keys import (
    CACHE_KEY_VERSION,
    ViewKey,
    board_key,
    dashboard_key,
    properties_key,
)
from tidings.backoffice.view_cache.memory import ViewMemory
from tidings.kernel.ids import TenantId

_NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)
_TENANT = TenantId("tnt_1")
_ACCESS = PropertyAccess(tenant_id=_TENANT, property_id=PropertyId("hotel"))
_KEY = board_key(_ACCESS, "today", "today", None, ("reservations", "housekeeping"))


def _view(body: bytes = b"{}", *, is_whole: bool = True) -> CachedView:
    return CachedView(made_at=_NOW, body=body, is_whole=is_whole)


def _after(seconds: float) -> datetime:
    return _NOW + timedelta(seconds=seconds)


def test_keys_are_those_of_the_cache_tier_with_their_times() -> None:
    day = _NOW.date()
    dashboard = dashboard_key(_ACCESS, "tenant.admin", ("locks",))

    assert dashboard.text == f"dash:tnt_1:hotel:tenant.admin:{CACHE_KEY_VERSION}"
    assert dashboard.ttl == timedelta(seconds=30)
    assert _KEY.text == "wb:today:tnt_1:hotel"
    assert _KEY.ttl == timedelta(seconds=15)
    assert board_key(_ACCESS, "arrivals", "arr", day, ()).text == "wb:arr:tnt_1:hotel:2026-11-19"
    assert properties_key(_TENANT).text == "props:tnt_1"


def test_a_view_is_shown_for_its_time_and_a_partial_one_for_three_seconds() -> None:
    memory = ViewMemory()
    memory.put(_KEY, _view(), generation=0)

    assert memory.get(_KEY, _after(14.9)) is not None
    assert memory.get(_KEY, _after(15)) is None

    memory.put(_KEY, _view(is_whole=False), generation=0)
    assert memory.get(_KEY, _after(2.9)) is not None
    assert memory.get(_KEY, _after(3)) is None


def test_a_view_is_due_in_the_last_third_of_its_time() -> None:
    assert not _view().is_due(_after(9.9), _KEY.ttl)
    assert _view().is_due(_after(10), _KEY.ttl)


@pytest.mark.parametrize(
    ("change", "goes"),
    [
        (UpstreamChange("tnt_1", "reservations", "hotel"), True),
        (UpstreamChange("tnt_1", "reservations", ""), True),
        (UpstreamChange("tnt_1", "maintenance", "hotel"), False),
        (UpstreamChange("tnt_1", "reservations", "school"), False),
        (UpstreamChange("tnt_2", "reservations", "hotel"), False),
    ],
)
def test_a_change_ends_the_views_that_it_concerns(change: UpstreamChange, goes: bool) -> None:
    memory = ViewMemory()
    memory.put(_KEY, _view(), generation=0)

    memory.forget(change)

    assert (memory.get(_KEY, _NOW) is None) is goes


def test_what_was_begun_before_a_change_is_not_kept_after_it() -> None:
    memory = ViewMemory()
    begun = memory.generation
    memory.forget(UpstreamChange("tnt_1", "reservations", "hotel"))

    memory.put(_KEY, _view(), generation=begun)

    assert memory.get(_KEY, _NOW) is None


def test_the_least_recently_used_makes_room() -> None:
    memory = ViewMemory(most_bytes=250)
    keys = [_named(name) for name in "abc"]
    memory.put(keys[0], _view(b"x" * 100), generation=0)
    memory.put(keys[1], _view(b"x" * 100), generation=0)
    memory.get(keys[0], _NOW)

    memory.put(keys[2], _view(b"x" * 100), generation=0)

    assert [memory.get(key, _NOW) is not None for key in keys] == [True, False, True]


def _named(name: str) -> ViewKey:
    access = PropertyAccess(tenant_id=_TENANT, property_id=PropertyId(name))
    return board_key(access, "today", "today", None, ())


def test_an_announced_change_is_read_as_it_was_written() -> None:
    change = UpstreamChange("tnt_1", "locks", "hotel:1")

    assert UpstreamChange.read(change.key) == change
    assert UpstreamChange.read("tnt_1/x/nothing") is None
