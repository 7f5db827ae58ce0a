"""Suppressions out of a file: each row an address that is not to be written to."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, TypeAlias, cast

from tidings.contracts.addresses import NormalisedAddress, normalise
from tidings.kernel.clock import Clock
from tidings.kernel.csv_text import untamed
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.notify.imports.dates import is_day_number, read_date, read_iso
from tidings.notify.imports.errors import UnreadableFileError
from tidings.notify.imports.model import ImportedRow, LineCounts, LineProblem, Severity
from tidings.notify.imports.rows import RowReader
from tidings.notify.imports.suppression_formats import (
    FIELDS,
    SES_BARE,
    FormatName,
    ListFormat,
    RowRefusal,
    generic_columns,
    is_bare_ses,
    recognise,
)
from tidings.notify.imports.target import Author, RowWithWarning, WriteResult
from tidings.notify.suppressions.model import (
    CHANNELS,
    SuppressibleChannel,
    SuppressionReason,
    SuppressionSpec,
    own_notes,
    whole_domain,
)
from tidings.notify.suppressions.suppress import Suppressor

_REASONS = {reason.value: reason for reason in SuppressionReason}
_LONGEST_NOTE = 500
#: A long number as a spreadsheet shows it.
_ROUNDED = re.compile(r"[0-9]+([.,][0-9]+)?[Ee]\+[0-9]+")
ROUNDED = (
    "was rounded by a spreadsheet and can't be known any more; make the column text there and export again"
)

_Found: TypeAlias = SuppressionSpec | RowWithWarning | list[LineProblem]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionImportOptions:
    """How the caller wants the file understood."""

    format: FormatName = "auto"
    #: Field → column, for generic files.
    mapping: Mapping[str, str] = field(default_factory=dict)
    #: Of rows that name none.
    channel: SuppressibleChannel = "email"
    #: Of all rows, whatever the file says; None: as the file says.
    reason: SuppressionReason | None = None
    emit_events: bool = True


@dataclass(slots=True, eq=False, repr=False)
class SuppressionTarget:
    """Reads rows of any of these lists and suppresses what they name."""

    suppressor: Suppressor
    clock: Clock
    wanted: SuppressionImportOptions
    _: KW_ONLY
    region: str | None = None
    _read: Callable[[ImportedRow], _Found] | None = field(init=False, default=None)

    def begin(self, reader: RowReader) -> str:
        """Which list this is."""
        wanted = self.wanted
        if wanted.format in ("auto", "ses") and is_bare_ses(reader.header):
            reader.without_headings(SES_BARE)
        if reader.form == "jsonl":
            # A line may leave fields out, so there are no headings to go by.
            if wanted.format not in ("auto", "generic"):
                raise UnreadableFileError(
                    "must be a CSV for this format; JSON lines are generic", field="format"
                )
            columns = {name: name for name in FIELDS}
            self._read = lambda row: self._generic(row, {**columns, **wanted.mapping}, strict=True)
            return "generic"
        small = [name.lower() for name in reader.header]
        if len(set(small)) != len(small):
            raise UnreadableFileError("has two columns of the same name")
        shape = None if wanted.mapping or wanted.format == "generic" else recognise(small, wanted.format)
        if shape is not None:
            known = shape
            self._read = lambda row: self._listed(row, known)
            return f"{shape.format}: {shape.name}"
        if wanted.format not in ("auto", "generic"):
            raise UnreadableFileError(
                f"is not a list that {wanted.format} exports, by its headings; "
                "say format=generic&mapping=address:<column>, or send it as it was exported",
                field="format",
            )
        found = generic_columns(reader.header, wanted.mapping, sure=wanted.format == "generic")
        self._read = lambda row: self._generic(row, found)
        return "generic"

    def check(self, row: ImportedRow) -> _Found:
        """The spec, or what is wrong."""
        assert self._read is not None  # noqa: S101  # begun before
        return self._read(row)

    def about(self, spec: SuppressionSpec) -> str | None:
        """The address: once it is suppressed, suppressing it again counts as unchanged."""
        return f"{spec.channel}:{spec.address}"

    async def write(self, tx: TenantTx, specs: Sequence[tuple[int, Any]], by: Author) -> WriteResult:
        """Suppress them all."""
        made, moved = await self.suppressor.import_set(
            tx, [spec for _, spec in specs], source=by.import_id, emit_events=self.wanted.emit_events
        )
        return WriteResult(tally=LineCounts(added=made, changed=moved, unchanged=len(specs) - made - moved))

    def _listed(self, row: ImportedRow, shape: ListFormat) -> _Found:
        small = {name.lower(): value for name, value in row.values.items()}
        column = next(name for name in shape.address if name in small)
        spelt_as = next(name for name in row.values if name.lower() == column)
        found = self.wanted.reason or shape.reason(small)
        if isinstance(found, RowRefusal):
            return [LineProblem(row.line, found.column, found.code, found.what)]
        spelt = self._address(row.line, spelt_as, "email", str(small[column]))
        if isinstance(spelt, list):
            return spelt
        dated = next((name for name in row.values if name.lower() in shape.date), None)
        return self._dated(row, SuppressionSpec(channel="email", address=spelt, reason=found), dated)

    def _generic(self, row: ImportedRow, columns: Mapping[str, str], *, strict: bool = False) -> _Found:
        given = {name: _text(row.values.get(column)) for name, column in columns.items()}
        wrong: list[LineProblem] = []
        if strict and not row.values.keys() <= set(columns.values()):
            # The names are the file's own and may hold anything: they are counted, not repeated.
            known = ", ".join(columns.values())
            wrong.append(LineProblem(row.line, "", "unknown_field", f"has fields other than {known}"))
        channel = given.get("channel", "").lower() or self.wanted.channel
        if channel not in CHANNELS:
            wrong.append(
                LineProblem(
                    row.line, columns["channel"], "unknown_channel", f"must be one of {', '.join(CHANNELS)}"
                )
            )
        reason = self.wanted.reason or _REASONS.get((given.get("reason") or "manual").lower())
        if reason is None:
            wrong.append(
                LineProblem(
                    row.line, columns["reason"], "unknown_reason", f"must be one of {', '.join(_REASONS)}"
                )
            )
        expires_at = None
        if given.get("expires_at"):
            expires_at = read_iso(given["expires_at"])
            if expires_at is None:
                what = "must be a moment such as 2030-01-31T00:00:00Z"
                wrong.append(LineProblem(row.line, columns["expires_at"], "bad_moment", what))
            elif expires_at <= self.clock.now():
                wrong.append(
                    LineProblem(row.line, columns["expires_at"], "past_expiry", "must lie in the future")
                )
        notes = own_notes(given.get("notes"))
        if notes is not None and (len(notes) > _LONGEST_NOTE or not notes.isprintable()):
            what = f"must be one line of at most {_LONGEST_NOTE} characters"
            wrong.append(LineProblem(row.line, columns["notes"], "bad_notes", what))
        if wrong or reason is None:
            return wrong
        spelt = self._address(row.line, columns["address"], channel, given.get("address", ""))
        if isinstance(spelt, list):
            return spelt
        spec = SuppressionSpec(
            channel=cast("SuppressibleChannel", channel),
            address=spelt,
            reason=reason,
            expires_at=expires_at,
            notes=notes,
        )
        return self._dated(row, spec, columns.get("date"))

    def _dated(
        self, row: ImportedRow, spec: SuppressionSpec, column: str | None
    ) -> SuppressionSpec | RowWithWarning:
        """With its date. An address must not be written to, whatever its date: a bad one is left out, with a warning."""
        text = "" if column is None else _text(row.values.get(column))
        if column is None or not text:
            return spec
        found = read_date(text)
        if found is not None and found <= self.clock.now():
            return replace(spec, occurred_at=found)
        code, what = (
            ("bad_date", "is a spreadsheet's number of a day; make the column a date. It was left out")
            if found is None and is_day_number(text)
            else ("bad_date", "is no date that can be read; it was left out")
            if found is None
            else ("future_date", "lies in the future; it was left out")
        )
        return RowWithWarning(
            spec=spec, problems=[LineProblem(row.line, column, code, what, Severity.WARNING)]
        )

    def _address(
        self, line: int, column: str, channel: str, address: str
    ) -> NormalisedAddress | list[LineProblem]:
        address = untamed(address)
        bare = address.strip().removeprefix("*")
        if not bare:
            return [LineProblem(line, column, "missing_value", "is empty")]
        try:
            if channel == "email" and bare.startswith("@"):
                return whole_domain(bare[1:], field=column)
            return normalise(channel, address, field=column, default_region=self.region)
        except BadValueError as error:
            remedy = ROUNDED if _ROUNDED.fullmatch(address.strip()) else error.remedy
            return [LineProblem(line, column, "bad_address", remedy)]


def _text(value: Any) -> str:
    return "" if value is None else value.strip() if isinstance(value, str) else str(value)
