"""One-time links: an operator has one at a time, and only its hash is kept."""

import hmac
from dataclasses import dataclass
from datetime import datetime

from tidings.backoffice.credentials.pepper import OperatorPepper
from tidings.backoffice.credentials.tokens import Link, new_secret, read_link
from tidings.backoffice.operators import store
from tidings.backoffice.operators.ledger import OperatorLedger
from tidings.backoffice.operators.model import INVITED_FOR, OPENS_FOR, LinkKind, MadeLink, OperatorRecord
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OperatorLinks:
    """Makes links and knows whose they are."""

    pepper: OperatorPepper
    ledger: OperatorLedger
    clock: Clock

    async def make(
        self,
        tx: TenantTx | PlatformTx,
        before: OperatorRecord,
        operator: OperatorRecord,
        kind: LinkKind,
        *,
        action: str,
        actor: str,
    ) -> tuple[OperatorRecord, MadeLink]:
        """A new link of an operator who was locked as `before`; it takes the place of the one before."""
        until = self.clock.now() + (INVITED_FOR if kind == "join" else OPENS_FOR)
        link = Link(operator.tenant_id, operator.id, new_secret())
        linked = operator.with_link(kind, await self._hash(link, kind), until)
        saved = await self.ledger.save(tx, before, linked, action=action, actor=actor)
        return saved, MadeLink(link=link, kind=kind, expires_at=until)

    async def find(
        self, tx: TenantTx | PlatformTx, text: str, kind: LinkKind, *, lock: bool = False
    ) -> OperatorRecord | None:
        """Whose link it is, in a transaction of their tenant; None where it is none, was used, or is over."""
        link = read_link(text)
        if link is None or link.tenant_id != tx.tenant_id:
            return None
        look_up = store.lock_operator if lock else store.find_operator
        operator = await look_up(tx, operator_id=link.operator_id)
        if operator is None or not _works(operator, kind, self.clock.now()):
            return None
        expected = await self._hash(link, kind)
        if not hmac.compare_digest(operator.link_hash or "", expected):
            return None
        return operator if await self.ledger.holds(operator) else None

    async def _hash(self, link: Link, kind: LinkKind) -> str:
        return await self.pepper.hash("link", kind, link.tenant_id, link.operator_id, link.secret)


def _works(operator: OperatorRecord, kind: LinkKind, now: datetime) -> bool:
    return (
        operator.status != "disabled"
        and operator.link_kind == kind
        and operator.link_expires_at is not None
        and now < operator.link_expires_at
    )
