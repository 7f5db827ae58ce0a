"""What can go wrong with erasures.

NotFoundError
└── NotErasedError   the recipient was never erased, so there is no receipt
"""

from tidings.kernel.refusals import NotFoundError


class NotErasedError(NotFoundError):
    """The recipient was not erased; there is no receipt."""

    code = "not_erased"
