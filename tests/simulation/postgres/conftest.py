"""What these tests share."""

from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Workers die here by the hundred; their last words would take longer than their lives."""
    with capture_logs():
        yield
