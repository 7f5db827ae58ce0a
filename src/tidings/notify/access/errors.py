"""What can go wrong with API keys.

NotFoundError
└── UnknownKeyError        no key of this tenant has this id
ConflictError
├── AlreadyRotatedError    it has a successor already
└── KeyEndedError          it is revoked or expired and can't be rotated
NotAllowedError
└── EscalationError        a caller would give more than it has
"""

from tidings.kernel.refusals import ConflictError, FieldError, NotAllowedError, NotFoundError


class UnknownKeyError(NotFoundError):
    """There is no API key with this id here."""

    code = "key_not_found"


class AlreadyRotatedError(ConflictError):
    """The key was rotated before; rotate its successor."""

    code = "key_already_rotated"


class KeyEndedError(ConflictError):
    """The key is revoked or expired; create a new one."""

    code = "key_ended"


class EscalationError(NotAllowedError):
    """A caller can't give what it does not have itself."""

    code = "escalation"

    def __init__(self, field: str, remedy: str) -> None:
        super().__init__(f"{field} {remedy}")
        self.errors = (FieldError(field, remedy),)
