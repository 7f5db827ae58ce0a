"""Why an identity provider let nobody in, for the log; people are told to try again.

TidingsError
└── OidcFailedError   `reason` is a word of ours, never of theirs
"""

from typing import Literal

from tidings.kernel.errors import TidingsError

#: `away`: no answer, or none that can be read; `refused`: it says no; `state`: the browser did not begin here, or too long ago;
#: `token`: its token is not as it must be; `mail`: it names no mail, or one that it has not verified.
OidcReason = Literal["away", "refused", "state", "token", "mail"]


class OidcFailedError(TidingsError):
    """Nobody is let in by it."""

    def __init__(self, reason: OidcReason) -> None:
        super().__init__(f"the identity provider lets nobody in: {reason}")
        self.reason = reason
