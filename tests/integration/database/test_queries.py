"""Every query in the tree fits the schema, and somebody uses it."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import tidings
from tests.support.postgres import TestDatabase
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.deduplicate import ConsumedEvents
from tidings.kernel.errors import DatabaseError
from tidings.kernel.nats_bus.address import parse_address
from tidings.kernel.nats_bus.bus import NatsBus
from tidings.kernel.outbox import Outbox
from tidings.kernel.postgres_bus import PostgresBus
from tidings.kernel.secrets import Secret
from tidings.kernel.sql import LOADED, Queries

_SOURCE = Path(next(iter(tidings.__path__)))


def load_everything() -> list[Queries]:
    """Import all modules, so that every `.sql` beside one is read; what was read, tests' own files aside."""
    for module in pkgutil.walk_packages(tidings.__path__, "tidings."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    # Read once per schema, when the first one is made.
    clock = SystemClock()
    bus = PostgresBus("", Database(""), clock=clock)
    nats = NatsBus("", Database(""), parse_address(Secret("nats://127.0.0.1")), clock=clock)
    for schema in ("notification", "chan", "bff_backoffice"):
        Outbox(schema)
        bus.relay(schema)
        nats.relay(schema)
    for ledger in ("notification", "chan"):
        ConsumedEvents(ledger)
    return [queries for queries in LOADED if queries.path.is_relative_to(_SOURCE)]


async def test_every_query_can_be_prepared(db: Database) -> None:
    """A typo, a renamed column or a lost table is found here, not at three in the night."""
    queries = [query for loaded in load_everything() for query in loaded]

    assert await db.prepare_all(queries) > 100


async def test_a_schema_that_does_not_fit_is_said_at_the_boot(
    fresh_database: TestDatabase, fresh_db: Database
) -> None:
    """All statements are asked at once, and the one that fails is named."""
    load_everything()
    await fresh_db.check_statements()
    async with fresh_database.owner() as owner:
        await owner.execute("ALTER TABLE kernel.workers RENAME COLUMN lock_key TO lock")

    with pytest.raises(DatabaseError, match="query announce misfits the schema"):
        await fresh_db.check_statements()


def test_every_query_is_used() -> None:
    """A query that nobody calls is a lie about the system."""
    everything = load_everything()
    code = "\n".join(path.read_text() for path in _SOURCE.rglob("*.py"))

    unused = {
        f"{queries.path.name}: {query.name}"
        for queries in everything
        for query in queries
        if not re.search(rf"\.{query.name}\b", code)
    }

    assert unused == set()


def test_every_sql_file_is_loaded() -> None:
    """One that stands beside no module, or that no module reads, is dead."""
    loaded = {queries.path for queries in load_everything()}

    files = {
        path
        for path in _SOURCE.rglob("*.sql")
        if "migrations" not in path.relative_to(_SOURCE).parts[0]
        and path.name not in {"roles.sql", "ledger_tables.sql"}
    }

    assert files <= loaded
