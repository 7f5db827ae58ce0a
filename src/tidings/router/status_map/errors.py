"""What can go wrong with the status map.

NotFoundError
├── UnknownLineError         no line says what this code means
└── UnknownLineVersionError  the line never had, or no longer keeps, this version
ConflictError
├── SeededLineError          the adapter itself says what the code means: it can be changed and not removed
└── FullMapError             the tenant has as many lines as it may
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownLineError(NotFoundError):
    """Nobody has said what this code means."""

    code = "status_line_not_found"


class UnknownLineVersionError(NotFoundError):
    """The line has no such earlier version."""

    code = "status_version_not_found"


class SeededLineError(ConflictError):
    """The adapter itself says what this code means; give it another meaning instead."""

    code = "status_line_seeded"


class FullMapError(ConflictError):
    """There are as many lines of your own as there may be; remove some that are not needed."""

    code = "status_map_full"
