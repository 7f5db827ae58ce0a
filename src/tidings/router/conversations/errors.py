"""What can go wrong with conversations.

NotFoundError
└── UnknownConversationError     no conversation of this tenant has this id
ConflictError
├── ConversationClosedError      it is over: nothing more is said in it
└── NobodyToAnswerError          whoever wrote can't be written to
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownConversationError(NotFoundError):
    """There is no conversation with this id here."""

    code = "conversation_not_found"


class ConversationClosedError(ConflictError):
    """The conversation is closed; send a notification to begin another one."""

    code = "conversation_closed"


class NobodyToAnswerError(ConflictError):
    """Whoever wrote can't be written to: it is no address, or the person was erased."""

    code = "nobody_to_answer"
