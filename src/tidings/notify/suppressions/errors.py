"""What can go wrong with suppressions.

NotFoundError
└── UnknownSuppressionError   no suppression of this tenant has this id
ConflictError
└── AlreadyReleasedError      it was released before
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownSuppressionError(NotFoundError):
    """There is no suppression with this id here."""

    code = "suppression_not_found"


class AlreadyReleasedError(ConflictError):
    """The suppression was released before; it no longer holds anything back."""

    code = "suppression_released"
