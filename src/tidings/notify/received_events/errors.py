"""What can go wrong with received events.

TidingsError
├── SetTooLargeError                    too much for one transaction: it is taken in smaller sets
└── RefusalError
    └── NotFoundError
        └── UnknownReceivedEventError   no such event came, or it is no longer kept
"""

from tidings.kernel.errors import TidingsError
from tidings.kernel.refusals import NotFoundError


class SetTooLargeError(TidingsError):
    """These events say too much, or lead to too much, to be dealt with at once; they are taken in smaller sets."""

    code = "set_too_large"


class UnknownReceivedEventError(NotFoundError):
    """No such event came here, or it came more than fifteen days ago."""

    code = "event_not_found"

    def __init__(self, event_id: str) -> None:
        super().__init__(
            f"no event {event_id} came here in the last fifteen days; its sender can send it again"
        )
