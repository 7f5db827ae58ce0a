"""What can go wrong with streams of devices.

RefusalError
└── TooBusyError
    └── TooManyDeviceStreamsError    as many are open as may: of the tenant, or in this process
"""

from typing import ClassVar, Final

from tidings.kernel.refusals import TooBusyError

_WHERE: Final = {"tenant": "of this tenant", "process": "in this process"}


class TooManyDeviceStreamsError(TooBusyError):
    """As many streams of devices are open as may; ask for what you need from time to time, and try again later."""

    code = "too_many_device_streams"
    #: Seconds; streams live long.
    retry_after: ClassVar[float] = 30.0

    def __init__(self, limit: str, most: int) -> None:
        super().__init__(f"{most} streams {_WHERE[limit]} are open, as many as may; try again later")
        #: Which limit it was: `tenant` or `process`.
        self.limit = limit
