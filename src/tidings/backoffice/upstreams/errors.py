"""What can go wrong with upstream services.

UnavailableError
└── UpstreamAwayError              there is no usable answer from it now
    └── UpstreamNotConnectedError     no address of it is set
"""

from datetime import datetime
from typing import Literal

from tidings.backoffice.upstreams.names import UpstreamName
from tidings.kernel.refusals import UnavailableError

#: `connection`: nobody was asked. `timeout`, `broken_off`, `error`: it was asked, and may have done what was wanted.
#: `schema`: its answer is not what the contract says. `refused`: it does not take our credentials, or the request.
#: `circuit_open`, `busy`: it was not asked, to spare it and us.
AwayReason = Literal[
    "not_connected",
    "connection",
    "timeout",
    "broken_off",
    "error",
    "schema",
    "refused",
    "circuit_open",
    "busy",
]

#: After these the service has certainly not done what was wanted.
NOT_ASKED: frozenset[AwayReason] = frozenset({"not_connected", "connection", "circuit_open", "busy"})


class UpstreamAwayError(UnavailableError):
    """An upstream service gives no usable answer right now; try again in a moment."""

    code = "upstream_away"

    def __init__(
        self, upstream: UpstreamName, reason: AwayReason, *, since: datetime | None = None, says: str = ""
    ) -> None:
        super().__init__(
            says or f"the upstream service {upstream} gives no usable answer right now ({reason}); try again"
        )
        self.upstream: UpstreamName = upstream
        self.reason: AwayReason = reason
        #: Since when it has not answered, as far as this process knows.
        self.since = since
        self.extensions = {"upstream": upstream, "reason": reason}

    @property
    def was_asked(self) -> bool:
        """Whether it may have done what was wanted."""
        return self.reason not in NOT_ASKED


class UpstreamNotConnectedError(UpstreamAwayError):
    """No address of this upstream service is set."""

    code = "upstream_not_connected"

    def __init__(self, upstream: UpstreamName) -> None:
        super().__init__(
            upstream,
            "not_connected",
            says=f"the upstream service {upstream} is not connected; its operator sets "
            f"TIDINGS_UPSTREAM_{upstream.upper()}_URL, or TIDINGS_UPSTREAM_URL for all of them",
        )
