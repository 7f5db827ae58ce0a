"""What can go wrong with live streams of inboxes.

RefusalError
└── TooBusyError
    └── TooManyStreamsError    as many are open as may: of this person, of the tenant, or in this process
"""

from typing import ClassVar, Final

from tidings.kernel.refusals import TooBusyError

_REMEDY: Final = {
    "person": "streams of this inbox are open here, as many as may; close one, or share one between tabs",
    "tenant": "inbox streams of this tenant are open here, as many as may; ask for the feed from time to time",
    "process": "inbox streams are open here, as many as may; ask for the feed from time to time, or try again",
}


class TooManyStreamsError(TooBusyError):
    """As many live streams are open as may; close one, share one between tabs, or ask for the feed from time to time."""

    code = "too_many_inbox_streams"
    #: Seconds; streams live long, and asking again at once is of no use.
    retry_after: ClassVar[float] = 30.0

    def __init__(self, limit: str, most: int) -> None:
        super().__init__(f"{most} {_REMEDY[limit]}")
        #: Which limit it was: `person`, `tenant` or `process`.
        self.limit = limit
