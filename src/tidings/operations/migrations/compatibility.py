"""The range of schemas that this release of the code can serve. Change it together with the migrations."""

from dataclasses import dataclass
from typing import Final

import asyncpg

from tidings.operations.migrations.errors import SchemaTooNew, SchemaTooOld
from tidings.operations.migrations.ledger import LedgerRow, read_ledger


@dataclass(frozen=True, slots=True)
class SchemaRange:
    """Two migration numbers, both served."""

    #: The last migration that the code can't do without: the newest `pre` file, as a rule.
    oldest: int
    #: The last migration that the code knows.
    newest: int


SERVES: Final = SchemaRange(oldest=42, newest=42)


async def check_servable(connection: asyncpg.Connection, serves: SchemaRange = SERVES) -> None:
    """Raise SchemaTooOld or SchemaTooNew unless this code can serve this database; any role may ask."""
    rows = await read_ledger(connection)
    newest_begun = max((row.number for row in rows), default=0)
    if newest_begun > serves.newest:
        raise SchemaTooNew(found=newest_begun, newest=serves.newest)
    version = schema_version(rows)
    if version < serves.oldest:
        raise SchemaTooOld(found=version, oldest=serves.oldest)


def schema_version(rows: list[LedgerRow]) -> int:
    """The last number up to which every migration is finished; 0 for an empty database."""
    finished = {row.number for row in rows if row.finished_at is not None}
    version = 0
    while version + 1 in finished:
        version += 1
    return version
