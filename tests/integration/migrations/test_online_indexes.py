"""An online index becomes valid on plain tables and down every tree, whatever was there before."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from tests.support.migration_files import DEADLINE, Watcher, until, write_migrations
from tests.support.postgres import TestDatabase
from tidings.operations.migrations.errors import BadIndexError, StatementFailedError
from tidings.operations.migrations.progress import IndexProgress
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.migrations.status import check_schema

ONLINE = "-- tidings: transaction=off\n-- tidings: online\n"
PLAIN = "CREATE SCHEMA chan; CREATE TABLE chan.plain (id int);"
TREE = """
CREATE SCHEMA chan;
CREATE TABLE chan.tree (class text, day int) PARTITION BY LIST (class);
CREATE TABLE chan.tree_a PARTITION OF chan.tree FOR VALUES IN ('a') PARTITION BY RANGE (day);
CREATE TABLE chan.tree_a_1 PARTITION OF chan.tree_a FOR VALUES FROM (1) TO (2);
CREATE TABLE chan.tree_a_2 PARTITION OF chan.tree_a FOR VALUES FROM (2) TO (3);
CREATE TABLE chan.tree_b PARTITION OF chan.tree FOR VALUES IN ('b') PARTITION BY RANGE (day);
CREATE TABLE chan.tree_c PARTITION OF chan.tree FOR VALUES IN ('c');
"""


async def index_state(owner: asyncpg.Connection) -> dict[str, tuple[bool, str | None]]:
    """Every index of the schema: whether it is valid, and what it is attached to."""
    rows = await owner.fetch(
        "SELECT c.relname, x.indisvalid, p.relname AS parent FROM pg_index x JOIN pg_class c ON c.oid = "
        "x.indexrelid "
        "LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent "
        "WHERE c.relnamespace = 'chan'::regnamespace"
    )
    return {row["relname"]: (row["indisvalid"], row["parent"]) for row in rows}


async def make_invalid(owner: asyncpg.Connection, name: str, table: str, key: str) -> None:
    """Leave an invalid index behind, as a failed concurrent build does."""
    await owner.execute(f"INSERT INTO {table} SELECT * FROM (VALUES {key}, {key}) AS twice")
    with pytest.raises(asyncpg.UniqueViolationError):
        await owner.execute(f"CREATE UNIQUE INDEX CONCURRENTLY {name} ON {table} (id)")
    await owner.execute(f"DELETE FROM {table}")


async def test_a_plain_table(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Built concurrently, and not again when the statement is repeated."""
    index = f"{ONLINE}CREATE INDEX by_id ON chan.plain (id) WHERE id > 0;\n-- tidings: online\n"
    folder = write_migrations(
        tmp_path,
        {
            "0001_pre_a.sql": PLAIN,
            "0002_post_b.sql": index + "CREATE INDEX by_id ON chan.plain (id) WHERE id > 0;",
        },
    )

    await migrate_up(blank_database.owner_url, folder=folder)

    async with blank_database.owner() as owner:
        assert await index_state(owner) == {"by_id": (True, None)}


async def test_an_invalid_index_is_rebuilt(blank_database: TestDatabase, tmp_path: Path) -> None:
    """`IF NOT EXISTS` would have been content with the ruin."""
    folder = write_migrations(tmp_path, {"0001_pre_a.sql": PLAIN})
    await migrate_up(blank_database.owner_url, folder=folder)
    async with blank_database.owner() as owner:
        await make_invalid(owner, "by_id", "chan.plain", "(1)")
        assert await index_state(owner) == {"by_id": (False, None)}
        found = [str(finding) for finding in await check_schema(blank_database.owner_url, folder=folder)]
        assert found[0].startswith("chan.by_id (on plain) is invalid")
        write_migrations(
            tmp_path, {"0002_post_b.sql": f"{ONLINE}CREATE UNIQUE INDEX by_id ON chan.plain (id);"}
        )

        await migrate_up(blank_database.owner_url, folder=folder)

        assert await index_state(owner) == {"by_id": (True, None)}


