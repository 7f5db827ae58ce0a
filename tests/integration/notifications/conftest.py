"""The application with notifications in it, over the shared database; nobody dispatches unless a test does."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.notifications.world import SentWorld
from tidings.kernel.db import Database


@pytest.fixture(scope="session")
async def world(db: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SentWorld]:
    """The world of these tests; the child process that looks at templates costs more than a test."""
    made = SentWorld(db, tmp_path_factory.mktemp("notifications"))
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
