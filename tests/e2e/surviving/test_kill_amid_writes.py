"""`kill -9` of Tidings while it writes."""

from pathlib import Path

import pytest

from tests.e2e.surviving.books import assert_nothing_is_lost_or_doubled
from tests.e2e.surviving.writing import Writer
from tests.support.running import RunningTidings

pytestmark = pytest.mark.xdist_group("surviving")


def test_nothing_that_was_answered_is_lost(data_dir: Path) -> None:
    """Killed and started again, twice: every 201 is there, and every event had its effect once."""
    keys: list[str] = []
    tenants: list[str] = []
    for _ in range(2):
        with RunningTidings(data_dir) as tidings:
            with Writer(tidings) as writer:
                writer.await_more(25)
                tidings.kill()
            keys += writer.keys
            tenants += writer.tenants

    with RunningTidings(data_dir) as tidings:
        assert len(keys) > 20
        assert len(tenants) > 5
        assert_nothing_is_lost_or_doubled(tidings, keys=keys, tenants=tenants)
