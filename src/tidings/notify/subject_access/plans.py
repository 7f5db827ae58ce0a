"""What is to come to a person, page by page: planned messages, digests that gather theirs, and batches that they are in."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, Protocol

import msgspec

from tidings.contracts.ids import RecipientId
from tidings.kernel.db import Database, Row, TenantTx
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.recipients.model import LIST_VARIABLES_PURPOSE
from tidings.notify.schedule.model import PLANNED_PURPOSE
from tidings.notify.subject_access import store
from tidings.notify.subject_access.sent_messages import AccessRequest

#: Rows that are held at once.
_PAGE: Final = 200
_read_object = msgspec.json.Decoder(dict[str, Any]).decode


class _List(Protocol):
    async def __call__(
        self, tx: TenantTx, recipient_id: RecipientId, *, after_id: str, limit: int
    ) -> list[Row]: ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlanReader:
    """Reads what is to come. Every page has a transaction of its own, as that of messages has."""

    db: Database
    _: KW_ONLY
    keyring: Keyring

    async def planned(self, asked: AccessRequest) -> AsyncIterator[dict[str, Any]]:
        """What triggers have planned, the oldest first, each with what it would be filled with."""
        key = await self._key(asked)
        async for page in self._pages(asked, store.list_planned):
            for row in page:
                order = _opened(row["payload_ciphertext"], key, PLANNED_PURPOSE)
                yield {
                    "id": row["id"],
                    "due_at": row["run_after"],
                    "template": row["template_key"],
                    "channel": row["channel"],
                    "why": {
                        "trigger_id": row["trigger_id"],
                        "event_type": row["event_type"],
                        "event_id": row["source_event_id"],
                        "about": row["event_subject"],
                        "event_time": row["event_time"],
                    },
                    "reckoned_from": {
                        "anchor": row["anchor"],
                        "offset": row["anchor_offset"],
                        "local_time": row["local_time"],
                        "zone": row["zone"],
                    },
                    "variables": None if order is None else order.get("variables", {}),
                    "failed_at": row["failed_at"],
                    "last_error": row["last_error"],
                    "is_test": row["is_test"],
                    "planned_at": row["created_at"],
                }

    async def digests(self, asked: AccessRequest) -> AsyncIterator[dict[str, Any]]:
        """Their digests of the last thirty days and those that are being gathered, the oldest first."""
        async for page in self._pages(asked, store.list_digests):
            for row in page:
                yield {
                    **_but(row, "window_start flush_at"),
                    "opened_at": row["window_start"],
                    "due_at": row["flush_at"],
                }

    async def batches(self, asked: AccessRequest) -> AsyncIterator[dict[str, Any]]:
        """The batches that they are in, the oldest first, with what became of their message, and what a list says of them."""
        key = await self._key(asked)
        async for page in self._pages(asked, store.list_batches):
            for row in page:
                if row["has_line"] or row["is_named"]:
                    yield {
                        "batch_id": row["id"],
                        "batch_status": row["status"],
                        "template": row["template_key"],
                        "named_in_list": row["is_named"],
                        "variables": _opened(row["variables_ciphertext"], key, LIST_VARIABLES_PURPOSE),
                        **_but(row, "id status template_key has_line is_named variables_ciphertext"),
                    }

    async def _key(self, asked: AccessRequest) -> DataKey | None:
        async with self.db.tenant(asked.tenant_id, caller_role=asked.role) as tx:
            keys = await self.keyring.data_keys(tx, [asked.recipient_id], create=False)
        return keys.get(asked.recipient_id)

    async def _pages(self, asked: AccessRequest, read: _List) -> AsyncIterator[Sequence[Row]]:
        after = ""
        while True:
            async with self.db.tenant(asked.tenant_id, caller_role=asked.role) as tx:
                page = await read(tx, asked.recipient_id, after_id=after, limit=_PAGE)
            yield page
            if len(page) < _PAGE:
                return
            after = page[-1]["id"]


def _but(row: Row, left_out: str) -> dict[str, Any]:
    gone = left_out.split()
    return {name: value for name, value in row.items() if name not in gone}


def _opened(sealed: bytes | None, key: DataKey | None, purpose: str) -> dict[str, Any] | None:
    """What was sealed, a JSON object; None where there is nothing, or where nobody can read it any more."""
    if sealed is None or key is None:
        return None
    try:
        return _read_object(key.unseal(sealed, purpose))
    except (DestroyedKeyError, UnreadableError, msgspec.MsgspecError):
        return None
