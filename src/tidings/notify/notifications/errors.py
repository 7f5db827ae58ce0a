"""What can go wrong with notifications.

RefusalError
├── NotFoundError
│   └── UnknownNotificationError    no notification of this tenant has this id
├── NotAllowedError
│   └── BodyWithheldError           its words are for the recipient alone
└── ConflictError
    ├── TooLateToCancelError        it was handed over, or is over
    ├── NotWaitingError             it waits for no time, so it can't be released
    ├── StillUnderWayError          it is not over, so it can't be sent again
    └── BodyGoneError               its words can't be put together any more
"""

from tidings.kernel.refusals import ConflictError, NotAllowedError, NotFoundError


class UnknownNotificationError(NotFoundError):
    """There is no notification with this id here."""

    code = "notification_not_found"


class BodyWithheldError(NotAllowedError):
    """Its words hold a link that makes the reader an operator: they are shown to nobody but the recipient."""

    code = "body_withheld"


class TooLateToCancelError(ConflictError):
    """It can't be cancelled any more: it was handed over to be sent, or it is over."""

    code = "too_late_to_cancel"


class NotWaitingError(ConflictError):
    """It can't be released: it does not wait for quiet hours, a limit or its time; it is under way or over."""

    code = "not_waiting"


class StillUnderWayError(ConflictError):
    """It is still on its way, and sending it again would send it twice; wait for its end, or cancel it first."""

    code = "still_under_way"


class BodyGoneError(ConflictError):
    """The body can't be rendered any more: a text, a file or a key that it needs is gone."""

    code = "body_gone"
