"""Fixtures that every folder of tests may use."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from hypothesis import settings

from tests.support.postgres import RunningServer, TestDatabase, TestServer
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TENANT, TenantId

# How long something takes says nothing about whether it is right; machines are shared.
settings.register_profile("tidings", deadline=None)
settings.load_profile("tidings")

_running: RunningServer | None = None


def pytest_configure(config: pytest.Config) -> None:
    """Start the run's Postgres in the controlling process, unless only unit tests were asked for."""
    global _running  # noqa: PLW0603  # pytest's hooks have no other place between configure and unconfigure
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    if config.args and all("tests/unit" in argument for argument in config.args):
        return
    _running = RunningServer.start()


def pytest_unconfigure() -> None:
    """Stop it."""
    if _running is not None:
        _running.stop()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Tell a worker where the server is."""
    if _running is not None:
        server = _running.server
        node.workerinput["server"] = json.dumps([server.owner_url, server.runtime_url])  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest) -> TestServer:
    """The run's Postgres."""
    workerinput = getattr(request.config, "workerinput", None)
    if workerinput is not None:
        return TestServer(*json.loads(workerinput["server"]))
    assert _running is not None, "run from the repository's root, so that the server is started"
    return _running.server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def worker_database(server: TestServer) -> AsyncIterator[TestDatabase]:
    """A migrated database that this worker's tests share; each test makes its own tenants."""
    async with server.clone() as database:
        yield database


@pytest.fixture
async def fresh_database(server: TestServer) -> AsyncIterator[TestDatabase]:
    """A migrated database for one test alone."""
    async with server.clone() as database:
        yield database


@pytest.fixture
async def blank_database(server: TestServer) -> AsyncIterator[TestDatabase]:
    """A database with nothing in it."""
    async with server.clone("template0") as database:
        yield database


@pytest.fixture
async def db(worker_database: TestDatabase) -> AsyncIterator[Database]:
    """The kernel's database over the shared clone, as the runtime role."""
    database = Database(worker_database.runtime_url)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
async def fresh_db(fresh_database: TestDatabase) -> AsyncIterator[Database]:
    """The kernel's database over this test's own clone, as the runtime role."""
    database = Database(fresh_database.runtime_url)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def tenant_id() -> TenantId:
    """A tenant that no other test knows; the row is the test's to make."""
    return TENANT.new(SystemClock().now())
