"""Somebody asks for an approval of a draft: an alert that colleagues see until the draft is approved, changed or gone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tidings.backoffice.alerts import store
from tidings.backoffice.alerts.alerts import Alerts
from tidings.backoffice.alerts.model import NewAlert
from tidings.backoffice.console.templates.paths import Which
from tidings.backoffice.console.visits import Visit
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId

CATEGORY: Final = "template_approval"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Approvals:
    """Asks, says who has asked, and ends it."""

    db: Database
    alerts: Alerts

    async def ask(self, visit: Visit, which: Which, version: Mapping[str, Any]) -> None:
        """Tell colleagues that this draft waits for one of them."""
        alert = NewAlert(
            dedup_key=_key_of(version),
            category=CATEGORY,
            severity="info",
            property_id=None,
            source="console.templates",
            facts={
                "key": which.key,
                "channel": which.channel,
                "semver": version["semver"],
                "version": version["version"],
                "asked_by": visit.caller.actor,
            },
        )
        async with self.db.scoped(_tenant_of(visit)) as tx:
            await self.alerts.raise_(tx, [alert])

    async def asked_by(self, visit: Visit, version: Mapping[str, Any]) -> str | None:
        """Who has asked for an approval of these very words; None: nobody."""
        if version["status"] != "draft" or version["approved_by"] is not None:
            return None
        async with self.db.scoped(_tenant_of(visit)) as tx:
            found = await store.find_open(tx, [_key_of(version)])
        facts = next((one.facts for one in found), {})
        return str(facts["asked_by"]) if facts.get("version") == version["version"] else None

    async def waiting(self, visit: Visit) -> Mapping[tuple[str, str], str]:
        """Who asks, by key and channel, of all that is open."""
        async with self.db.scoped(_tenant_of(visit)) as tx:
            found = await store.open_of_category(tx, CATEGORY)
        return {
            (str(one.facts["key"]), str(one.facts["channel"])): str(one.facts["asked_by"]) for one in found
        }

    async def settled(self, visit: Visit, version: Mapping[str, Any]) -> None:
        """Nobody has to approve it any more."""
        async with self.db.scoped(_tenant_of(visit)) as tx:
            await self.alerts.resolve(tx, [_key_of(version)], resolved_by=visit.caller.actor)


def _key_of(version: Mapping[str, Any]) -> str:
    return f"{CATEGORY}:{version['id']}"


def _tenant_of(visit: Visit) -> TenantId | None:
    acting = visit.reader.acting_for
    return visit.caller.home or (None if acting is None else TenantId(acting))
