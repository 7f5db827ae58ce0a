"""The use case "a message went out that can be answered": begin its conversation, or go on with it.

In the transaction that records the attempt: two statements for a set, however many messages it has.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime

from tidings.contracts.conversations import ConversationOpened
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import DatabaseError, TidingsError
from tidings.kernel.logs import get_logger
from tidings.kernel.mapping import by_name
from tidings.kernel.outbox import Outbox
from tidings.router.conversations import store
from tidings.router.conversations.destinations import canonical
from tidings.router.conversations.events import Announcer
from tidings.router.conversations.hashes import AddressHashes
from tidings.router.conversations.model import CONVERSATION, OUTBOUND_LINE
from tidings.router.conversations.store import AnswerableMessage, ConversationSides
from tidings.router.executions.sent_message import SentMessage

_log = get_logger("conversations")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SentNotes:
    """Notes what was sent."""

    hashes: AddressHashes
    _: KW_ONLY
    #: Of the schema `chan`.
    outbox: Outbox
    clock: Clock

    async def get_ready(self) -> None:
        """Before the first transaction: learn what can't be learned inside one."""
        await self.hashes.platform_pepper()

    async def note_sent(self, tx: TenantTx, turns: Sequence[SentMessage], now: datetime) -> None:
        """Open or prolong their conversations, with a line each in the transcript."""
        if not turns:
            return
        try:
            hashed = await self.hashes.of(tx, [turn.to for turn in turns])
        except DatabaseError:
            raise
        except TidingsError as error:
            # The key store is away. What became of the messages is worth more than who may answer them.
            _log.warning("conversations_not_noted", count=len(turns), error=error.code)
            return
        # To the millisecond, as their ids have it: a page of the transcript begins after an id.
        ats = [turn.at.replace(microsecond=turn.at.microsecond // 1000 * 1000) for turn in turns]
        wanted = [
            by_name(
                AnswerableMessage,
                turn,
                id=CONVERSATION.new(at),
                line_id=OUTBOUND_LINE.new(at),
                between=ConversationSides(
                    channel=turn.channel, sender_id=canonical(turn.channel, turn.sender_id), hashed=one
                ),
                at=at,
            )
            for turn, one, at in zip(turns, hashed, ats, strict=True)
        ]
        fresh = await store.note_sent(tx, wanted, now=now)
        if not fresh:
            return
        announcer = Announcer(tx.tenant_id, self.clock)
        await self.outbox.append(
            tx,
            [
                announcer.opened(
                    by_name(
                        ConversationOpened,
                        turn,
                        conversation_id=turn.id,
                        channel=turn.between.channel,
                        opened_by="tenant",
                        opened_at=turn.at,
                    )
                )
                for turn in wanted
                if turn.id in fresh
            ],
        )
