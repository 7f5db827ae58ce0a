"""The wake-ups of the jobs behind conversations; one set per process."""

from dataclasses import dataclass, field
from typing import Final

from tidings.kernel.durable.wakeup import Wakeup

#: Where processes that only take in notify those that go on with it.
CHANNEL: Final = "tidings_conversations"
PAYLOAD: Final = "queued"


@dataclass(frozen=True, slots=True)
class ConversationWakeups:
    """What each of the jobs sleeps on."""

    #: Inbound messages were kept; the database's notifications may set it too.
    inbound: Wakeup = field(default_factory=Wakeup)
    #: Confirmations are to be sent.
    replies: Wakeup = field(default_factory=Wakeup)
    #: Webhooks are to be called.
    deliveries: Wakeup = field(default_factory=Wakeup)
