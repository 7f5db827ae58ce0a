"""The only Python here that runs SQL on statistics."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from tidings.kernel.db import PlatformTx, TenantTx, WorkerTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.router.statistics.model import CostSum, ErrorSum, OutcomeSum, StepSum, TenantSum, VendorSum

QUERIES = Queries.beside(__file__)
Every = Literal["hour", "day"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RollUpMark:
    """How far the roll-up has come, and how far it can."""

    after_xid: int
    not_before: datetime
    #: Transactions before this one are over.
    finished: int
    #: Those from this one on have not begun.
    unborn: int


async def take_mark(tx: WorkerTx, name: str) -> RollUpMark | None:
    """The mark, held until the transaction ends; None where another process has it."""
    await tx.execute(QUERIES.begin_mark, name=name)
    row = await tx.fetch_one(QUERIES.take_mark, name=name)
    return None if row is None else _mark(row)


async def move_mark(tx: WorkerTx, name: str, *, after: int, not_before: datetime | None = None) -> None:
    """The roll-up has come so far, once the transaction commits."""
    await tx.execute(QUERIES.move_mark, name=name, after=after, not_before=not_before)


async def roll_up(tx: WorkerTx, *, after: int, until: int, not_before: datetime, oldest: datetime) -> int:
    """Add what these transactions have ended; how many executions. None of them began before `oldest`."""
    found: int = await tx.fetch_value(
        QUERIES.roll_up, after=after, until=until, not_before=not_before, oldest=oldest
    )
    return found


async def sweep(tx: WorkerTx, *, steps_before: datetime, others_before: datetime, limit: int) -> int:
    """Remove what is old; how many rows."""
    removed = await tx.execute(QUERIES.sweep_steps, before=steps_before, limit=limit)
    removed += await tx.execute(QUERIES.sweep_outcomes, before=others_before, limit=limit)
    return removed + await tx.execute(QUERIES.sweep_errors, before=others_before.date(), limit=limit)


async def sum_steps(tx: TenantTx, *, since: datetime, until: datetime) -> list[StepSum]:
    """From one moment to another."""
    return [_step(row) for row in await tx.fetch(QUERIES.sum_steps, since=since, until=until)]


async def sum_vendors(tx: TenantTx, *, since: datetime, until: datetime) -> list[VendorSum]:
    """From one moment to another."""
    return [_vendor(row) for row in await tx.fetch(QUERIES.sum_vendors, since=since, until=until)]


async def sum_costs(tx: TenantTx, *, since: date, until: date) -> list[CostSum]:
    """From one day to another, both counted."""
    return [_cost(row) for row in await tx.fetch(QUERIES.sum_costs, since=since, until=until)]


async def sum_errors(tx: TenantTx, *, since: date, until: date, limit: int) -> list[ErrorSum]:
    """From one day to another, both counted; the most frequent ones."""
    return [_error(row) for row in await tx.fetch(QUERIES.sum_errors, since=since, until=until, limit=limit)]


async def sum_outcomes(
    tx: TenantTx, *, since: datetime, until: datetime, every: Every, use_case: str | None
) -> list[OutcomeSum]:
    """From one moment to another, by the hour or the day."""
    rows = await tx.fetch(QUERIES.sum_outcomes, since=since, until=until, every=every, use_case=use_case)
    return [_outcome(row) for row in rows]


async def sum_tenants(tx: PlatformTx, *, since: datetime, until: datetime, limit: int) -> list[TenantSum]:
    """The loudest tenants from one moment to another."""
    return [
        _tenant(row) for row in await tx.fetch(QUERIES.sum_tenants, since=since, until=until, limit=limit)
    ]


_mark = RowMapper(RollUpMark, [QUERIES.take_mark])
_cost = RowMapper(CostSum, [QUERIES.sum_costs])
_vendor = RowMapper(VendorSum, [QUERIES.sum_vendors])
_step = RowMapper(StepSum, [QUERIES.sum_steps])
_error = RowMapper(ErrorSum, [QUERIES.sum_errors])
_outcome = RowMapper(OutcomeSum, [QUERIES.sum_outcomes])
_tenant = RowMapper(TenantSum, [QUERIES.sum_tenants])
