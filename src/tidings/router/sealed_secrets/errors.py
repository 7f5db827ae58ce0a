"""What can go wrong with entered secrets.

NotFoundError
└── UnknownSecretError    the owner has none of this name
ConflictError
└── SecretInUseError      accounts read it
"""

from collections.abc import Sequence

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownSecretError(NotFoundError):
    """There is no secret of this name here."""

    code = "secret_unknown"


class SecretInUseError(ConflictError):
    """Accounts read this secret; let them read another one first."""

    code = "secret_in_use"

    def __init__(self, accounts: Sequence[str]) -> None:
        super().__init__(f"{', '.join(accounts)} reads this secret; let it read another one first")
