"""A bus on NATS for each test, and a server that a test may kill."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.support.bus import BusUnderTest, nats_bus
from tests.support.nats import NatsServer, running_nats
from tests.support.postgres import TestDatabase
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.nats_bus.bus import NatsBus


@pytest.fixture
def own_server() -> Iterator[NatsServer]:
    """One that no other test uses."""
    with running_nats() as server:
        yield server


@pytest.fixture
async def under_test(
    nats_server: NatsServer, worker_database: TestDatabase, db: Database
) -> AsyncIterator[BusUnderTest]:
    async with nats_bus(nats_server, worker_database, db, SystemClock()) as made:
        yield made


@pytest.fixture
async def killable(
    own_server: NatsServer, worker_database: TestDatabase, db: Database
) -> AsyncIterator[BusUnderTest]:
    """A bus on the server of this test alone."""
    async with nats_bus(own_server, worker_database, db, SystemClock()) as made:
        yield made


@pytest.fixture
def bus(under_test: BusUnderTest) -> NatsBus:
    return nats_of(under_test)


@pytest.fixture
def other_tenant() -> TenantId:
    return TENANT.new(SystemClock().now())


def nats_of(under_test: BusUnderTest) -> NatsBus:
    assert isinstance(under_test.bus, NatsBus)
    return under_test.bus
