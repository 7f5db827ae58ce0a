"""What takes the rows of a file: the one thing that differs between imports."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tidings.kernel.db import TenantTx
from tidings.notify.ids import ImportId
from tidings.notify.imports.model import ImportedRow, LineCounts, LineProblem
from tidings.notify.imports.rows import RowReader


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """What came of a set of rows."""

    tally: LineCounts
    #: Of lines that were in order by themselves and could not be granted.
    problems: Sequence[LineProblem] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class RowWithWarning:
    """A spec that is met although something on its line is odd."""

    spec: Any
    #: Warnings only.
    problems: Sequence[LineProblem]


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who writes, for rows that say where they came from."""

    import_id: ImportId
    actor: str


class Target(Protocol):
    """Understands rows and writes what they say."""

    def begin(self, reader: RowReader) -> str:
        """Look at the headings; the name of the format, or an `UnreadableFileError` that says what is missing."""
        ...

    def check(self, row: ImportedRow) -> Any:
        """What the row asks for, that with warnings (`RowWithWarning`), or a list of what is wrong with it."""
        ...

    def about(self, spec: Any) -> str | None:
        """What a spec is about, where a second one about the same never changes anything; None: it may."""
        ...

    async def write(self, tx: TenantTx, specs: Sequence[tuple[int, Any]], by: Author) -> WriteResult:
        """Apply these specs, each with its line, in a bounded number of statements."""
        ...
