"""Imports as JSON: what requests ask for and answers show."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from tidings.contracts.moments import Moment
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.mapping import attributes, by_name
from tidings.notify.imports.model import Import, ImportKind, ImportStatus, LineProblem, Severity
from tidings.notify.imports.suppression_formats import FIELDS, FormatName
from tidings.notify.suppressions.model import SuppressibleChannel, SuppressionReason

#: `true` or `false`, as a query says it.
Flag = Literal["true", "false"]

Mapping = Annotated[
    str,
    Meta(
        min_length=3,
        max_length=2000,
        description="Where a generic file has what: `address:E-mail,reason:Why`.",
    ),
]


class ImportQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a file is to be taken in."""

    #: `true`: nothing is written but the report.
    dry_run: Annotated[
        Flag, Meta(description="`true`: nothing is changed; the report says what would be.")
    ] = "false"


class ImportSuppressions(ImportQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a list of suppressions is to be understood."""

    format: Annotated[FormatName, Meta(description="Whose export it is; `auto` goes by the headings.")] = (
        "auto"
    )
    mapping: Mapping | None = None
    channel: Annotated[SuppressibleChannel, Meta(description="Of lines that name no channel themselves.")] = (
        "email"
    )
    reason: Annotated[SuppressionReason | None, Meta(description="Of all lines, whatever the file says.")] = (
        None
    )
    emit_events: Annotated[Flag, Meta(description="`false`: no `suppression.added.v1` for each of them.")] = (
        "true"
    )

    def columns(self) -> dict[str, str]:
        """Field → column; a `BadValueError` naming `mapping` where it is not in order."""
        return columns_of(self.mapping, FIELDS)


def columns_of(mapping: str | None, fields: tuple[str, ...]) -> dict[str, str]:
    """`field:Column,field:Column` as a mapping."""
    found: dict[str, str] = {}
    for pair in mapping.split(",") if mapping else ():
        field, colon, column = (part.strip() for part in pair.partition(":"))
        if not colon or not column or field not in fields:
            raise BadValueError("mapping", f"must be field:column,… with the fields {', '.join(fields)}")
        if field in found:
            raise BadValueError("mapping", f"names {field} more than once")
        found[field] = column
    return found


class ImportPreferences(ImportQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a file of preferences is to be taken in."""

    emit_events: Annotated[
        Flag, Meta(description="`false`: no `preferences.updated.v1` for each of them.")
    ] = "true"


class ListImports(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which imports are wanted."""

    kind: ImportKind | None = None


class ProblemView(Struct, frozen=True, kw_only=True):
    """Why something on a line could not be taken."""

    line: int
    #: As the file calls it; empty for the line as a whole.
    column: str
    code: str
    what: str
    #: `warning`: the line was taken, without what is named.
    severity: Severity


class ImportLinks(Struct, frozen=True, kw_only=True):
    """Where to go from here."""

    self: str
    #: All lines that could not be taken, as a CSV.
    report: str


class ImportView(Struct, frozen=True, kw_only=True):
    """An import: how far it came and what became of its lines."""

    id: str
    kind: ImportKind
    status: ImportStatus
    #: How the file was understood: `sendgrid: bounces or blocks`.
    format: str
    dry_run: bool
    emit_events: bool
    #: Lines of the file read so far: `added`, `changed`, `unchanged`, `refused` and `skipped` together.
    lines: int
    bytes: int
    added: int
    changed: int
    #: They were there before, or stand in the file more than once.
    unchanged: int
    #: Lines that could not be taken.
    refused: int
    #: Headings, empty lines, and further lines of a cell that runs over several.
    skipped: int
    #: What was wrong with them: a line may have several problems.
    problems: int
    #: Those of the problems that kept no line from being taken.
    warnings: int
    #: The first of them; the report has more.
    first_problems: list[ProblemView]
    created_at: Moment
    updated_at: Moment
    completed_at: Moment | None
    links: ImportLinks

    @classmethod
    def of(cls, known: Import, problems: list[LineProblem]) -> "ImportView":
        """The import as it is shown."""
        at = f"/api/v1/imports/{known.id}"
        return by_name(
            cls,
            known,
            lines=known.records_done if known.lines is None else known.lines,
            bytes=known.bytes_done,
            **attributes(known.tally, "added changed unchanged refused skipped"),
            first_problems=[by_name(ProblemView, problem) for problem in problems],
            links=ImportLinks(self=at, report=f"{at}/report"),
        )
