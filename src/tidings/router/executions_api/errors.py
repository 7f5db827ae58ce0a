"""What can go wrong with reading executions.

NotFoundError
└── UnknownExecutionError   no execution of this tenant has this id
"""

from tidings.kernel.refusals import NotFoundError


class UnknownExecutionError(NotFoundError):
    """There is no execution with this id here."""

    code = "execution_not_found"
