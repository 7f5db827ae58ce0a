"""The use case "send it once more": a new notification from the old one's frozen words, to the same person, by the ordinary way.

Its variables and files are those of the old one, sealed anew; every gate holds as for any other.
"""

from dataclasses import dataclass

from tidings.contracts.ids import NotificationId
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.db import CallerRole, Database, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.data_key import DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.accept.attachments import Stored
from tidings.notify.accept.group_commit import Wake
from tidings.notify.accept.order import AcceptedOrder, OrderedBy, accepted
from tidings.notify.accept.row import ATTACHMENTS_PURPOSE, VARIABLES_PURPOSE
from tidings.notify.accept.validator import OrderValidator, ValidOrder
from tidings.notify.accept.writer import OrderWriter
from tidings.notify.dispatch.store import load_pending
from tidings.notify.notifications.errors import BodyGoneError, StillUnderWayError, UnknownNotificationError
from tidings.notify.notifications.model import FINAL
from tidings.notify.recipients.errors import ErasedRecipientError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Resender:
    """Sends notifications once more."""

    db: Database
    validator: OrderValidator
    writer: OrderWriter
    keyring: Keyring
    audit: AuditLog
    wake: Wake

    async def prepare(
        self, tenant_id: TenantId, notification_id: NotificationId, *, role: CallerRole, is_test: bool
    ) -> ValidOrder:
        """What is to be accepted; a refusal where the old one is not over, or nothing of it can be read any more."""
        async with self.db.tenant(tenant_id, caller_role=role) as tx:
            pending = (await load_pending(tx, [notification_id])).get(notification_id)
            if pending is None:
                raise UnknownNotificationError(f"there is no notification with the id {notification_id}")
            if pending.status not in FINAL:
                raise StillUnderWayError(
                    f"{notification_id} is {pending.status.value}: it is still on its way; wait for its end, or cancel it first"
                )
            keys = await self.keyring.data_keys(tx, [pending.recipient_id], create=False)
        key = keys.get(pending.recipient_id)
        if key is None or key.destroyed:
            raise ErasedRecipientError
        try:
            variables = key.unseal(pending.variables, VARIABLES_PURPOSE)
            manifest = key.unseal(pending.attachments, ATTACHMENTS_PURPOSE) if pending.attachments else None
        except DestroyedKeyError:
            raise ErasedRecipientError from None
        # The files lie where they lay; only the manifest that opens them is sealed once more.
        files = Stored(keys=(), manifest=manifest) if manifest is not None else None
        by = OrderedBy(tenant_id, role, is_test=is_test or pending.is_test)
        item = await self.validator.repeat(by, pending, variables, files)
        if item is None:
            raise BodyGoneError(
                f"{pending.id} can't be sent again: its template or its category is no longer there"
            )
        return item

    async def accept(self, tx: TenantTx, item: ValidOrder, *, actor: str) -> AcceptedOrder:
        """Write it, and say in the audit who wanted it."""
        [outcome] = await self.writer.write(tx, [item])
        result = accepted(outcome)
        entry = Entry(
            entity_type="notification",
            entity_id=item.order.resent_from or item.id,
            action="resent",
            actor=actor,
            after={"notification_id": result.id},
        )
        await self.audit.append(tx, [entry])
        return result

    def announce(self, item: ValidOrder) -> None:
        """It has committed: tell those who send."""
        self.wake(express=item.is_urgent)
