"""Calls about suppressions and files that are imported; `upload` and `call` of either client send them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal
from urllib.parse import quote

import msgspec
from msgspec import Struct

from tidings_client.calls import Call

Kind = Literal["suppressions", "recipients", "preferences"]


class LineProblem(Struct, frozen=True, kw_only=True):
    """Why something on a line could not be taken."""

    line: int
    column: str
    code: str
    what: str
    #: `error`, or `warning` where the line was taken without what is named.
    severity: str = "error"


class Imported(Struct, frozen=True, kw_only=True):
    """An import: how far it came and what became of its lines."""

    id: str
    kind: str
    status: str
    format: str
    dry_run: bool
    lines: int
    bytes: int
    added: int
    changed: int
    unchanged: int
    refused: int
    problems: int
    #: Headings, empty lines, and further lines of a cell that runs over several.
    skipped: int = 0
    #: Those of the problems that kept no line from being taken.
    warnings: int = 0
    first_problems: tuple[LineProblem, ...] = ()
    completed_at: datetime | None = None


class ReasonCounts(Struct, frozen=True, kw_only=True):
    """How many there are on one channel."""

    total: int
    by_reason: dict[str, int]


class SuppressionStats(Struct, frozen=True, kw_only=True):
    """How many suppressions are in force."""

    total: int
    by_channel: dict[str, ReasonCounts]
    by_reason: dict[str, int]


def import_file(kind: Kind, query: Mapping[str, str], *, key: str, media_type: str) -> Call[Imported]:
    """Take a file in; its pieces go with `upload`."""
    return Call(
        method="POST",
        path=f"/api/v1/{kind}/import",
        query=query,
        read=msgspec.json.Decoder(Imported).decode,
        key=key,
        media_type=media_type,
    )


def report(import_id: str) -> Call[bytes]:
    """All lines that could not be taken, as a CSV."""
    path = f"/api/v1/imports/{quote(import_id, safe='')}/report"
    return Call(method="GET", path=path, read=bytes, accept="text/csv")


def suppression_stats() -> Call[SuppressionStats]:
    """How many there are."""
    read = msgspec.json.Decoder(SuppressionStats).decode
    return Call(method="GET", path="/api/v1/suppressions/stats", read=read)


def export_suppressions(query: Mapping[str, str]) -> Call[bytes]:
    """All of them, as a CSV."""
    return Call(method="GET", path="/api/v1/suppressions/export", query=query, read=bytes, accept="text/csv")
