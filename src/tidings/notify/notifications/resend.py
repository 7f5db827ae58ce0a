"""The use case "send it once more": a new notification from the old one's frozen words, to the same person, by the ordinary way.

Its variables and files are those of the old one, sealed anew; every gate holds as for any other.
"""

from tidings.contracts.ids import NotificationId
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import CallerRole, Database, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.data_key import DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.refusals import RefusalError
from tidings.notify.dispatch.store import load_pending
from tidings.notify.notifications.accept import Accepted, Acceptor, Incoming, incoming
from tidings.notify.notifications.attachments import Stored
from tidings.notify.notifications.errors import StillUnderWayError, UnknownNotificationError
from tidings.notify.notifications.intake import Wake
from tidings.notify.notifications.model import ATTACHMENTS_PURPOSE, FINAL, VARIABLES_PURPOSE
from tidings.notify.notifications.order import OrderDesk
from tidings.notify.recipients.errors import ErasedRecipientError
from tidings.notify.recipients.wish import RecipientWish


class Resender:
    """Sends notifications once more."""

    def __init__(
        self,
        *,
        db: Database,
        desk: OrderDesk,
        acceptor: Acceptor,
        keyring: Keyring,
        audit: AuditLog,
        clock: Clock,
        wake: Wake,
    ) -> None:
        self._db = db
        self._desk = desk
        self._acceptor = acceptor
        self._keyring = keyring
        self._audit = audit
        self._clock = clock
        self._wake = wake

    async def prepare(
        self, tenant_id: TenantId, notification_id: NotificationId, *, role: CallerRole, is_test: bool
    ) -> Incoming:
        """What is to be accepted; a refusal where the old one is not over, or nothing of it can be read any more."""
        async with self._db.tenant(tenant_id, caller_role=role) as tx:
            pending = (await load_pending(tx, [notification_id])).get(notification_id)
            if pending is None:
                raise UnknownNotificationError(f"there is no notification with the id {notification_id}")
            if pending.status not in FINAL:
                raise StillUnderWayError(
                    f"{notification_id} is {pending.status.value}: it is still on its way; wait for its end, or cancel it first"
                )
            keys = await self._keyring.data_keys(tx, [pending.recipient_id], create=False)
        key = keys.get(pending.recipient_id)
        if key is None or key.destroyed:
            raise ErasedRecipientError
        try:
            variables = key.unseal(pending.variables, VARIABLES_PURPOSE)
            manifest = key.unseal(pending.attachments, ATTACHMENTS_PURPOSE) if pending.attachments else None
        except DestroyedKeyError:
            raise ErasedRecipientError from None
        order = await self._desk.repeat(
            tenant_id, pending, variables, wish=RecipientWish(id=pending.recipient_id)
        )
        # The files lie where they lay; only the manifest that opens them is sealed once more.
        files = Stored(keys=(), manifest=manifest) if manifest is not None else None
        return incoming(order, now=self._clock.now(), is_test=is_test or pending.is_test, files=files)

    async def accept(self, tx: TenantTx, item: Incoming, *, actor: str) -> Accepted:
        """Write it, and say in the audit who wanted it."""
        [result] = await self._acceptor.accept(tx, [item])
        if isinstance(result, RefusalError):
            raise result
        entry = Entry(
            entity_type="notification",
            entity_id=item.order.resent_from or item.id,
            action="resent",
            actor=actor,
            after={"notification_id": result.id},
        )
        await self._audit.append(tx, [entry])
        return result

    def announce(self, item: Incoming) -> None:
        """It has committed: tell those who send."""
        self._wake(express=item.order.priority in ("critical", "high"))
