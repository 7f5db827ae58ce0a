"""Fixtures that every folder of tests may use."""

import asyncio
import gc
import json
import os
import sys
from asyncio import AbstractEventLoop
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Final

import pytest
from hypothesis import settings

from tests.support.emitted_events import EmittedEvents, faults_of_run
from tests.support.nats import NatsServer, running_nats
from tests.support.postgres import BEFORE_LOSS, RunningServer, TestDatabase, TestServer
from tests.support.recycled_database import RecycledDatabase
from tests.support.run_folder import RunFolder
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TENANT, TenantId

# How long something takes says nothing about whether it is right; machines are shared.
settings.register_profile("tidings", deadline=None)
settings.load_profile("tidings")

# Bytecode is kept, whatever the image says: without it every process that a test starts compiles all of Tidings again,
# which takes as long as the rest of its start, and every worker rewrites the assertions of all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

#: The folders, from those whose tests mostly wait to those whose tests mostly compute: workers begin at both ends. They
#: meet in the middle of `integration`, where no test waits for long: nobody is left alone with one when the others are done.
_WAITING_FIRST: Final = (
    "e2e",
    "integration/nats",
    "integration/hot_state",
    "integration/bus",
    "integration/migrations",
    "conformance",
    "integration",
    "property",
    "simulation",
    "unit",
)

#: Every event that Tidings has emitted into this process' databases.
EMITTED: Final = EmittedEvents()
BEFORE_LOSS.append(EMITTED.read)

_folder: RunFolder | None = None
_running: RunningServer | None = None


def pytest_configure(config: pytest.Config) -> None:
    """Start the run's Postgres in the controlling process, unless only unit tests were asked for."""
    global _folder, _running  # noqa: PLW0603  # pytest's hooks have no other place between configure and unconfigure
    gc.disable()  # Until all is collected: hardly anything of it is garbage.
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    _folder = RunFolder()
    if config.args and all("tests/unit" in argument for argument in config.args):
        return
    _running = RunningServer.start()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a run that emitted events which are not as declared; a run of all tests, also where one was not emitted."""
    config = session.config
    if not config.option.collectonly and BEFORE_LOSS:
        EMITTED.write()
    if hasattr(config, "workerinput") or _folder is None:
        return
    faults = faults_of_run(_folder.path, whole=exitstatus == pytest.ExitCode.OK and _is_whole(config))
    if faults:
        sys.stderr.write("\n" + "\n".join(faults) + "\n")
        session.exitstatus = max(session.exitstatus, pytest.ExitCode.TESTS_FAILED)


def _is_whole(config: pytest.Config) -> bool:
    """Whether nothing was left out of the run."""
    chosen = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "stepwise")
    return config.args == config.getini("testpaths") and not any(
        getattr(config.option, name, None) for name in chosen
    )


def pytest_unconfigure() -> None:
    """Stop it, and leave nothing behind."""
    if _running is not None:
        _running.stop()
    if _folder is not None:
        _folder.remove()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    """What `--dist loadgroup` asks for."""
    if config.getoption("dist") != "loadgroup":
        return None
    from tests.support.scheduling import GroupScheduling

    return GroupScheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests that share something of their file on one worker: two would make it twice.

    Unit tests stay with their file, too: the controller's work grows with the square of the number of groups.
    """
    for item in items:
        file = item.nodeid.partition("::")[0]
        if item.get_closest_marker("xdist_group") is None and (
            file.startswith("tests/unit/") or _shares_with_its_file(item)
        ):
            item.add_marker(pytest.mark.xdist_group(file))
    if hasattr(config, "workerinput"):
        sizes = Counter(_group_of(item) for item in items)
        items.sort(key=lambda item: (_place_of(item), -sizes[_group_of(item)]))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Look for garbage from now on, but never again among what was imported and collected: that took a third of the run."""
    if hasattr(session.config, "workerinput"):
        from tests.support.scheduling import write_groups

        write_groups(session.items)
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 50)
    gc.enable()


def _group_of(item: pytest.Item) -> str:
    """Tests that stay together; of a folder the largest group is begun first, and single tests come last."""
    marker = item.get_closest_marker("xdist_group")
    return item.nodeid if marker is None else str(marker.args[0])


def _place_of(item: pytest.Item) -> int:
    """A folder that is not named comes first: its tests are run, whatever they cost."""
    folders = item.nodeid.partition("::")[0].split("/")[1:-1]
    for depth in range(len(folders), 0, -1):
        if (name := "/".join(folders[:depth])) in _WAITING_FIRST:
            return _WAITING_FIRST.index(name)
    return -1


def _shares_with_its_file(item: pytest.Item) -> bool:
    known = getattr(item, "_fixtureinfo", None)
    return known is not None and any(
        fixture.scope == "module" and not name.startswith("_")
        for name, fixtures in known.name2fixturedefs.items()
        for fixture in fixtures
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Tell a worker where the server is."""
    if _running is not None:
        server = _running.server
        node.workerinput["server"] = json.dumps([server.owner_url, server.runtime_url])  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
async def loop() -> AbstractEventLoop:
    """The event loop of all tests and fixtures of this worker: what is connected stays so from test to test."""
    return asyncio.get_running_loop()


@pytest.fixture(autouse=True)
def _no_task_left(loop: AbstractEventLoop) -> Iterator[None]:
    """A task that a test has left behind does not run into the next test."""
    before = asyncio.all_tasks(loop)
    yield
    left = asyncio.all_tasks(loop) - before
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left))


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest) -> TestServer:
    """The run's Postgres."""
    workerinput = getattr(request.config, "workerinput", None)
    if workerinput is not None:
        return TestServer(*json.loads(workerinput["server"]))
    assert _running is not None, "run from the repository's root, so that the server is started"
    return _running.server


@pytest.fixture(scope="session")
async def worker_database(server: TestServer) -> AsyncIterator[TestDatabase]:
    """A migrated database that this worker's tests share; each test makes its own tenants."""
    async with server.clone() as database:
        yield database


@pytest.fixture(scope="session")
async def _recycled(server: TestServer) -> AsyncIterator[RecycledDatabase]:
    """What `fresh_database` is made of."""
    recycled = RecycledDatabase(server, EMITTED)
    yield recycled
    await recycled.close()


@pytest.fixture
async def _given(_recycled: RecycledDatabase) -> tuple[TestDatabase, Database]:
    return await _recycled.give()


@pytest.fixture
def fresh_database(_given: tuple[TestDatabase, Database]) -> TestDatabase:
    """A migrated database for one test alone."""
    return _given[0]


@pytest.fixture
async def blank_database(server: TestServer) -> AsyncIterator[TestDatabase]:
    """A database with nothing in it."""
    async with server.clone("template0") as database:
        yield database


@pytest.fixture(scope="session")
async def db(worker_database: TestDatabase) -> AsyncIterator[Database]:
    """The kernel's database over the shared clone, as the runtime role; a new connection costs more than a short test."""
    async with worker_database.opened() as database:
        yield database


@pytest.fixture
def fresh_db(_given: tuple[TestDatabase, Database]) -> Database:
    """The kernel's database over it, as the runtime role."""
    return _given[1]


@pytest.fixture
def tenant_id() -> TenantId:
    """A tenant that no other test knows; the row is the test's to make."""
    return TENANT.new(SystemClock().now())


@pytest.fixture(scope="session")
def nats_server() -> Iterator[NatsServer]:
    """A NATS server with JetStream, shared by the tests of one worker; each uses a stream of its own."""
    with running_nats() as server:
        yield server
