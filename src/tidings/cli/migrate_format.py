"""How `tidings migrate status` looks: a table for people, JSON for programs."""

import json
from collections.abc import Sequence

from tidings.cli.printing import table
from tidings.operations.migrations.compatibility import oldest_release
from tidings.operations.migrations.history import MigrationStanding

_HEADINGS = ("number", "phase", "name", "state", "oldest release", "when")


def as_table(standings: Sequence[MigrationStanding]) -> str:
    """Aligned columns."""
    return "\n".join(table(_HEADINGS, map(_cells, standings)))


def as_json(standings: Sequence[MigrationStanding]) -> str:
    """One object per migration."""
    return json.dumps([_fields(standing) for standing in standings], indent=2)


def rollback_line(standings: Sequence[MigrationStanding]) -> str | None:
    """The oldest release that works on the schema, in one line; None when no applied migration names one."""
    rows = [standing.row for standing in standings if standing.row]
    named = oldest_release(rows)
    if named is None:
        return None
    return f"the schema is at {rows[-1].number:04}; the oldest release that works on it is {named}"


def _cells(standing: MigrationStanding) -> tuple[str, ...]:
    row = standing.row
    state = standing.state.value
    if row is not None and row.finished_at is None and standing.migration is not None:
        state += f" ({row.statements_done} of {len(standing.migration.steps)})"
    when = (row.finished_at or row.started_at).isoformat(sep=" ", timespec="seconds") if row else ""
    number, phase, slug = standing.name.split("_", 2)
    return number, phase, slug, state, _oldest_release(standing) or "", when


def _oldest_release(standing: MigrationStanding) -> str | None:
    """What the database says once a migration is in it, what the file says before."""
    source = standing.row or standing.migration
    return str(source.oldest_release) if source and source.oldest_release else None


def _fields(standing: MigrationStanding) -> dict[str, object]:
    row = standing.row
    _number, phase, slug = standing.name.split("_", 2)
    return {
        "number": standing.number,
        "phase": phase,
        "slug": slug,
        "state": standing.state.value,
        "oldest_release": _oldest_release(standing),
        "statements": len(standing.migration.steps) if standing.migration else None,
        "statements_done": row.statements_done if row else 0,
        "started_at": row.started_at.isoformat() if row else None,
        "finished_at": row.finished_at.isoformat() if row and row.finished_at else None,
        "applied_by": row.applied_by if row else None,
        "seconds": row.duration.total_seconds() if row else None,
    }
