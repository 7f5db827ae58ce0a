"""What these tests share."""

from pathlib import Path

import pytest

from tests.integration.receipts.world import ReceiptsWorld
from tests.support.clock import ManualClock
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database


@pytest.fixture
def world(db: Database, tmp_path: Path) -> ReceiptsWorld:
    """The consumers over the shared database, by a clock that the test moves."""
    return ReceiptsWorld(db, tmp_path, ManualClock(SystemClock().now().replace(microsecond=0)))
