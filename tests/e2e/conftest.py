"""Fixtures for tests that start real processes."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A new data dir at a place that every user can reach."""
    with tempfile.TemporaryDirectory(prefix="tidings-e2e-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        yield Path(folder) / "data"
