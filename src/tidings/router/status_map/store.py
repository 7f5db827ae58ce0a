"""The only Python here that runs SQL on the status map."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from tidings.kernel.db import PlatformTx, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.router.status_map.model import StatusLine, StatusLineVersion, StatusMeaning

QUERIES = Queries.beside(__file__)

#: Codes without a meaning that are counted for one tenant.
_MOST_UNKNOWN = 1000

_read_history = msgspec.json.Decoder(list[StatusLineVersion]).decode
_encode = msgspec.json.Encoder().encode

#: Adapter, or vendor's name, and code.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownCode:
    """A code that had no meaning when vendors said it."""

    vendor: str
    code: str
    adapter: str
    count: int
    #: How many tenants were told it.
    tenants: int
    first_seen: datetime
    last_seen: datetime
    #: What it means by now.
    means: StatusMeaning | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownReceipt:
    """A receipt that was kept as unknown, and what it means now."""

    id: str
    recorded_at: datetime
    occurred_at: datetime | None
    attempt_id: str
    attempt_started_at: datetime
    execution_id: str
    code: str
    means: StatusMeaning


# --- meanings


async def find_meanings(tx: TenantTx, codes: Sequence[Key]) -> Mapping[Key, StatusMeaning]:
    """Vendor and code → what that means; those with a line alone."""
    rows = await tx.fetch(
        QUERIES.find_meanings, vendors=[vendor for vendor, _ in codes], codes=[code for _, code in codes]
    )
    return {(row["vendor"], row["code"]): _meaning(row) for row in rows}


async def load_own(tx: TenantTx) -> dict[Key, StatusMeaning]:
    """All that the tenant says: adapter and code → meaning."""
    rows = await tx.fetch(QUERIES.load_own)
    return {(row["adapter"], row["provider_code"]): _meaning(row) for row in rows}


async def load_everybodys(tx: TenantTx) -> dict[Key, StatusMeaning]:
    """All that the platform says to all tenants."""
    rows = await tx.fetch(QUERIES.load_everybodys)
    return {(row["adapter"], row["provider_code"]): _meaning(row) for row in rows}


# --- lines


async def list_lines(
    tx: TenantTx | PlatformTx, *, adapter: str | None, after: Key | None, limit: int
) -> list[StatusLine]:
    """Of so many codes after that one: the tenant's own line before the platform's, where it has one."""
    rows = await tx.fetch(
        QUERIES.list_lines,
        adapter=adapter,
        after_adapter=after[0] if after else None,
        after_code=after[1] if after else None,
        limit=limit,
    )
    return [_line(row) for row in rows]


async def find_lines(tx: TenantTx | PlatformTx, *, adapter: str, code: str) -> list[StatusLine]:
    """The tenant's own line for a code, then the platform's; none, one or both."""
    rows = await tx.fetch(QUERIES.find_lines, adapter=adapter, code=code)
    return [_line(row) for row in rows]


async def lock_line(tx: TenantTx | PlatformTx, *, adapter: str, code: str) -> StatusLine | None:
    """The line of the owner of the transaction, until that ends."""
    row = await tx.fetch_one(QUERIES.lock_line, adapter=adapter, code=code)
    return None if row is None else _line(row)


async def count_lines(tx: TenantTx | PlatformTx) -> int:
    """How many lines of its own the tenant, or the platform, has."""
    count: int = await tx.fetch_value(QUERIES.count_lines)
    return count


async def insert_line(tx: TenantTx | PlatformTx, line: StatusLine) -> bool:
    """Write a new line; False where there is one."""
    written = await tx.execute(
        QUERIES.insert_line,
        line,
        actor=line.updated_by,
        now=line.updated_at,
    )
    return written == 1


async def update_line(tx: TenantTx | PlatformTx, line: StatusLine) -> None:
    """Write a line that was locked."""
    await tx.execute(
        QUERIES.update_line,
        line,
        history=_encode(list(line.history)).decode(),
        actor=line.updated_by,
        now=line.updated_at,
    )


async def delete_line(tx: TenantTx | PlatformTx, line: StatusLine) -> None:
    """Remove a line that was locked."""
    await tx.execute(QUERIES.delete_line, line)


async def seed_lines(tx: PlatformTx, seeds: Mapping[Key, StatusMeaning], *, now: datetime) -> int:
    """Write the platform's lines that are missing, or still as they were seeded; how many changed."""
    ordered = sorted(seeds.items())
    return await tx.execute(
        QUERIES.seed_lines,
        now=now,
        adapters=[adapter for (adapter, _), _ in ordered],
        codes=[code for (_, code), _ in ordered],
        canonicals=[meaning.canonical for _, meaning in ordered],
        reasons=[meaning.reason for _, meaning in ordered],
    )


