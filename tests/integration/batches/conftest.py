"""One prepared database for all of these tests, and a world over it for each file."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.support.pipeline import NOON, PipelineWorld, Prepared, pipeline_world, prepared_database
from tests.support.postgres import TestServer


@pytest.fixture(scope="session")
async def prepared(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Prepared]:
    """A database with the platform's templates and accounts."""
    folder = tmp_path_factory.mktemp("batches")
    async with prepared_database(server, folder, NOON, NOON + timedelta(days=30)) as made:
        yield made


@pytest.fixture(scope="module")
async def world(prepared: Prepared) -> AsyncIterator[PipelineWorld]:
    """This file's world, at noon; each test makes its own tenants."""
    async with pipeline_world(prepared) as made:
        yield made


@pytest.fixture(autouse=True)
def _no_faults(request: pytest.FixtureRequest) -> None:
    """A fault that one test played does not meet the next."""
    if "world" in request.fixturenames:
        request.getfixturevalue("world").sandbox.faults.clear()
