"""A prepared database of these tests' own, because they look at every row of every table."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.pipeline import NOON, PipelineWorld, Prepared, pipeline_world, prepare
from tests.support.postgres import TestServer


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def prepared(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Prepared]:
    """A database with the platform's templates and accounts."""
    async with server.clone() as database:
        yield await prepare(database, tmp_path_factory.mktemp("erasure"), NOON)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(prepared: Prepared) -> AsyncIterator[PipelineWorld]:
    """This file's world, at noon; each test makes its own tenants."""
    async with pipeline_world(prepared) as made:
        yield made


@pytest.fixture(autouse=True)
def _no_faults(request: pytest.FixtureRequest) -> None:
    """A fault that one test played does not meet the next."""
    if "world" in request.fixturenames:
        request.getfixturevalue("world").sandbox.faults.clear()
