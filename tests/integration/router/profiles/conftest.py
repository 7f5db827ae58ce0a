"""What these tests share."""

from pathlib import Path

import pytest

from tests.support.clock import ManualClock
from tests.support.people import PeopleWorld
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database


@pytest.fixture
def world(db: Database, tmp_path: Path) -> PeopleWorld:
    """The application with these parts, over the shared database, and a clock that is moved by hand."""
    return PeopleWorld(db, tmp_path, ManualClock(SystemClock().now()))