# --- codes without a meaning


async def note_unknown(
    tx: TenantTx, counts: Mapping[Key, int], *, adapters: Mapping[str, str], now: datetime
) -> None:
    """Count what vendors said that means nothing yet: vendor and code → how often; `adapters` by vendor."""
    ordered = sorted(counts.items())
    await tx.execute(
        QUERIES.note_unknown,
        now=now,
        most=_MOST_UNKNOWN,
        vendors=[vendor for (vendor, _), _ in ordered],
        codes=[code for (_, code), _ in ordered],
        adapters=[adapters.get(vendor, vendor) for (vendor, _), _ in ordered],
        counts=[count for _, count in ordered],
    )


async def list_unknown(
    tx: TenantTx | PlatformTx, *, adapter: str | None, limit: int = _MOST_UNKNOWN
) -> list[UnknownCode]:
    """The tenant's, or those of all tenants together; what has no meaning yet first, then by how often."""
    rows = await tx.fetch(QUERIES.list_unknown, adapter=adapter, limit=limit)
    return [_unknown(row, means=None if row["canonical"] is None else _meaning(row)) for row in rows]


async def tenants_with_unknown(
    tx: PlatformTx, *, adapter: str, code: str, since: datetime, after: TenantId | None, limit: int
) -> list[TenantId]:
    """Who was told a code since then, in the order of their ids."""
    rows = await tx.fetch(
        QUERIES.tenants_with_unknown, adapter=adapter, code=code, since=since, after=after, limit=limit
    )
    return [row["tenant_id"] for row in rows]


async def sweep_unknown(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Forget codes that were not heard since then; how many went."""
    return await tx.execute(QUERIES.sweep_unknown, before=before, limit=limit)


async def find_unknown_receipts(
    tx: TenantTx, *, adapter: str, code: str, since: datetime, limit: int
) -> list[UnknownReceipt]:
    """Receipts kept as unknown that this line gives a meaning by now, and that were not told so; the oldest first."""
    rows = await tx.fetch(QUERIES.find_unknown_receipts, adapter=adapter, code=code, since=since, limit=limit)
    return [_receipt(row, means=_meaning(row)) for row in rows]


_meaning = RowMapper(
    StatusMeaning,
    [
        QUERIES.find_meanings,
        QUERIES.load_own,
        QUERIES.load_everybodys,
        QUERIES.list_unknown,
        QUERIES.find_unknown_receipts,
    ],
)


_line = RowMapper(
    StatusLine,
    [QUERIES.list_lines, QUERIES.find_lines, QUERIES.lock_line],
    columns={"platform": "tenant_id", "code": "provider_code"},
    read={"platform": lambda value: value is None, "history": lambda value: tuple(_read_history(value))},
)
_unknown = RowMapper(UnknownCode, [QUERIES.list_unknown], omit="means")
_receipt = RowMapper(
    UnknownReceipt,
    [QUERIES.find_unknown_receipts],
    columns={"attempt_started_at": "started_at", "code": "provider_code"},
    omit="means",
)
