"""Fixtures for tests that start real processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.used_data_dir import new_data_dir, used_data_dir


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """Where nothing is yet, at a place that every user can reach."""
    with new_data_dir() as place:
        yield place


@pytest.fixture
def used_dir() -> Iterator[Path]:
    """A data dir of the test's own that has been started before."""
    with used_data_dir() as place:
        yield place
