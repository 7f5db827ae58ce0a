"""One prepared database for these tests, and a world over it for each file, as the outside reaches it by https."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from tests.support.pipeline import NOON, PipelineWorld, Prepared, pipeline_world, prepared_database
from tests.support.postgres import TestServer

_MONTHS = [NOON, datetime(2028, 2, 1, tzinfo=UTC)]


@pytest.fixture(scope="session")
async def prepared(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Prepared]:
    """A database with the platform's templates and accounts."""
    async with prepared_database(server, tmp_path_factory.mktemp("preferences"), *_MONTHS) as made:
        yield made


@pytest.fixture(scope="module")
async def world(prepared: Prepared) -> AsyncIterator[PipelineWorld]:
    """This file's world, at noon; each test makes its own tenants."""
    async with pipeline_world(prepared, public_url="https://tidings.example") as made:
        yield made
