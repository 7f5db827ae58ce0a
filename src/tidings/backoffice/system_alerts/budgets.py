"""What a tenant means to spend in a month, and whether it is nearly spent."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tidings.contracts.conditions import Condition, Look
from tidings.contracts.spend import SpendTeller
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)
#: Percents of the budget: from when on it is a warning, from when on critical.
_WARNING: Final = 80
_CRITICAL: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Budgets:
    """Kept by currency."""

    audit: AuditLog
    clock: Clock

    async def list(self, tx: TenantTx) -> dict[str, int]:
        """Micros by currency."""
        return {row["currency"]: row["micros"] for row in await tx.fetch(QUERIES.list_budgets)}

    async def put(self, tx: TenantTx, currency: str, micros: int | None, *, actor: str) -> None:
        """Mean to spend so much in a month; None: say nothing of it."""
        if micros is None:
            await tx.execute(QUERIES.remove_budget, currency=currency)
        else:
            now = self.clock.now()
            await tx.execute(QUERIES.put_budget, currency=currency, micros=micros, set_by=actor, now=now)
        entry = Entry(
            entity_type="alert_budget",
            entity_id=currency,
            action="changed",
            actor=actor,
            after={"micros": micros},
        )
        await self.audit.append(tx, [entry])


class BudgetConditions:
    """Looks at the spend of tenants that have a budget."""

    name = "budgets"
    every = timedelta(minutes=5)

    def __init__(self, db: Database, clock: Clock, budgets: Budgets, spend: SpendTeller) -> None:
        self._db = db
        self._clock = clock
        self._budgets = budgets
        self._spend = spend

    async def look(self) -> Look:
        """Two statements for each such tenant, over a few rows a day."""
        async with self._db.worker() as tx:
            rows = await tx.fetch(QUERIES.tenants_with_budgets)
        now = self._clock.now()
        found: list[Condition] = []
        for tenant_id in (TenantId(row["tenant_id"]) for row in rows):
            async with self._db.tenant(tenant_id) as of_tenant:
                budgets = await self._budgets.list(of_tenant)
                first = now.date().replace(day=1)
                spent = await self._spend.between(of_tenant, since=first, until=now.date())
            found += judge_budgets(tenant_id, budgets, spent, now)
        return Look(conditions=found)


def judge_budgets(
    tenant_id: TenantId, budgets: Mapping[str, int], spent: Mapping[str, int], now: datetime
) -> Iterator[Condition]:
    """Those of which four fifths are spent in this month."""
    for currency, micros in budgets.items():
        percent = 100 * spent.get(currency, 0) // micros
        if percent >= _WARNING:
            yield Condition(
                category="spend_near_cap",
                # A new month is another matter.
                about=f"{currency}:{now:%Y-%m}",
                severity="critical" if percent >= _CRITICAL else "warning",
                tenant_id=tenant_id,
                facts={"currency": currency, "percent": percent},
            )
