"""Every query in the tree fits the schema, and somebody uses it."""

import importlib
import pkgutil
import re
from pathlib import Path

import tidings
from tidings.kernel.db import Database
from tidings.kernel.sql import LOADED

_SOURCE = Path(next(iter(tidings.__path__)))


def load_everything() -> None:
    """Import all modules, so that every `.sql` beside one is read."""
    for module in pkgutil.walk_packages(tidings.__path__, "tidings."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


async def test_every_query_can_be_prepared(db: Database) -> None:
    """A typo, a renamed column or a lost table is found here, not at three in the night."""
    load_everything()

    assert await db.prepare_all() > 30


def test_every_query_is_used() -> None:
    """A query that nobody calls is a lie about the system."""
    load_everything()
    code = "\n".join(path.read_text() for path in _SOURCE.rglob("*.py"))

    unused = {
        f"{queries.source}: {query.name}"
        for queries in LOADED
        for query in queries
        if not re.search(rf"\.{query.name}\b", code)
    }

    assert unused == set()


def test_every_sql_file_is_loaded() -> None:
    """One that stands beside no module, or that no module reads, is dead."""
    load_everything()
    loaded = {queries.source for queries in LOADED}

    files = {
        path.name
        for path in _SOURCE.rglob("*.sql")
        if "migrations" not in path.relative_to(_SOURCE).parts[0]
        and path.name not in {"roles.sql", "ledger_tables.sql"}
    }

    assert files <= loaded
