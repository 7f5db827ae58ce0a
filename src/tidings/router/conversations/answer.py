"""The use case "answer them": a notification within the conversation, over its channel, through all gates."""

import hashlib

from tidings.contracts.correspondence import Correspondents, Replied, Replier, Reply, Wrote
from tidings.kernel.addresses import NormalisedAddress
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.db import CallerRole, Database, TenantTx
from tidings.kernel.ids import RecipientId, TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.router.conversations import store
from tidings.router.conversations.errors import (
    ConversationClosedError,
    NobodyToAnswerError,
    UnknownConversationError,
)
from tidings.router.conversations.model import Conversation, ConversationId
from tidings.router.conversations.transcript import keys_of, opened_address


class Answerer:
    """Answers people."""

    def __init__(
        self,
        db: Database,
        *,
        replier: Replier,
        correspondents: Correspondents,
        keyring: Keyring,
        audit: AuditLog,
    ) -> None:
        """`audit` is of the schema `chan`."""
        self._db = db
        self._replier = replier
        self._correspondents = correspondents
        self._keyring = keyring
        self._audit = audit

    async def answer(
        self,
        tenant_id: TenantId,
        conversation_id: ConversationId,
        text: str,
        *,
        key: str,
        actor: str,
        role: CallerRole | None,
        is_test: bool,
    ) -> Replied:
        """Order it; the same `key` orders it once. It stands in the transcript when a vendor has taken it."""
        async with self._db.tenant(tenant_id, caller_role=role) as tx:
            conversation = await store.lock_conversation(tx, conversation_id)
            if conversation is None:
                raise UnknownConversationError(f"there is no conversation with the id {conversation_id}")
            if conversation.status == "CLOSED_STOP":
                raise ConversationClosedError(
                    "they have stopped it: nothing is written to them here until they write START"
                )
            if conversation.status != "OPEN":
                raise ConversationClosedError
            recipient_id = await self._recipient(tx, conversation)
            entry = Entry(
                entity_type="conversation", entity_id=conversation_id, action="answered", actor=actor
            )
            await self._audit.append(tx, [entry])
        return await self._replier.reply(
            tenant_id,
            Reply(
                conversation_id=conversation_id,
                recipient_id=recipient_id,
                channel=conversation.channel,
                text=text,
                idempotency_key=_order(conversation_id, key),
                actor=actor,
                is_test=is_test,
            ),
        )

    async def _recipient(self, tx: TenantTx, conversation: Conversation) -> RecipientId:
        """Whoever it is with; somebody who was not known becomes so now, because we write to recipients alone."""
        if conversation.recipient_id is not None:
            return conversation.recipient_id
        keys = await keys_of(tx, self._keyring, [conversation.key_subject])
        address = opened_address(conversation, keys)
        if address is None:
            raise NobodyToAnswerError
        wrote = Wrote(channel=conversation.channel, address=NormalisedAddress(address))
        recipient_id = (await self._correspondents.ensure(tx, [wrote]))[0]
        await store.set_recipient(tx, conversation.id, recipient_id)
        return recipient_id


def _order(conversation_id: str, key: str) -> str:
    """One key for notify, whatever the caller's looks like; another conversation's is another order."""
    return "reply-" + hashlib.sha256(f"{conversation_id}\n{key}".encode()).hexdigest()
