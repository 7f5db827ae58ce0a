"""Finds and reads the migration files: names, numbers, directives, checksums."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from tidings.operations.migrations.errors import (
    BadDirectiveError,
    BadFileNameError,
    BadNumberingError,
    FilesError,
    ForbiddenStatementError,
    UnreadableSqlError,
)
from tidings.operations.migrations.online_index import OnlineIndex
from tidings.operations.migrations.release import Release
from tidings.operations.migrations.statements import SqlScript, SqlStatement, split

Phase = Literal["pre", "post"]
PHASES: Final[tuple[Phase, ...]] = ("pre", "post")
#: The migrations that this release brings.
MIGRATIONS_FOLDER: Final = Path(__file__).parents[2] / "migrations"
#: What `tidings migrate dump` writes; it stands among the migrations and is none.
SCHEMA_FILE: Final = "schema.sql"
_NAME = re.compile(r"(?P<number>\d{4})_(?P<phase>pre|post)_(?P<slug>[a-z0-9]+(?:_[a-z0-9]+)*)\.sql")
_DIRECTIVE = re.compile(r"--\s*tidings:\s*(?P<words>.*)")
_NO_TRANSACTION = "transaction=off"
_ONLINE = "online"
_OLDEST_RELEASE = "oldest-release="
#: From this number on each file names the oldest release that works on the schema with it.
FIRST_WITH_RELEASE: Final = 43
# The runner owns the transaction; a file that ends it would commit half of itself without a ledger row.
_TRANSACTION_CONTROL = re.compile(
    r"(?:BEGIN|START\s+TRANSACTION|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|PREPARE\s+TRANSACTION)\b",
    re.IGNORECASE,
)
# It would outlive the file, or be missing when a half-applied file goes on.
_SESSION_ROLE = re.compile(
    r"SET\s+(?:SESSION\s+)?(?:ROLE|AUTHORIZATION|SESSION\s+AUTHORIZATION)\b", re.IGNORECASE
)
# A table whose security is switched off shows every tenant's rows to the owner, and the switch locks it exclusively.
_SECURITY_OFF = re.compile(
    r"\bNO\s+FORCE\s+ROW\s+LEVEL\s+SECURITY\b|\bDISABLE\s+ROW\s+LEVEL\s+SECURITY\b", re.IGNORECASE
)
_SETTING = re.compile(r"SET\b", re.IGNORECASE)
_CONCURRENT = re.compile(r"\bCONCURRENTLY\b", re.IGNORECASE)
_INDEX_BY_HAND = re.compile(r"CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\b", re.IGNORECASE)
_CALLED_BY_NAME = re.compile(r"CREATE\b|ALTER\b|DROP\b|REINDEX\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationStatement:
    """One statement of a migration, and how it is run."""

    statement: SqlStatement
    #: The index to build without stopping writers, when the statement carries `-- tidings: online`.
    online: OnlineIndex | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One numbered file."""

    #: Its place in the order, from 1.
    number: int
    #: `pre`: safe before the new code runs. `post`: safe once only new code runs.
    phase: Phase
    #: The rest of its name.
    slug: str
    path: Path
    #: The whole text.
    sql: str
    #: SHA-256 of the text, in hex; line endings do not count.
    checksum: str
    #: Whether the file and its ledger row are one transaction.
    transactional: bool
    #: The oldest release that works on the schema with this file; None: only releases that have the file.
    oldest_release: Release | None
    steps: tuple[MigrationStatement, ...]

    @property
    def name(self) -> str:
        """`0012_pre_add_lease`, as people call it."""
        return f"{self.number:04}_{self.phase}_{self.slug}"

    @property
    def down_path(self) -> Path:
        """Where the file that undoes this one stands."""
        return self.path.parent / "down" / f"{self.number:04}_{self.slug}.sql"


@dataclass(frozen=True, slots=True, kw_only=True)
class DownFile:
    """The file that undoes a migration."""

    steps: tuple[MigrationStatement, ...]
    transactional: bool


