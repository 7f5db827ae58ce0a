"""A new column with a personal name is sealed or hashed, or says why not."""

from pathlib import Path

import pytest

from tests.support.migration_files import write_migrations
from tidings.operations.migrations.discover import MIGRATIONS_FOLDER
from tidings.operations.migrations.personal_columns import FIRST_WITH_ANSWER, unanswered
from tidings.operations.migrations.statements import split
from tidings.operations.migrations.status import check_files


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("ALTER TABLE a.b ADD COLUMN email TEXT;", ["a.b.email"]),
        (
            'ALTER TABLE a.b ADD COLUMN IF NOT EXISTS phone_number TEXT COLLATE "C", ADD COLUMN n INT;',
            ["a.b.phone_number"],
        ),
        (
            "CREATE TABLE a.b (id TEXT, first_name VARCHAR(80), n NUMERIC(5, 2), ip INET);",
            ["a.b.first_name", "a.b.ip"],
        ),
        (
            "CREATE TABLE IF NOT EXISTS a.b (\n  -- the guest's\n  address TEXT,\n  PRIMARY KEY (address)\n);",
            ["a.b.address"],
        ),
        ("CREATE UNLOGGED TABLE a.b (chat TEXT);", ["a.b.chat"]),
        ("ALTER TABLE a.b ADD COLUMN email_ciphertext BYTEA, ADD COLUMN email_hash TEXT;", []),
        (
            "ALTER TABLE a.b ADD COLUMN address BYTEA, ADD COLUMN address_id TEXT, ADD COLUMN mailed_at DATE;",
            [],
        ),
        (
            "ALTER TABLE a.b ADD COLUMN email_verified BOOLEAN, ADD COLUMN renamed TEXT, ADD COLUMN recipe TEXT;",
            [],
        ),
        ("ALTER TABLE a.b ADD CONSTRAINT email CHECK (n > 0);", []),
        (
            "CREATE TABLE a.b (name TEXT);\nCOMMENT ON COLUMN a.b.name IS 'Not personal: what a layout is called.';",
            [],
        ),
        (
            "CREATE TABLE a.b (name TEXT);\nCOMMENT ON COLUMN a.b.name IS 'What a guest is called.';",
            ["a.b.name"],
        ),
    ],
)
def test_what_looks_personal(sql: str, found: list[str]) -> None:
    assert unanswered(split(sql).statements) == found


def test_a_new_file_is_refused(tmp_path: Path) -> None:
    """With the column and both ways out; files from before the rule stay as they are."""
    numbers = range(1, FIRST_WITH_ANSWER + 1)
    head = "-- tidings: oldest-release=0.0.1\n"
    files = {f"{n:04}_pre_x.sql": head + "ALTER TABLE a.b ADD COLUMN email TEXT;" for n in numbers}
    files |= {f"down/{n:04}_x.sql": "SELECT 1;" for n in numbers}

    [finding] = check_files(write_migrations(tmp_path, files))

    assert finding.subject == f"{FIRST_WITH_ANSWER:04}_pre_x"
    assert "the column a.b.email, whose name speaks of a person" in finding.remedy
    assert "COMMENT ON COLUMN a.b.email IS 'Not personal: …'" in finding.remedy


def test_our_own_files_keep_the_rule() -> None:
    assert check_files(MIGRATIONS_FOLDER) == []
