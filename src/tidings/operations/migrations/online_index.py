"""What an index needs to be built while others write: its parts, and names for its partitions."""

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from tidings.operations.migrations.errors import BadIndexError

#: Postgres cuts longer names silently.
NAME_BYTES: Final = 63
_IDENTIFIER = r'(?:"(?:[^"]|"")+"|[A-Za-z_][A-Za-z0-9_$]*)'
_CREATE_INDEX = re.compile(
    rf"""CREATE\s+(?P<unique>UNIQUE\s+)?INDEX\s+(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?
         (?P<name>{_IDENTIFIER})\s+ON\s+(?:ONLY\s+)?
         (?P<schema>{_IDENTIFIER})\s*\.\s*(?P<table>{_IDENTIFIER})\s*(?P<rest>(?:\(|USING\b).*)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineIndex:
    """An index as its file wants it."""

    name: str
    schema: str
    table: str
    unique: bool
    #: Everything after the table: method, columns, WHERE.
    rest: str

    @classmethod
    def parse(cls, sql: str, *, where: str) -> "OnlineIndex":
        """Read a CREATE INDEX statement; `where` names the place in messages."""
        found = _CREATE_INDEX.fullmatch(sql)
        if found is None:
            raise BadIndexError(
                f"{where}: an online index is written CREATE [UNIQUE] INDEX name ON schema.table (…), "
                "with no "
                "comment before the columns. Write it so."
            )
        index = cls(
            name=_plain(found["name"]),
            schema=_plain(found["schema"]),
            table=_plain(found["table"]),
            unique=found["unique"] is not None,
            rest=found["rest"],
        )
        if len(index.name.encode()) > NAME_BYTES:
            raise BadIndexError(
                f"{where}: the name {index.name} is longer than {NAME_BYTES} bytes. Shorten it."
            )
        return index

    def create(self, *, name: str, schema: str, table: str, only: bool = False) -> str:
        """The statement for one table of the tree: `only` for a parent, concurrently for a leaf."""
        kind = "UNIQUE INDEX" if self.unique else "INDEX"
        how = "IF NOT EXISTS" if only else "CONCURRENTLY"
        target = f"{'ONLY ' if only else ''}{quoted(schema)}.{quoted(table)}"
        return f"CREATE {kind} {how} {quoted(name)} ON {target} {self.rest}"


def partition_index_name(partition: str, index: str) -> str:
    """The name of the index on one partition: always the same, so that a second run finds the first "
    "one's work."""
    full = f"{partition}__{index}"
    if len(full.encode()) <= NAME_BYTES:
        return full
    digest = hashlib.sha256(full.encode()).hexdigest()[:10]
    return f"{full.encode()[: NAME_BYTES - 11].decode(errors='ignore')}_{digest}"


def quoted(name: str) -> str:
    """A name as SQL takes it literally."""
    return '"' + name.replace('"', '""') + '"'


def _plain(identifier: str) -> str:
    if identifier.startswith('"'):
        return identifier[1:-1].replace('""', '"')
    return identifier.lower()
