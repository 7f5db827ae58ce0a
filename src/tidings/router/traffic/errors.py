"""What can go wrong with circuits and weights; accounts have their own.

NotFoundError
└── NoWeightsError     the vendors of this channel have no weights
ConflictError
└── ContestedError     others keep changing it
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class NoWeightsError(NotFoundError):
    """The vendors of this channel have no weights; they are called in their order."""

    code = "weights_not_found"


class ContestedError(ConflictError):
    """It is being changed by others at this moment; look at it and try again."""

    code = "contested"
