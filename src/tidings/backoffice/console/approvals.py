"""Somebody asks for an approval of what they wrote: an alert that colleagues see until it is approved, changed or gone."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidings.backoffice.alerts import store
from tidings.backoffice.alerts.alerts import Alerts
from tidings.backoffice.alerts.model import Facts, NewAlert
from tidings.backoffice.approvals.model import ApprovalCategory, alert_key
from tidings.backoffice.console.visits import Visit
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvable:
    """What is to be approved, in one of its versions."""

    category: ApprovalCategory
    id: str
    version: int
    #: What the alert says of it.
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """There is one open alert of it at most."""
        return alert_key(self.category, self.id)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Approvals:
    """Asks, says who has asked, and ends it."""

    db: Database
    alerts: Alerts

    async def ask(self, visit: Visit, what: Approvable) -> None:
        """Tell colleagues that this waits for one of them."""
        alert = NewAlert(
            dedup_key=what.key,
            category=what.category,
            severity="info",
            property_id=None,
            source="console",
            facts={**what.facts, "version": what.version, "asked_by": visit.caller.actor},
        )
        async with self.db.scoped(_tenant_of(visit)) as tx:
            await self.alerts.raise_(tx, [alert])

    async def asked_by(self, visit: Visit, what: Approvable) -> str | None:
        """Who has asked for an approval of this very version; None: nobody."""
        async with self.db.scoped(_tenant_of(visit)) as tx:
            found = await store.find_open(tx, [what.key])
        facts = next((one.facts for one in found), {})
        return str(facts["asked_by"]) if facts.get("version") == what.version else None

    async def waiting(self, visit: Visit, category: ApprovalCategory) -> list[Facts]:
        """What the open alerts of this kind say."""
        async with self.db.scoped(_tenant_of(visit)) as tx:
            return [one.facts for one in await store.open_of_category(tx, category)]

    async def settled(self, visit: Visit, what: Approvable) -> None:
        """Nobody has to approve it any more."""
        async with self.db.scoped(_tenant_of(visit)) as tx:
            await self.alerts.resolve(tx, [what.key], resolved_by=visit.caller.actor)


def _tenant_of(visit: Visit) -> TenantId | None:
    acting = visit.reader.acting_for
    return visit.caller.home or (None if acting is None else TenantId(acting))