async def test_a_failed_build_leaves_no_invalid_index(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Writers do not pay for an index that helps nobody."""
    folder = write_migrations(
        tmp_path,
        {
            "0001_pre_a.sql": PLAIN + "INSERT INTO chan.plain VALUES (1), (1);",
            "0002_post_b.sql": f"{ONLINE}CREATE UNIQUE INDEX by_id ON chan.plain (id);",
        },
    )

    with pytest.raises(StatementFailedError, match=r"0002_post_b\.sql, line 3: could not create") as failure:
        await migrate_up(blank_database.owner_url, folder=folder)
    assert "(1)" not in str(failure.value), "the contents of rows stay out of messages"

    async with blank_database.owner() as owner:
        assert await index_state(owner) == {}
        await owner.execute("TRUNCATE chan.plain")
        await migrate_up(blank_database.owner_url, folder=folder)
        assert await index_state(owner) == {"by_id": (True, None)}


async def test_a_tree_of_partitions(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Every leaf, the levels between, and a branch without leaves; progress counts the leaves."""
    folder = write_migrations(
        tmp_path,
        {
            "0001_pre_a.sql": TREE,
            "0002_post_b.sql": f"{ONLINE}CREATE INDEX by_day ON chan.tree USING btree (day);",
        },
    )
    watcher = Watcher()

    await migrate_up(blank_database.owner_url, folder=folder, report=watcher)

    async with blank_database.owner() as owner:
        assert await index_state(owner) == {
            "by_day": (True, None),
            "tree_a__by_day": (True, "by_day"),
            "tree_a_1__tree_a__by_day": (True, "tree_a__by_day"),
            "tree_a_2__tree_a__by_day": (True, "tree_a__by_day"),
            "tree_b__by_day": (True, "by_day"),
            "tree_c__by_day": (True, "by_day"),
        }
    progress = [(event.done, event.total) for event in watcher.events if isinstance(event, IndexProgress)]
    assert [done for done, _ in progress] == [1, 2, 3]


async def test_every_state_between_is_finished(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Promise made, one leaf attached, one built and not attached, one invalid, one made by Postgres "
    "itself."""
    folder = write_migrations(
        tmp_path,
        {
            "0001_pre_a.sql": "CREATE SCHEMA chan; CREATE TABLE chan.tree (id int) PARTITION BY RANGE (id);"
            + "".join(
                f"CREATE TABLE chan.tree_{n} PARTITION OF chan.tree FOR VALUES FROM ({n}0) TO ({n}9);"
                for n in range(1, 4)
            )
        },
    )
    await migrate_up(blank_database.owner_url, folder=folder)
    async with blank_database.owner() as owner:
        await owner.execute("CREATE UNIQUE INDEX by_id ON ONLY chan.tree (id)")
        await owner.execute("CREATE UNIQUE INDEX tree_1__by_id ON chan.tree_1 (id)")
        await owner.execute("ALTER INDEX chan.by_id ATTACH PARTITION chan.tree_1__by_id")
        await owner.execute("CREATE UNIQUE INDEX tree_2__by_id ON chan.tree_2 (id)")
        await make_invalid(owner, "tree_3__by_id", "chan.tree_3", "(31)")
        await owner.execute("CREATE TABLE chan.tree_4 PARTITION OF chan.tree FOR VALUES FROM (40) TO (49)")
        write_migrations(
            tmp_path, {"0002_post_b.sql": f"{ONLINE}CREATE UNIQUE INDEX by_id ON chan.tree (id);"}
        )

        await migrate_up(blank_database.owner_url, folder=folder)

        assert await index_state(owner) == {
            "by_id": (True, None),
            "tree_1__by_id": (True, "by_id"),
            "tree_2__by_id": (True, "by_id"),
            "tree_3__by_id": (True, "by_id"),
            "tree_4_id_idx": (True, "by_id"),
        }


async def test_an_invalid_part_that_is_attached(blank_database: TestDatabase, tmp_path: Path) -> None:
    """It can't be dropped, so it is built anew in place."""
    folder = write_migrations(
        tmp_path,
        {
            "0001_pre_a.sql": "CREATE SCHEMA chan; CREATE TABLE chan.tree (id int) PARTITION BY RANGE (id);"
            "CREATE TABLE chan.tree_1 PARTITION OF chan.tree FOR VALUES FROM (10) TO (19);"
        },
    )
    await migrate_up(blank_database.owner_url, folder=folder)
    async with blank_database.owner() as owner:
        await owner.execute("CREATE UNIQUE INDEX by_id ON ONLY chan.tree (id)")
        await make_invalid(owner, "part", "chan.tree_1", "(11)")
        await owner.execute("ALTER INDEX chan.by_id ATTACH PARTITION chan.part")
        assert await index_state(owner) == {"by_id": (False, None), "part": (False, "by_id")}
        write_migrations(
            tmp_path, {"0002_post_b.sql": f"{ONLINE}CREATE UNIQUE INDEX by_id ON chan.tree (id);"}
        )

        await migrate_up(blank_database.owner_url, folder=folder)

        assert await index_state(owner) == {"by_id": (True, None), "part": (True, "by_id")}


async def test_writers_go_on_meanwhile(blank_database: TestDatabase, tmp_path: Path) -> None:
    """While the build waits for an old transaction, others still write to the table."""
    folder = write_migrations(
        tmp_path,
        {"0001_pre_a.sql": PLAIN, "0002_post_b.sql": f"{ONLINE}CREATE INDEX by_id ON chan.plain (id);"},
    )
    await migrate_up(blank_database.owner_url, folder=folder, phase="pre")
    async with blank_database.owner() as old, blank_database.owner() as writer:
        transaction = old.transaction()
        await transaction.start()
        await old.execute("INSERT INTO chan.plain VALUES (1)")
        async with asyncio.TaskGroup() as tasks:
            run = tasks.create_task(migrate_up(blank_database.owner_url, folder=folder))
            await until(lambda: writer.fetchval("SELECT count(*) > 0 FROM pg_stat_progress_create_index"))

            await writer.execute("INSERT INTO chan.plain VALUES (2)", timeout=DEADLINE)

            assert not run.done()
            await transaction.commit()
        assert await index_state(writer) == {"by_id": (True, None)}


async def test_a_name_that_is_taken(blank_database: TestDatabase, tmp_path: Path) -> None:
    """Another table's index of that name is not mistaken for ours."""
    taken = "CREATE TABLE chan.other (id int); CREATE INDEX by_id ON chan.other (id);"
    folder = write_migrations(
        tmp_path,
        {
            "0001_pre_a.sql": PLAIN + taken,
            "0002_post_b.sql": f"{ONLINE}CREATE INDEX by_id ON chan.plain (id);",
        },
    )

    with pytest.raises(BadIndexError, match=r"line 3: the name chan\.by_id is taken"):
        await migrate_up(blank_database.owner_url, folder=folder)
