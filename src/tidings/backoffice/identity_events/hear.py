"""The consumer group that hears of users who were deleted, and of tenants that are closed.

An operator whom the identity service names is erased as an admin would: name, mail, sign-in and preferences can't be read any
more, sessions end, and the id stays in the ledgers. Sessions of a tenant that is suspended, or on its way out, end. A tenant that
is frozen needs nothing of this: its operators look on, and change nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from tidings.backoffice.ids import OPERATOR, OperatorId
from tidings.backoffice.operators import store
from tidings.backoffice.operators.change import By, OperatorChanger
from tidings.backoffice.sessions.end import SessionEnder
from tidings.contracts.erasure import USER_DELETED_SUBJECT, UserDeleted
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.events import Event

GROUP: Final = "backoffice.identities"
_CLOSING: Final = ("tenant.suspended.v1", "tenant.deleting.v1")
SUBJECTS: Final = (USER_DELETED_SUBJECT, *_CLOSING)
#: Who does it, as the audit has it.
_ACTOR: Final = "system"

_decode = msgspec.json.Decoder(UserDeleted).decode


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class IdentityHearer:
    """Applies each event once; an operator who is not known, or was erased before, changes nothing."""

    changer: OperatorChanger
    ender: SessionEnder

    async def handle(self, tx: TenantTx | PlatformTx, events: Sequence[Event]) -> None:
        """Of one tenant, or of the platform's own operators."""
        gone = {one for event in events if (one := _operator_in(event)) is not None}
        # In the order of ids, as whoever else locks operators.
        for operator_id in sorted(gone):
            await self._erase(tx, operator_id)
        if any(event.subject in _CLOSING for event in events) and isinstance(tx, TenantTx):
            await self.ender.force_out(tx, "tenant", None, actor=_ACTOR)

    async def _erase(self, tx: TenantTx | PlatformTx, operator_id: OperatorId) -> None:
        known = await store.find_operator(tx, operator_id=operator_id)
        if known is None or known.erased_at is not None:
            return
        await self.changer.erase(tx, operator_id, by=By(actor=_ACTOR))
        await self.ender.end(tx, reason="operator_changed", actor=_ACTOR, operator_id=operator_id)


def _operator_in(event: Event) -> OperatorId | None:
    """The operator whom an event names; a user of another kind is somebody else's to erase."""
    if event.subject != USER_DELETED_SUBJECT:
        return None
    try:
        return OPERATOR.parse(_decode(event.data).user_id)
    except (msgspec.MsgspecError, BadValueError):
        # What can't be read at all becomes a dead letter of the group that erases recipients.
        return None
