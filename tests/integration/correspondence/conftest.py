"""What these tests share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.notifications.world import SentWorld
from tidings.kernel.db import Database
from tidings.notify.correspondence.correspondents import StoredCorrespondents


@pytest.fixture
async def world(db: Database, tmp_path: Path) -> AsyncIterator[SentWorld]:
    """The application over the shared database; nobody dispatches."""
    made = SentWorld(db, tmp_path)
    yield made
    await made.system.notify.renderer.close()
    await made.system.notify.authoring.close()


@pytest.fixture
async def alone(fresh_db: Database, tmp_path: Path) -> AsyncIterator[SentWorld]:
    """The same with a database of its own: whoever dispatches takes what lies there, whosesoever it is."""
    made = SentWorld(fresh_db, tmp_path)
    yield made
    await made.system.notify.renderer.close()
    await made.system.notify.authoring.close()


def correspondents(world: SentWorld) -> StoredCorrespondents:
    """Over the world's own parts."""
    system = world.system
    return StoredCorrespondents(
        keyring=system.kernel.keyring,
        upserter=world.upserter,
        suppressor=world.suppressor,
        outbox=system.kernel.outbox,
        clock=system.clock,
    )
