"""Operations on exports of the ledgers."""

from datetime import date
from typing import Annotated

from msgspec import Meta, Struct

from tidings.backoffice.attestations.attest import seat_of
from tidings.backoffice.exports import store
from tidings.backoffice.exports.ledgers import LedgerName
from tidings.backoffice.exports.store import Export
from tidings.contracts.moments import Moment
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OwnerTx
from tidings.kernel.http.paging import Page, PageQuery, Paging
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.mapping import by_name

exports = Resource("exports", at="/exports", tag="activity", scope="audit", owner=Owner.OPERATOR)


_Month = Annotated[
    str, Meta(pattern=r"^20\d\d-(0[1-9]|1[0-2])\Z", description="must be a month such as 2026-11")
]


class ListExports(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which files are wanted."""

    ledger: LedgerName | None = None
    #: `2026-11`.
    month: _Month | None = None


class ExportView(Struct, frozen=True, kw_only=True):
    """A file of a ledger."""

    id: str
    ledger: LedgerName
    #: Counts from 1 within a ledger.
    part: int
    #: `2026-11`.
    month: str
    #: The file holds the rows from this moment on,
    from_at: Moment
    #: and none from this one on.
    until_at: Moment
    #: Null while it is being written.
    rows: int | None
    bytes: int | None
    #: SHA-256 of the object in the blob store.
    checksum: str | None
    #: When it was read back and found whole.
    verified_at: Moment | None

    @classmethod
    def of(cls, one: Export) -> "ExportView":
        """The row of the manifest."""
        return by_name(cls, one, month=f"{one.month:%Y-%m}")


@exports.get(problems=["operators_only"])
async def list_exports(tx: OwnerTx, query: ListExports, caller: Caller, paging: Paging) -> Page[ExportView]:
    """List the Parquet files that the ledgers are exported to, the newest first."""
    seat_of(caller)
    month = None if query.month is None else date.fromisoformat(f"{query.month}-01")
    found = await store.list_exports(
        tx, ledger=query.ledger, month=month, after_id=paging.after_id, limit=paging.fetch
    )
    return paging.page(found, ExportView.of)
