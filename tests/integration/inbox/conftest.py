"""One prepared database for these tests, and a world over it for each file."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from tests.support.pipeline import NOON, PipelineWorld, Prepared, pipeline_world, prepared_database
from tests.support.postgres import TestServer

#: The months that the clocks of these tests pass through.
_MONTHS = [datetime(2026, 10, 1, tzinfo=UTC), NOON, datetime(2027, 3, 1, tzinfo=UTC)]


@pytest.fixture(scope="session")
async def prepared(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Prepared]:
    """A database with the platform's templates and accounts."""
    async with prepared_database(server, tmp_path_factory.mktemp("inbox"), *_MONTHS) as made:
        yield made


@pytest.fixture(scope="module")
async def world(prepared: Prepared) -> AsyncIterator[PipelineWorld]:
    """This file's world, at noon; each test makes its own tenants."""
    async with pipeline_world(prepared) as made:
        yield made
