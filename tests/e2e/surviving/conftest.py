"""One data dir for all these tests of a worker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.used_data_dir import used_data_dir


@pytest.fixture(scope="package")
def data_dir() -> Iterator[Path]:
    """It has been started before."""
    with used_data_dir() as place:
        yield place
