"""What can go wrong with a second factor.

NotAllowedError
├── CodeRefusedError          the code is wrong, or was used
├── NoSecondFactorError       the operator has no authenticator
└── OperatorLockedError       too many failures
"""

from tidings.kernel.refusals import NotAllowedError


class CodeRefusedError(NotAllowedError):
    """The code is not right, or was used before; wait for the next one of your authenticator, or use a recovery code."""

    code = "code_refused"


class NoSecondFactorError(NotAllowedError):
    """You have no authenticator; have an admin reset your sign-in, and set one up by the link."""

    code = "second_factor_missing"


class OperatorLockedError(NotAllowedError):
    """Too many wrong codes or passwords: you are locked for half an hour, or until an admin unlocks you."""

    code = "operator_locked"
