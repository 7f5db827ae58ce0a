"""What these tests share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.channel_world import ChannelWorld
from tests.support.people import PeopleWorld
from tidings.kernel.db import Database


@pytest.fixture
def world(db: Database, tmp_path: Path) -> PeopleWorld:
    """The application with these parts, over the shared database."""
    return PeopleWorld(db, tmp_path)


@pytest.fixture
async def channels(db: Database, tmp_path: Path) -> AsyncIterator[ChannelWorld]:
    """The application with its vendors' side, whose clock a test moves."""
    made = ChannelWorld(db, tmp_path)
    yield made
    await made.close()
