"""schema.sql is the same whenever and wherever it is made, and shows grants and policies."""

from pathlib import Path

import pytest

from tests.support.migration_files import write_migrations
from tests.support.postgres import TestDatabase
from tidings.operations.migrations.errors import DumpError
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.migrations.schema_dump import difference, dump_schema, normalise

FILES = {
    "0001_pre_a.sql": """
CREATE SCHEMA chan;
CREATE TABLE chan.attempts (tenant_id text, day date) PARTITION BY RANGE (day);
CREATE TABLE chan.attempts_y2026m11 PARTITION OF chan.attempts
  FOR VALUES FROM ('2026-11-01') TO ('2026-12-01');
CREATE TABLE chan.attempts_y2026m12d01 PARTITION OF chan.attempts
  FOR VALUES FROM ('2026-12-01') TO ('2026-12-02');
CREATE INDEX by_day ON chan.attempts (day);
ALTER TABLE chan.attempts ENABLE ROW LEVEL SECURITY;
ALTER TABLE chan.attempts FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON chan.attempts USING (tenant_id = current_setting('app.tenant_id', true));
GRANT SELECT ON chan.attempts TO tidings_runtime;
COMMENT ON TABLE chan.attempts IS 'Tries; all of them.';
CREATE FUNCTION chan.quiet() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
SET LOCAL work_mem = '1MB'; -- stays
END
$$;
"""
}


async def test_a_dump_shows_the_schema_without_its_months(
    blank_database: TestDatabase, tmp_path: Path
) -> None:
    """Reviewers see tables, policies, grants and comments; not versions, months or random tokens."""
    await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path, FILES))

    text = await dump_schema(blank_database.owner_url)

    for expected in (
        "CREATE TABLE chan.attempts (",
        "CREATE POLICY tenant_isolation ON chan.attempts",
        "ALTER TABLE ONLY chan.attempts FORCE ROW LEVEL SECURITY;",
        "GRANT SELECT ON TABLE chan.attempts TO tidings_runtime;",
        "CREATE INDEX by_day ON ONLY chan.attempts",
        "'Tries; all of them.'",
        "SET LOCAL work_mem = '1MB'; -- stays",
        "CREATE TABLE kernel.schema_migrations (",
    ):
        assert expected in text
    for unwanted in ("y2026", "restrict ", "\nSET statement_timeout", "set_config(", "Dumped", "OWNER TO"):
        assert unwanted not in text


async def test_two_databases_give_the_same_text(
    blank_database: TestDatabase, fresh_database: TestDatabase, tmp_path: Path
) -> None:
    """Dumping again changes nothing; another schema gives a diff."""
    await migrate_up(blank_database.owner_url, folder=write_migrations(tmp_path, FILES))

    first = await dump_schema(blank_database.owner_url)
    again = await dump_schema(blank_database.owner_url)
    other = await dump_schema(fresh_database.owner_url)

    assert difference(first, again) == ""
    assert "-CREATE TABLE chan.attempts (" in difference(first, other)


async def test_a_failing_pg_dump_is_told(blank_database: TestDatabase, tmp_path: Path) -> None:
    """No half-written schema.sql, no password in the message."""
    with pytest.raises(DumpError, match=r"Can't start .*no_such_program"):
        await dump_schema(blank_database.owner_url, pg_dump=tmp_path / "no_such_program")
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 'it hurts' >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(DumpError, match="pg_dump failed: it hurts"):
        await dump_schema(blank_database.owner_url, pg_dump=broken)


def test_normalising_keeps_what_only_looks_like_a_setting() -> None:
    """Settings of the session go, settings inside bodies and strings stay."""
    dump = (
        "\\restrict abc\nSET x = 1;\nSELECT pg_catalog.set_config('search_path', '', false);\n"
        "-- c\nSELECT '\nSET a';\n"
    )

    assert normalise(dump).endswith("\n\nSELECT '\nSET a';\n")
    assert "restrict" not in normalise(dump)
