"""Tells a person what they wrote, and what was written to them: all of it, in the clear."""

from typing import Final

from tidings.contracts.conversations import ToldConversation, ToldLine
from tidings.kernel.db import TenantTx
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.mapping import by_name
from tidings.router.conversations import store
from tidings.router.conversations.model import Conversation, TranscriptLine
from tidings.router.conversations.store import ConversationFilter
from tidings.router.conversations.transcript import keys_of, opened_address, words_of

_PAGE: Final = 500


class StoredConversations:
    """The contract's `ConversationTeller`."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    async def tell(self, tx: TenantTx, recipient_id: str) -> list[ToldConversation]:
        """All of it, the oldest first."""
        found: list[Conversation] = []
        while True:
            some = await store.list_conversations(
                tx,
                chosen=ConversationFilter(recipient_id=recipient_id),
                after_id=found[-1].id if found else None,
                limit=_PAGE,
            )
            found += some
            if len(some) < _PAGE:
                break
        keys = await keys_of(tx, self._keyring, (one.key_subject for one in found))
        return [
            by_name(
                ToldConversation,
                one,
                conversation_id=one.id,
                address=opened_address(one, keys),
                messages=await self._lines(tx, one),
            )
            for one in reversed(found)
        ]

    async def _lines(self, tx: TenantTx, conversation: Conversation) -> list[ToldLine]:
        lines: list[TranscriptLine] = []
        while True:
            after = (lines[-1].at, lines[-1].id) if lines else None
            some = await store.list_lines(tx, conversation.id, after=after, limit=_PAGE)
            lines += some
            if len(some) < _PAGE:
                break
        words = await words_of(tx, self._keyring, lines)
        return [
            by_name(ToldLine, line, text=words[line.id].text if line.id in words else None) for line in lines
        ]
