"""What can go wrong with event subscriptions.

RefusalError
├── NotFoundError
│   └── UnknownEventSubscriptionError   there is none with this id
└── ConflictError
    ├── SubscriptionNameTakenError      another one has this name
    ├── TooManySubscriptionsError       there are as many as there may be
    ├── NoBrokerError                   the bus of this installation is in Postgres
    └── SubjectNotReadableError         the broker does not let the subject be read as it is
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownEventSubscriptionError(NotFoundError):
    """There is no event subscription with this id; `tidings event-subscription list` shows those that there are."""

    code = "event_subscription_not_found"


class SubscriptionNameTakenError(ConflictError):
    """There is an event subscription with this name already; choose another one."""

    code = "event_subscription_taken"


class TooManySubscriptionsError(ConflictError):
    """There are as many event subscriptions as there may be; delete one, or let one subject cover several with * and >."""

    code = "too_many_event_subscriptions"


class NoBrokerError(ConflictError):
    """Events are read from NATS, and the bus of this installation is in Postgres: set TIDINGS_BUS_URL=nats://host:4222 for all processes."""

    code = "no_broker"


class SubjectNotReadableError(ConflictError):
    """The broker does not let this subject be read as it is."""

    code = "subject_not_readable"
