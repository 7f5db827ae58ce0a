"""The use case "what do you know about me": all files of the archive, each written while it is read."""

from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final

import msgspec

from tidings.contracts.conversations import ConversationTeller, ToldConversation
from tidings.contracts.profiles import LearnedProfile, ProfileTeller
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.blobs.keys import escape_file_name
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.recipients import consent_store, preference_store
from tidings.notify.recipients.change import LoadedRecipient, load_whole
from tidings.notify.recipients.errors import ErasedRecipientError
from tidings.notify.recipients.preferences_model import Preferences, nothing_chosen
from tidings.notify.recipients.wire import RecipientView
from tidings.notify.refusals import store as refusal_store
from tidings.notify.refusals.model import Refusal
from tidings.notify.subject_access import store
from tidings.notify.subject_access.inbox_items import InboxExporter
from tidings.notify.subject_access.plans import PlanReader
from tidings.notify.subject_access.readme import README
from tidings.notify.subject_access.sent_messages import AccessRequest, SentReader
from tidings.notify.subject_access.zip_stream import PackedFile, zipped

_PAGE: Final = 200
#: The streams of the audit that tell of a person.
_AUDITED: Final = ("recipient", "preferences")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectRecords:
    """What is held about a recipient and is never much: read at once, before anything is answered."""

    asked: AccessRequest
    whole: LoadedRecipient = field(repr=False)
    preferences: Preferences
    suppressions: list[dict[str, Any]]
    #: What was refused from their addresses.
    refusals: list[Refusal]
    #: What the router has learned about reaching them.
    learned: LearnedProfile | None = field(repr=False)
    #: What they wrote, and what was answered by itself.
    conversations: list[ToldConversation] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SubjectExporter:
    """Makes archives."""

    db: Database
    _: KW_ONLY
    keyring: Keyring
    sent: SentReader
    plans: PlanReader
    inbox: InboxExporter
    audit: AuditLog
    clock: Clock
    router: ProfileTeller
    conversations: ConversationTeller

    async def open(self, asked: AccessRequest, *, actor: str) -> SubjectRecords:
        """Who it is about, and a line in the audit; an `ErasedRecipientError` where nothing can be read any more."""
        async with self.db.tenant(asked.tenant_id, caller_role=asked.role) as tx:
            whole = await load_whole(tx, asked.recipient_id, self.keyring)
            if whole.recipient.erased_at is not None:
                raise ErasedRecipientError
            chosen = await preference_store.load_preferences(tx, recipient_ids=[asked.recipient_id])
            held = await store.find_suppressions(tx, [address.address_hash for address in whole.addresses])
            refused = await refusal_store.find_of_addresses(
                tx, [address.address_hash for address in whole.addresses]
            )
            learned = await self.router.tell(tx, asked.recipient_id)
            conversations = await self.conversations.tell(tx, asked.recipient_id)
            entry = Entry("recipient", asked.recipient_id, "exported", actor)
            await self.audit.append(tx, [entry])
        return SubjectRecords(
            asked=asked,
            whole=whole,
            preferences=chosen.get(asked.recipient_id) or nothing_chosen(asked.recipient_id),
            suppressions=held,
            refusals=refused,
            learned=learned,
            conversations=conversations,
        )

    def archive(self, known: SubjectRecords) -> AsyncIterator[bytes]:
        """The zip, in pieces."""
        return zipped(self._files(known), now=self.clock.now())

    async def _files(self, known: SubjectRecords) -> AsyncIterator[PackedFile]:
        asked = known.asked
        yield PackedFile(name="README.txt", pieces=_whole(README.encode()))
        yield _json("profile.json", RecipientView.of(known.whole, reveal=True))
        yield _json("preferences.json", known.preferences)
        yield _json("suppressions.json", known.suppressions)
        if known.refusals:
            yield _json("refusals.json", known.refusals)
        if known.learned is not None:
            yield _json("reaching.json", known.learned)
        if known.conversations:
            yield _json("conversations.json", known.conversations)
        yield PackedFile(name="consents.jsonl", pieces=_lines(self._consents(asked)))
        yield PackedFile(name="notifications.jsonl", pieces=_lines(self.sent.notifications(asked)))
        yield PackedFile(name="planned.jsonl", pieces=_lines(self.plans.planned(asked)))
        yield PackedFile(name="digests.jsonl", pieces=_lines(self.plans.digests(asked)))
        yield PackedFile(name="batches.jsonl", pieces=_lines(self.plans.batches(asked)))
        yield PackedFile(name="inbox.jsonl", pieces=_lines(self.inbox.items(asked)))
        async for file in self.sent.files(asked):
            name = escape_file_name(file.attachment.filename)
            yield PackedFile(
                name=f"attachments/{file.notification_id}/{file.place}-{name}",
                pieces=_whole(file.attachment.content),
            )
        yield PackedFile(name="audit.jsonl", pieces=_lines(self._audited(asked)))

    async def _consents(self, asked: AccessRequest) -> AsyncIterator[Any]:
        after: str | None = None
        while True:
            async with self.db.tenant(asked.tenant_id, caller_role=asked.role) as tx:
                found = await consent_store.list_events(tx, asked.recipient_id, after_id=after, limit=_PAGE)
            for event in found:
                yield event
            if len(found) < _PAGE:
                return
            after = found[-1].id

    async def _audited(self, asked: AccessRequest) -> AsyncIterator[Any]:
        for stream in _AUDITED:
            before = None
            while True:
                async with self.db.tenant(asked.tenant_id, caller_role=asked.role) as tx:
                    found = await self.audit.read_recent(
                        tx, entity_type=stream, entity_id=asked.recipient_id, before=before, limit=_PAGE
                    )
                for row in found:
                    yield {
                        "id": row.id,
                        "at": row.occurred_at,
                        "about": row.entity_type,
                        "action": row.action,
                        "actor": row.actor,
                    }
                if len(found) < _PAGE:
                    break
                before = found[-1].id
        async for look in self.sent.looks(asked):
            yield look
        async for change in self._changed_by_hand(asked):
            yield change

    async def _changed_by_hand(self, asked: AccessRequest) -> AsyncIterator[Any]:
        before: str | None = None
        while True:
            async with self.db.tenant(asked.tenant_id, caller_role=asked.role) as tx:
                found = await self.router.audited(tx, asked.recipient_id, before=before, limit=_PAGE)
            for row in found:
                yield {
                    "id": row.id,
                    "at": row.at,
                    "about": "profile",
                    "action": row.action,
                    "actor": row.actor,
                }
            if len(found) < _PAGE:
                return
            before = found[-1].id


def _json(name: str, content: Any) -> PackedFile:
    text = msgspec.json.format(msgspec.json.encode(content), indent=2)
    return PackedFile(name=name, pieces=_whole(text + b"\n"))


async def _whole(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def _lines(items: AsyncIterable[Any]) -> AsyncIterator[bytes]:
    async for item in items:
        yield msgspec.json.encode(item) + b"\n"