def discover(folder: Path = MIGRATIONS_FOLDER) -> list[Migration]:
    """All migrations of a folder in order; the first fault in any of them is an error that names the file."""
    if not folder.is_dir():
        raise FilesError(f"There is no folder of migrations at {folder}. Is Tidings installed completely?")
    found = [read_migration(path) for path in sorted(folder.glob("*.sql")) if path.name != SCHEMA_FILE]
    found.sort(key=lambda migration: migration.number)
    for expected, migration in enumerate(found, start=1):
        if migration.number < expected:
            earlier = found[expected - 2]
            raise BadNumberingError(
                f"{earlier.path.name} and {migration.path.name} have the same number. Give the newer one "
                "the next."
            )
        if migration.number > expected:
            raise BadNumberingError(
                f"{migration.path.name} follows a gap: there is no {expected:04}. Numbers have no gaps, "
                "from 0001."
            )
    return found


def read_migration(path: Path) -> Migration:
    """Read one file."""
    name = _NAME.fullmatch(path.name)
    if name is None:
        raise BadFileNameError(
            f"{path.name} is not the name of a migration. Call it NNNN_pre_what_it_does.sql or "
            "NNNN_post_….sql, "
            "with four digits and a slug of small letters, digits and underscores."
        )
    sql, script = read_script(path)
    head = _read_directives(path.name, script)
    return Migration(
        number=int(name["number"]),
        phase="pre" if name["phase"] == "pre" else "post",
        slug=name["slug"],
        path=path,
        sql=sql,
        checksum=checksum(sql),
        transactional=head.transactional,
        oldest_release=head.oldest_release,
        steps=tuple(_step(path.name, statement, head.transactional) for statement in script.statements),
    )


def read_down_file(path: Path) -> DownFile:
    """Read the file that undoes a migration."""
    _sql, script = read_script(path)
    head = _read_directives(path.name, script)
    if head.oldest_release is not None:
        raise BadDirectiveError(
            f"down/{path.name}: a down file names no release. Remove `-- tidings: {_OLDEST_RELEASE}…`."
        )
    steps = tuple(_step(path.name, statement, head.transactional) for statement in script.statements)
    if any(step.online for step in steps):
        raise BadDirectiveError(
            f"down/{path.name}: a down file builds no index. Remove `-- tidings: {_ONLINE}`."
        )
    return DownFile(steps=steps, transactional=head.transactional)


def read_script(path: Path) -> tuple[str, SqlScript]:
    """Read and split one file; a fault names the file."""
    try:
        sql = path.read_text(encoding="utf-8")
        script = split(sql)
    except UnicodeDecodeError as error:
        raise UnreadableSqlError(f"{path.name} is not UTF-8 text. Save it as UTF-8.") from error
    except UnreadableSqlError as error:
        raise UnreadableSqlError(f"{path.name}, {error}. Correct the file.") from error
    if not script.statements:
        raise UnreadableSqlError(f"{path.name} has no statement. Write one, or remove the file.")
    for statement in script.statements:
        if _TRANSACTION_CONTROL.match(statement.sql):
            raise ForbiddenStatementError(
                f"{path.name}, line {statement.line}: {statement.sql.split()[0].upper()} is not allowed, "
                "because "
                "the runner opens and ends the transaction. Remove it."
            )
        if _SESSION_ROLE.match(statement.sql):
            raise ForbiddenStatementError(
                f"{path.name}, line {statement.line}: the role of the whole session may not change. "
                "Use SET LOCAL ROLE."
            )
        if _SECURITY_OFF.search(statement.sql):
            raise ForbiddenStatementError(
                f"{path.name}, line {statement.line}: row-level security may not be switched off. Give the owner "
                "a policy for one tenant at a time, as docs/migrations.md shows under `Back-fills`."
            )
    return sql, script


def checksum(sql: str) -> str:
    """SHA-256 of a text in hex."""
    return hashlib.sha256(sql.replace("\r\n", "\n").encode()).hexdigest()


