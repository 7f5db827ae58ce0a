"""Recipients out of a file: each row is upserted."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from tidings.contracts.addresses import CHANNELS
from tidings.contracts.ids import RecipientId
from tidings.kernel.csv_text import untamed
from tidings.kernel.db import TenantTx
from tidings.kernel.http.field_errors import explain
from tidings.kernel.refusals import InvalidError, RefusalError
from tidings.notify.imports.errors import UnreadableFileError
from tidings.notify.imports.model import ImportedRow, LineCounts, LineProblem
from tidings.notify.imports.rows import RowReader
from tidings.notify.imports.target import Author, WriteResult
from tidings.notify.recipients.errors import SharedAddressError
from tidings.notify.recipients.recipient_input import RecipientInput, RecipientSpec, spec_of
from tidings.notify.recipients.upsert import RecipientUpserter

#: Columns of a CSV that are fields of their own.
PLAIN: Final = ("id", "display_name", "locale", "timezone")
IDENTITY: Final = ("identity_type", "identity_id")
_ATTRIBUTE = "attributes."
_KNOWN: Final = frozenset({*PLAIN, *IDENTITY, *CHANNELS, "tags"})


class RecipientTarget:
    """Reads rows of recipients and upserts them, a set at a time."""

    def __init__(self, upserter: RecipientUpserter) -> None:
        self._upserter = upserter
        self.reads_json = False

    def begin(self, reader: RowReader) -> str:
        """Refuse headings that mean nothing: a typing mistake must not lose a column."""
        self.reads_json = reader.form == "jsonl"
        if self.reads_json:
            return "json lines"
        strange = [n for n, name in enumerate(reader.header, start=1) if not self.means(name)]
        if strange:
            raise UnreadableFileError(
                f"has headings that mean nothing here, in column {', '.join(map(str, strange[:10]))}; "
                f"known are {self.known_headings()}"
            )
        if not ({"id", "identity_id"} | set(CHANNELS)) & set(reader.header):
            raise UnreadableFileError(
                "must say who it is about: a column id, identity_type and identity_id, or an address"
            )
        return "csv"

    def means(self, heading: str) -> bool:
        """Whether a heading means anything here."""
        return heading in _KNOWN or heading.startswith(_ATTRIBUTE)

    def known_headings(self) -> str:
        """Those that do, in words."""
        return f"{', '.join(sorted(_KNOWN))} and {_ATTRIBUTE}<name>"

    def check(self, row: ImportedRow) -> Any:
        """The spec, or all that is wrong."""
        return self.recipient_in(row)

    def recipient_in(self, row: ImportedRow) -> RecipientSpec | list[LineProblem]:
        """Who a row is about, or all that is wrong with that."""
        values = dict(row.values) if self.reads_json else _nested(row.values)
        try:
            return spec_of(msgspec.convert(values, RecipientInput))
        except msgspec.ValidationError as error:
            faults = explain(values, RecipientInput, error)
        except InvalidError as refused:
            faults = list(refused.errors)
        return [
            LineProblem(row.line, self._column(values, fault.field), "bad_value", fault.remedy)
            for fault in faults
        ]

    def about(self, spec: Any) -> str | None:  # noqa: ARG002
        """A second line about the same person may say something else."""
        return None

    def recipient_of(self, spec: Any) -> RecipientSpec:
        """Who a spec is about."""
        found: RecipientSpec = spec
        return found

    async def write(
        self,
        tx: TenantTx,
        specs: Sequence[tuple[int, Any]],
        by: Author,  # noqa: ARG002  # recipients don't say where they came from
    ) -> WriteResult:
        """Upsert them all; who can't be is reported."""
        done = await self._upserter.upsert(tx, [self.recipient_of(spec) for _, spec in specs])
        problems: list[LineProblem] = []
        added = changed = unchanged = 0
        seen: dict[str, Any] = {}
        for (line, spec), result in zip(specs, done.results, strict=True):
            if isinstance(result, RefusalError):
                what = (
                    "has addresses of several recipients, or of one who does not have all of them; add an id or an identity"
                    if isinstance(result, SharedAddressError)
                    else "names somebody who is not known, or was erased"
                )
                problems.append(LineProblem(line, "", result.code, what))
                continue
            before, seen[result.recipient.id] = seen.get(result.recipient.id), spec
            if before is not None:
                # The lines about one person are one change; a second one that says something else is part of it.
                changed += before != spec
                unchanged += before == spec
            else:
                added += result.created
                changed += result.changed and not result.created
                unchanged += not (result.created or result.changed)
        await self.written(tx, {RecipientId(id_): spec for id_, spec in seen.items()})
        return WriteResult(
            tally=LineCounts(added=added, changed=changed, unchanged=unchanged), problems=problems
        )

    async def written(self, tx: TenantTx, people: Mapping[RecipientId, Any]) -> None:
        """Hears who the rows of a set were about, each with the last of their specs, in its transaction."""

    def _column(self, values: Mapping[str, Any], field: str) -> str:
        """How the file calls the field that a fault names."""
        if self.reads_json:
            # The names in a line are its own and may hold anything; ours say as much.
            first = field.partition(".")[0].partition("[")[0]
            return field if first in RecipientInput.__struct_fields__ else ""
        if field.startswith("addresses["):
            place = int(field.removeprefix("addresses[").partition("]")[0])
            return str(values["addresses"][place]["channel"])
        return field.replace("identity.", "identity_").partition("[")[0]


def _nested(cells: Mapping[str, str]) -> dict[str, Any]:
    """The object that a line of a CSV stands for; an empty cell leaves its field as it is."""
    found: dict[str, Any] = {}
    identity: dict[str, str] = {}
    addresses: list[dict[str, str]] = []
    attributes: dict[str, str] = {}
    for name, cell in cells.items():
        value = untamed(cell.strip())
        if not value:
            continue
        if name in PLAIN:
            found[name] = value
        elif name in IDENTITY:
            identity[name.removeprefix("identity_")] = value
        elif name == "tags":
            found["tags"] = [tag.strip() for tag in value.split("|") if tag.strip()]
        elif name.startswith(_ATTRIBUTE):
            attributes[name.removeprefix(_ATTRIBUTE)] = value
        else:
            addresses.append({"channel": name, "address": value})
    if identity:
        found["identity"] = identity
    if addresses:
        found["addresses"] = addresses
    if attributes:
        found["attributes"] = attributes
    return found
