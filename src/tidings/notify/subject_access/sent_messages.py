"""What a person was sent, page by page: each notification with its words, its files and what vendors said."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from tidings.contracts.execution_history import ExecutionHistory
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.messages import Attachment
from tidings.contracts.operator_notices import WITHHELD
from tidings.kernel.blobs.envelope import BlobError
from tidings.kernel.clock import Clock
from tidings.kernel.db import CallerRole, Database
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.refusals import RefusalError
from tidings.notify.accept.attachments import Attachments
from tidings.notify.accept.row import ATTACHMENTS_PURPOSE, VARIABLES_PURPOSE, NotificationRow
from tidings.notify.dispatch import store as dispatch_store
from tidings.notify.facts.load import FactsLoader
from tidings.notify.facts.model import Facts
from tidings.notify.notifications import store as notification_store
from tidings.notify.notifications.body import BodyReader, ShownBody
from tidings.notify.notifications.model import Notification
from tidings.notify.notifications.store import NotificationCriteria
from tidings.notify.notifications.view import NotificationView
from tidings.notify.subject_access import store
from tidings.notify.subject_access.vendor_log import what_vendors_said

#: Notifications that are held at once.
PAGE: Final = 50
_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: Clocks of two machines differ; nothing is newer than this.
_AHEAD: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequest:
    """The recipient whose data is wanted, and the caller."""

    tenant_id: TenantId
    recipient_id: RecipientId
    role: CallerRole | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SentFile:
    """A file that went along."""

    notification_id: NotificationId
    place: int
    attachment: Attachment = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SentReader:
    """Reads what a recipient was sent. Every page has a transaction of its own: a slow client holds none open."""

    db: Database
    _: KW_ONLY
    loader: FactsLoader
    keyring: Keyring
    bodies: BodyReader
    attachments: Attachments
    history: ExecutionHistory
    clock: Clock

    async def notifications(self, asked: AccessRequest) -> AsyncIterator[dict[str, Any]]:
        """One each, the newest first."""
        shared = await self.loader.shared()
        async for ids in self._pages(asked):
            async with self.db.tenant(asked.tenant_id, caller_role=asked.role, by_index=True) as tx:
                found = await notification_store.find_notifications(tx, ids=ids)
                pending = await dispatch_store.load_pending(tx, ids)
                later = await store.load_logs(tx, ids)
                executions = await self.history.of_notifications(tx, ids)
                # One channel is named so that the keys come along.
                facts = await self.loader.load(tx, shared, [asked.recipient_id], channels=["inapp"])
                pepper = await self.keyring.pepper(tx)
            several = [(found[i], pending[i]) for i in ids if i in found and i in pending]
            words = await self.bodies.put_into_words(asked.tenant_id, facts, pepper, several)
            for (one, row), body in zip(several, words, strict=True):
                yield {
                    **_told(one),
                    "variables": None
                    if one.template_key in WITHHELD
                    else _variables(row, _key_of(facts, asked)),
                    "body": _words(body),
                    "what_vendors_said": what_vendors_said(executions.get(one.id, ()), later.get(one.id, ())),
                }

    async def files(self, asked: AccessRequest) -> AsyncIterator[SentFile]:
        """The files that went along and can still be opened; one notification's at a time."""
        async for ids in self._pages(asked):
            async with self.db.tenant(asked.tenant_id, caller_role=asked.role, by_index=True) as tx:
                pending = await dispatch_store.load_pending(tx, ids)
                with_files = [pending[i] for i in ids if i in pending and pending[i].attachments is not None]
                keys = await self.keyring.data_keys(tx, [asked.recipient_id], create=False)
            for row in with_files:
                for place, attachment in enumerate(
                    await self._open(asked, row, keys.get(asked.recipient_id))
                ):
                    yield SentFile(notification_id=row.id, place=place, attachment=attachment)

    async def looks(self, asked: AccessRequest) -> AsyncIterator[dict[str, Any]]:
        """Who read the words of these messages, or stopped one, and when."""
        async for ids in self._pages(asked):
            async with self.db.tenant(asked.tenant_id, caller_role=asked.role, by_index=True) as tx:
                found = await store.load_looks(tx, ids)
            for row in found:
                yield {
                    "id": row["id"],
                    "at": row["occurred_at"],
                    "about": "notification",
                    "notification_id": row["entity_id"],
                    "action": row["action"],
                    "actor": row["actor"],
                }

    async def _open(
        self, asked: AccessRequest, row: NotificationRow, key: DataKey | None
    ) -> Sequence[Attachment]:
        if key is None or row.attachments is None:
            return ()
        try:
            manifest = key.unseal(row.attachments, ATTACHMENTS_PURPOSE)
            return await self.attachments.open(asked.tenant_id, manifest)
        except (DestroyedKeyError, UnreadableError, BlobError):
            return ()

    async def _pages(self, asked: AccessRequest) -> AsyncIterator[Sequence[NotificationId]]:
        before_at, before_id = self.clock.now() + _AHEAD, ""
        while True:
            async with self.db.tenant(asked.tenant_id, caller_role=asked.role, by_index=True) as tx:
                glance = await notification_store.look_back(
                    tx,
                    NotificationCriteria(recipient_id=asked.recipient_id),
                    since=_BEGINNING,
                    before_at=before_at,
                    before_id=before_id,
                    most=PAGE,
                )
            if glance.ids:
                yield glance.ids
            if glance.last_id is None or glance.looked_at < PAGE:
                return
            before_at, before_id = time_of(glance.last_id), glance.last_id


def _told(one: Notification) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(NotificationView.of(one))
    shown.pop("links", None)
    return shown


def _key_of(facts: Facts, asked: AccessRequest) -> DataKey | None:
    person = facts.people.get(asked.recipient_id)
    return person.key if person is not None else None


def _variables(row: NotificationRow, key: DataKey | None) -> Any:
    if key is None or row.variables is None:
        return None
    try:
        return msgspec.json.decode(key.unseal(row.variables, VARIABLES_PURPOSE))
    except (DestroyedKeyError, UnreadableError, msgspec.MsgspecError):
        return None


def _words(body: ShownBody | RefusalError) -> dict[str, Any]:
    if isinstance(body, RefusalError):
        return {"gone": body.code}
    rendered = body.rendered
    return {
        "channel": body.channel,
        "subject": rendered.subject,
        "text": rendered.text,
        "html": rendered.html,
        "locale": rendered.locale,
        "exact": body.exact,
    }