def directives(comments: tuple[str, ...]) -> list[str]:
    """What the `-- tidings:` lines among these comments say."""
    return [found["words"].strip() for line in comments if (found := _DIRECTIVE.match(line))]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    """What the directives at the head of a file say about all of it."""

    transactional: bool
    oldest_release: Release | None


def _read_directives(file: str, script: SqlScript) -> _Head:
    """Read the file's head; a directive that would be overlooked is refused."""
    head = directives(script.statements[0].comments)
    for statement in script.statements:
        for words in directives(statement.comments):
            of_the_file = words == _NO_TRANSACTION or words.startswith(_OLDEST_RELEASE)
            if not of_the_file and words != _ONLINE:
                raise BadDirectiveError(
                    f"{file}, line {statement.line}: the directive `{words}` is unknown. "
                    f"There are `{_NO_TRANSACTION}`, `{_ONLINE}` and `{_OLDEST_RELEASE}0.1.0`."
                )
            if of_the_file and statement is not script.statements[0]:
                raise BadDirectiveError(f"{file}: `{words}` comes too late. Move it to the file's head.")
        if directives(statement.inner_comments):
            raise BadDirectiveError(
                f"{file}, line {statement.line}: a directive stands inside a statement. Move it before "
                "the statement."
            )
    if directives(script.trailing_comments):
        raise BadDirectiveError(f"{file}: a directive stands after the last statement. Move or remove it.")
    return _Head(transactional=_NO_TRANSACTION not in head, oldest_release=_named_release(file, head))


def _named_release(file: str, head: list[str]) -> Release | None:
    named = [words.removeprefix(_OLDEST_RELEASE) for words in head if words.startswith(_OLDEST_RELEASE)]
    if not named:
        return None
    if len(named) > 1:
        raise BadDirectiveError(f"{file} names more than one oldest release. Keep one line.")
    try:
        release = Release.parse(named[0])
    except ValueError as error:
        raise BadDirectiveError(f"{file}: {error}.") from error
    if str(release) != named[0]:
        raise BadDirectiveError(
            f"{file}: {named[0]!r} is not a release. Write {release}: a development version counts as the "
            "release that it becomes."
        )
    return release


def _step(file: str, statement: SqlStatement, transactional: bool) -> MigrationStatement:  # noqa: FBT001
    where = f"{file}, line {statement.line}"
    if _ONLINE in directives(statement.comments):
        if transactional:
            raise BadDirectiveError(
                f"{where}: an online index can't be built in a transaction. "
                f"Put `-- tidings: {_NO_TRANSACTION}` at the file's head."
            )
        return MigrationStatement(statement=statement, online=OnlineIndex.parse(statement.sql, where=where))
    if _INDEX_BY_HAND.match(statement.sql):
        raise ForbiddenStatementError(
            f"{where}: CREATE INDEX CONCURRENTLY by itself leaves an invalid index behind when it fails. "
            f"Put `-- tidings: {_ONLINE}` before it."
        )
    if not transactional and _SETTING.match(statement.sql):
        raise ForbiddenStatementError(
            f"{where}: SET does not last in a file without a transaction: a run that goes on after a "
            "crash starts "
            "behind it. Put the setting into the statement that needs it, or use a transaction."
        )
    if (
        transactional
        and _CALLED_BY_NAME.match(statement.sql)
        and _CONCURRENT.search(_outside_quotes(statement))
    ):
        raise ForbiddenStatementError(
            f"{where}: CONCURRENTLY does not work in a transaction. Put `-- tidings: {_NO_TRANSACTION}` "
            "at the "
            "file's head, and make every statement of the file safe to repeat."
        )
    return MigrationStatement(statement=statement)


def _outside_quotes(statement: SqlStatement) -> str:
    """The statement up to its first quote: CONCURRENTLY is always among the first words."""
    return re.split(r"['\"$]|--|/\*", statement.sql, maxsplit=1)[0]
