"""What the routes of conversations need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.dead_letters import DeadLetters
from tidings.kernel.keys.keyring import Keyring
from tidings.router.conversations.answer import Answerer
from tidings.router.conversations.close import Closer
from tidings.router.conversations.model import InboundMessageId
from tidings.router.conversations.wakeups import ConversationWakeups


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that conversations touch."""

    db: Database
    clock: Clock
    keyring: Keyring
    #: Of the schema `chan`.
    audit: AuditLog
    answerer: Answerer
    closer: Closer
    dead: DeadLetters[InboundMessageId]
    wakeups: ConversationWakeups
