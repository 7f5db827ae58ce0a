"""`tidings migrate dump`: the schema as one text that is the same on every machine, for reviewers."""

import asyncio
import difflib
import os
import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit

from tidings.operations.embedded.bundled import EmbeddedPostgresError, bundled_install
from tidings.operations.migrations.discover import MIGRATIONS_FOLDER, SCHEMA_FILE
from tidings.operations.migrations.errors import DumpError
from tidings.operations.migrations.session import open_connection
from tidings.operations.migrations.statements import split

#: The versions of Postgres that come with the embedded extra.
BUNDLED: Final = (16, 18)
#: The file that reviewers read.
SCHEMA_PATH: Final = MIGRATIONS_FOLDER / SCHEMA_FILE
_HEADER = """\
-- The schema after all migrations, without the partitions of months and days.
-- Written by `tidings migrate dump`; do not edit it by hand.
"""
# Which months exist depends on the day of the dump.
_EXCLUDED = ("*.*_y????m??", "*.*_y????m??d??")
_META_COMMAND = re.compile(r"^\\(?:un)?restrict .*$", re.MULTILINE)
_SESSION = re.compile(r"SET\s|SELECT\s+pg_catalog\.set_config\(", re.IGNORECASE)


async def dump_schema(url: str, *, pg_dump: Path | None = None) -> str:
    """The schema of a database, grants and policies included."""
    program = pg_dump or await _bundled_pg_dump(url)
    address, password = _without_password(url)
    command = [
        str(program),
        "--schema-only",
        "--no-owner",
        "--no-tablespaces",
        "--no-toast-compression",
        *(f"--exclude-table={pattern}" for pattern in _EXCLUDED),
        f"--dbname={address}",
    ]
    environment = {**os.environ, "LC_ALL": "C"} | ({"PGPASSWORD": password} if password else {})
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=environment
        )
    except OSError as error:
        raise DumpError(f"Can't start {program}: {error.strerror}. Name another with --pg-dump.") from error
    output, complaints = await process.communicate()
    if process.returncode != 0:
        said = " / ".join(complaints.decode(errors="replace").strip().splitlines()[-3:])
        raise DumpError(f"pg_dump failed: {said}. It must not be older than the server: see --pg-dump.")
    return normalise(output.decode())


def normalise(dump: str) -> str:
    """Keep only what the migrations made: no versions, no session settings, no random tokens."""
    statements = split(_META_COMMAND.sub("", dump)).statements
    kept = [statement.sql for statement in statements if not _SESSION.match(statement.sql)]
    return _HEADER + "".join(f"\n{sql};\n" for sql in kept)


def difference(committed: str, fresh: str) -> str:
    """A unified diff from the committed text to the fresh one; empty when they are the same."""
    return "".join(
        difflib.unified_diff(
            committed.splitlines(keepends=True),
            fresh.splitlines(keepends=True),
            fromfile=f"{SCHEMA_FILE} (committed)",
            tofile=f"{SCHEMA_FILE} (of this database)",
        )
    )


async def _bundled_pg_dump(url: str) -> Path:
    """The bundled program that is new enough for the server; 16 wherever it will do, so that texts agree."""
    async with open_connection(url) as connection:
        server = connection.get_server_version().major
    try:
        for major in BUNDLED:
            program = bundled_install(major) / "bin" / "pg_dump"
            if major >= server and program.exists():
                return program
    except EmbeddedPostgresError as error:
        raise DumpError("There is no bundled pg_dump: name one with --pg-dump.") from error
    raise DumpError(f"No bundled pg_dump is new enough for Postgres {server}: name one with --pg-dump.")


def _without_password(url: str) -> tuple[str, str]:
    """The URL for the command line, which every user of the machine can read, and the password apart."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    return urlunsplit(parts._replace(netloc=f"{name}@{host}" if name else host)), unquote(password)
