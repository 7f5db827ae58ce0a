"""What can go wrong with conversations.

NotFoundError
├── UnknownConversationError     no conversation of this tenant has this id
└── UnknownInboundMessageError   no message that waits or is dead has this id
ConflictError
├── ConversationClosedError      it is over: nothing more is said in it
├── NobodyToAnswerError          the writer can't be written to
└── AddressGoneError             the person does not have the address any more
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownConversationError(NotFoundError):
    """There is no conversation with this id here."""

    code = "conversation_not_found"


class UnknownInboundMessageError(NotFoundError):
    """No message with this id waits or is dead; one that stands in a conversation is its tenant's."""

    code = "inbound_message_not_found"


class ConversationClosedError(ConflictError):
    """The conversation is closed; send a notification to begin another one."""

    code = "conversation_closed"


class NobodyToAnswerError(ConflictError):
    """The person who wrote can't be written to: it is no address, or the person was erased."""

    code = "nobody_to_answer"


class AddressGoneError(ConflictError):
    """This conversation's address is not the recipient's any more; add it to them again, or send a notification."""

    code = "conversation_address_gone"
