"""What the tests of events share."""

import pytest

from tests.support.http import HttpWorld, http_world
from tidings.kernel.db import Database


@pytest.fixture
def world(db: Database) -> HttpWorld:
    """The application over the shared database."""
    return http_world(db)
