"""An import: what was asked for, how far it came, what is wrong with its lines."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from tidings.kernel.db import CallerRole
from tidings.kernel.ids import TenantId, time_of
from tidings.notify.ids import ImportId


class ImportKind(StrEnum):
    """What a file holds."""

    SUPPRESSIONS = "suppressions"
    RECIPIENTS = "recipients"
    PREFERENCES = "preferences"


class ImportStatus(StrEnum):
    """Where an import stands."""

    RUNNING = "running"
    #: The connection broke off, or the server ended: the same request with the same key goes on.
    INTERRUPTED = "interrupted"
    COMPLETED = "completed"


class Severity(StrEnum):
    """What a problem means for its line."""

    ERROR = "error"
    #: The line was taken, without what is named.
    WARNING = "warning"


class LineProblem(NamedTuple):
    """Why something on a line could not be taken: never what stood there."""

    line: int
    #: As the file calls it; empty for the line as a whole.
    column: str
    code: str
    what: str
    severity: Severity = Severity.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRow:
    """One line of a file, by its columns."""

    line: int
    #: Texts out of a CSV; any JSON out of a file of JSON lines.
    values: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"ImportedRow(line={self.line}, ***)"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCounts:
    """What came of lines."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    refused: int = 0
    #: Headings, empty lines, and further lines of a cell that runs over several.
    skipped: int = 0

    @property
    def taken(self) -> int:
        """Lines that count."""
        return self.added + self.changed + self.unchanged

    @property
    def lines(self) -> int:
        """All that are accounted for."""
        return self.taken + self.refused + self.skipped

    def __add__(self, other: "LineCounts") -> "LineCounts":
        return LineCounts(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """An import as its caller wants it."""

    tenant_id: TenantId
    kind: ImportKind
    #: As JSON; a caller that resumes it has to want the same.
    options: str
    dry_run: bool
    emit_events: bool
    idempotency_key: str | None
    actor: str
    role: CallerRole


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProgress:
    """How far a file was read, and how many of its lines are in this set."""

    format: str
    records_done: int
    bytes_done: int
    lines: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One file that is, or was, taken in."""

    id: ImportId
    kind: ImportKind
    status: ImportStatus
    #: What the caller asked for, as JSON.
    options: str
    #: How the file was understood; empty until its first line was read.
    format: str
    dry_run: bool
    emit_events: bool
    idempotency_key: str | None
    actor: str
    #: Who reads it; one who goes on with it takes over.
    runner: str
    #: Lines, headings included, whose effect is committed.
    records_done: int
    bytes_done: int
    digest: str
    #: Lines of the file that were read: as many as the tally accounts for. None of one begun by a release that did not count.
    lines: int | None
    tally: LineCounts
    #: How many problems there are; the report keeps the first of them.
    problems: int
    #: Those of them that kept no line from being taken.
    warnings: int
    updated_at: datetime
    completed_at: datetime | None

    @property
    def created_at(self) -> datetime:
        """The time inside its id."""
        return time_of(self.id)
