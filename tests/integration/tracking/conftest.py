"""One prepared database for these tests, and a world over it for each file, as the outside reaches it by https."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.pipeline import NOON, PipelineWorld, Prepared, pipeline_world, prepare
from tests.support.postgres import TestServer


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def prepared(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Prepared]:
    """A database with the platform's templates and accounts."""
    async with server.clone() as database:
        yield await prepare(database, tmp_path_factory.mktemp("tracking"), NOON)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(prepared: Prepared) -> AsyncIterator[PipelineWorld]:
    """This file's world, at noon; each test makes its own tenants."""
    async with pipeline_world(prepared, public_url="https://tidings.example") as made:
        yield made
