"""What can go wrong with the feed of events.

RefusalError
├── GoneError
│   └── EventsExpiredError         what comes after the cursor is not kept any more
├── NotFoundError
│   └── UnknownReaderError         no reader of this tenant has this name
├── ConflictError
│   └── TooManyReadersError        a tenant has as many readers as it may
└── TooBusyError
    └── TooManyListenersError      as many wait for events as may
"""

from tidings.kernel.refusals import ConflictError, GoneError, NotFoundError, TooBusyError


class EventsExpiredError(GoneError):
    """Events are kept for 7 days, and some that come after this cursor are gone; begin again with `after=beginning` or `after=now`."""

    code = "events_expired"


class UnknownReaderError(NotFoundError):
    """There is no reader with this name; PUT it first."""

    code = "event_reader_not_found"


class TooManyReadersError(ConflictError):
    """There are as many readers as a tenant may have; delete one that is not used."""

    code = "too_many_event_readers"


class TooManyListenersError(TooBusyError):
    """As many connections wait for events as may at once; close some, or read without `wait`."""

    code = "too_many_listeners"
