"""A bus on Postgres for each test, in the worker's shared database, emptied first."""

from collections.abc import AsyncIterator
from functools import partial

import pytest

from tests.support.bus import BusUnderTest, nats_bus, postgres_bus
from tests.support.postgres import TestDatabase
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.postgres_bus import PostgresBus


@pytest.fixture
async def under_test(worker_database: TestDatabase, db: Database) -> AsyncIterator[BusUnderTest]:
    async with postgres_bus(worker_database, db, SystemClock()) as made:
        yield made


@pytest.fixture(params=["postgres", "nats"])
async def on_each_engine(
    request: pytest.FixtureRequest, worker_database: TestDatabase, db: Database
) -> AsyncIterator[BusUnderTest]:
    """A bus on Postgres, and one on NATS."""
    make = postgres_bus
    if request.param == "nats":
        make = partial(nats_bus, request.getfixturevalue("nats_server"))
    async with make(worker_database, db, SystemClock()) as made:
        yield made


@pytest.fixture
def bus(under_test: BusUnderTest) -> PostgresBus:
    assert isinstance(under_test.bus, PostgresBus)
    return under_test.bus


@pytest.fixture
def other_tenant() -> TenantId:
    return TENANT.new(SystemClock().now())
