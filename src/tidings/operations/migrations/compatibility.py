"""Whether this release of the code can serve a schema. Change SERVES together with the migrations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import asyncpg

from tidings.operations.migrations.errors import SchemaTooNew, SchemaTooOld
from tidings.operations.migrations.ledger import LedgerRow, read_ledger
from tidings.operations.migrations.release import THIS_RELEASE, Release


@dataclass(frozen=True, slots=True)
class SchemaRange:
    """Two migration numbers, both served."""

    #: The last migration that the code can't do without: the newest `pre` file, as a rule.
    oldest: int
    #: The last migration that the code knows. It serves a newer one that allows its release.
    newest: int


SERVES: Final = SchemaRange(oldest=119, newest=119)


async def check_servable(
    connection: asyncpg.Connection, serves: SchemaRange = SERVES, release: Release = THIS_RELEASE
) -> None:
    """Raise SchemaTooOld or SchemaTooNew unless this code can serve this database; any role may ask."""
    rows = await read_ledger(connection)
    refuse_newer([row for row in rows if row.number > serves.newest], newest=serves.newest, release=release)
    version = schema_version(rows)
    if version < serves.oldest:
        raise SchemaTooOld(found=version, oldest=serves.oldest)


def refuse_newer(unknown: Sequence[LedgerRow], *, newest: int, release: Release = THIS_RELEASE) -> None:
    """Raise SchemaTooNew unless each migration that this code does not know allows its release."""
    refusing = [row for row in unknown if not row.allows(release)]
    if not refusing:
        return
    silent = next((row for row in refusing if row.oldest_release is None), None)
    worst = silent or max(refusing, key=lambda row: row.oldest_release or release)
    raise SchemaTooNew(
        found=max(row.number for row in unknown),
        newest=newest,
        release=str(release),
        because=worst.name,
        oldest_release=str(worst.oldest_release) if worst.oldest_release else None,
    )


def oldest_release(rows: Sequence[LedgerRow]) -> Release | None:
    """The oldest release that works on a schema; None when no migration of it names one."""
    return max((row.oldest_release for row in rows if row.oldest_release), default=None)


def schema_version(rows: Sequence[LedgerRow]) -> int:
    """The last number up to which every migration is finished; 0 for an empty database."""
    finished = {row.number for row in rows if row.finished_at is not None}
    version = 0
    while version + 1 in finished:
        version += 1
    return version
