"""One data dir for all these tests of a worker: only the first start has to make a database."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir() -> Iterator[Path]:
    """At a place that every user can reach."""
    with tempfile.TemporaryDirectory(prefix="tidings-e2e-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        yield Path(folder) / "data"
