"""The use case "answer them": a notification within the conversation, over its channel, through all gates.

It goes to the address that the conversation is with, from what the person wrote to, whatever has changed since.
"""

import hashlib
from dataclasses import KW_ONLY, dataclass

from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.correspondence import (
    ConversationReply,
    Correspondent,
    Correspondents,
    Replier,
    ReplyKey,
    ReplyResult,
)
from tidings.contracts.ids import RecipientAddressId, RecipientId
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.db import CallerRole, Database, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.router.accounts.accounts import Accounts
from tidings.router.conversations import store
from tidings.router.conversations.errors import (
    AddressGoneError,
    ConversationClosedError,
    NobodyToAnswerError,
    UnknownConversationError,
)
from tidings.router.conversations.model import Conversation, ConversationId
from tidings.router.conversations.transcript import keys_of, opened_address


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Answerer:
    """Answers people."""

    # `audit` is of the schema `chan`.
    db: Database
    _: KW_ONLY
    replier: Replier
    correspondents: Correspondents
    accounts: Accounts
    keyring: Keyring
    audit: AuditLog

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
    ) -> ReplyResult:
        """Order it; the same `key` orders it once. It stands in the transcript when a vendor has taken it.

        A caller that orders it again hears the same as before, also where it could not be ordered any more.
        """
        order = ReplyKey(conversation_id=conversation_id, idempotency_key=_order(conversation_id, key))
        before = await self.replier.replied(tenant_id, key=order, text=text)
        if before is not None:
            return before
        reply = await self._checked(
            tenant_id, order, conversation_id, text, actor=actor, role=role, is_test=is_test
        )
        return await self.replier.reply(tenant_id, reply)

    async def _checked(
        self,
        tenant_id: TenantId,
        order: ReplyKey,
        conversation_id: ConversationId,
        text: str,
        *,
        actor: str,
        role: CallerRole | None,
        is_test: bool,
    ) -> ConversationReply:
        """What is to be ordered, noted as such."""
        async with self.db.tenant(tenant_id, caller_role=role) as tx:
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
            address_id = await self._address(tx, conversation, recipient_id)
            over = await self._over(tx, conversation)
            entry = Entry(
                entity_type="conversation", entity_id=conversation_id, action="answered", actor=actor
            )
            await self.audit.append(tx, [entry])
        return ConversationReply(
            conversation_id=conversation_id,
            recipient_id=recipient_id,
            channel=conversation.channel,
            address_id=address_id,
            text=text,
            idempotency_key=order.idempotency_key,
            actor=actor,
            vendor=over,
            sender=conversation.sender_id if over is not None else None,
            is_test=is_test,
        )

    async def _recipient(self, tx: TenantTx, conversation: Conversation) -> RecipientId:
        """The recipient that it is with; one who was not known becomes so now, because we write to recipients alone."""
        if conversation.recipient_id is not None:
            return conversation.recipient_id
        keys = await keys_of(tx, self.keyring, [conversation.key_subject])
        address = opened_address(conversation, keys)
        if address is None:
            raise NobodyToAnswerError
        wrote = Correspondent(channel=conversation.channel, address=NormalisedAddress(address))
        recipient_id = (await self.correspondents.ensure(tx, [wrote]))[0]
        await store.set_recipient(tx, conversation.id, recipient_id)
        return recipient_id

    async def _address(
        self, tx: TenantTx, conversation: Conversation, recipient_id: RecipientId
    ) -> RecipientAddressId:
        """The one of theirs that the conversation is with; no other address is tried instead."""
        address_hash = await store.find_address_hash(tx, conversation.id)
        if address_hash is None:
            raise NobodyToAnswerError
        found = await self.correspondents.address_of(
            tx, recipient_id, channel=conversation.channel, address_hash=address_hash
        )
        if found is None:
            raise AddressGoneError
        return found

    async def _over(self, tx: TenantTx, conversation: Conversation) -> str | None:
        """The vendor over which they wrote, as long as the tenant's account there is the same: another does not have the number."""
        if conversation.vendor is None:
            return None
        account = (await self.accounts.within(tx)).get(conversation.vendor)
        return conversation.vendor if account is not None and account.id == conversation.account_id else None


def _order(conversation_id: str, key: str) -> str:
    """One key for notify, whatever the caller's looks like; another conversation's is another order."""
    return "reply-" + hashlib.sha256(f"{conversation_id}\n{key}".encode()).hexdigest()
