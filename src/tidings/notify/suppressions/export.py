"""All suppressions of a tenant as a CSV, a part at a time: it may be of any length."""

from collections.abc import AsyncIterator

from tidings.contracts.addresses import redact
from tidings.kernel.clock import Clock
from tidings.kernel.csv_text import csv_lines
from tidings.kernel.db import TenantTx
from tidings.kernel.http.injection import OpenTx
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.suppressions import store
from tidings.notify.suppressions.model import SEALED_FOR
from tidings.notify.suppressions.wire import ExportSuppressionsQuery, filter_of, opened

#: As the import of the generic format reads them.
COLUMNS = (
    "id",
    "channel",
    "address",
    "reason",
    "expires_at",
    "notes",
    "created_at",
    "occurred_at",
    "released_at",
    "released_by",
)
_PART = 2_000


async def export_lines(
    open_tx: OpenTx[TenantTx], query: ExportSuppressionsQuery, *, keyring: Keyring, clock: Clock
) -> AsyncIterator[bytes]:
    """Headings, then the rows; each part is read in a transaction of its own."""
    reveal = query.reveal == "true"
    yield csv_lines([COLUMNS])
    after, more = "", True
    while more:
        async with open_tx() as tx:
            found = await store.list_suppressions(
                tx, filter_of(query), after_id=after, now=clock.now(), limit=_PART, oldest_first=True
            )
            keys = await keyring.data_keys(tx, [SEALED_FOR], create=False) if found else {}
        key = keys.get(SEALED_FOR)
        if found:
            after = found[-1].id
            yield csv_lines(
                [
                    (
                        one.id,
                        one.channel,
                        _shown(opened(one, key), reveal=reveal),
                        one.reason.value,
                        one.expires_at.isoformat() if one.expires_at else "",
                        one.notes or "",
                        one.created_at.isoformat(),
                        one.since.isoformat(),
                        one.released_at.isoformat() if one.released_at else "",
                        one.released_by or "",
                    )
                    for one in found
                ]
            )
        more = len(found) == _PART


def _shown(clear: str | None, *, reveal: bool) -> str:
    if clear is None:
        return ""
    return clear if reveal or clear.startswith("@") else redact(clear)
