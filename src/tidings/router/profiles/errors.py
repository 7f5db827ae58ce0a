"""What can go wrong with profiles.

NotFoundError
└── UnknownProfileError   no such recipient is known here, or they were erased
"""

from tidings.kernel.refusals import NotFoundError


class UnknownProfileError(NotFoundError):
    """There is no recipient with this id here, or they were erased; nothing is kept about reaching them."""

    code = "profile_not_found"
