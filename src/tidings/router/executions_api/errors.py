"""What can go wrong with reading executions.

NotFoundError
├── UnknownExecutionError   no execution of this tenant has this id
└── AnswerGoneError         what the vendor answered is not kept, or no longer
"""

from tidings.kernel.refusals import NotFoundError


class UnknownExecutionError(NotFoundError):
    """There is no execution with this id here."""

    code = "execution_not_found"


class AnswerGoneError(NotFoundError):
    """What the vendor answered is not kept: there was none, its 30 days are over, or the person was erased."""

    code = "answer_gone"
