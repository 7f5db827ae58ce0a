"""What can go wrong with entries of the schedule.

RefusalError
├── NotFoundError
│   └── UnknownScheduledWorkError    there is no entry with this id
└── ConflictError
    ├── WorkIsOverError              it is processed or obsolete: there is nothing to cancel
    └── WorkNotFailedError           it has not failed: there is nothing to try again
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownScheduledWorkError(NotFoundError):
    """There is no entry of the schedule with this id; what is over is kept for 30 days."""

    code = "scheduled_not_found"


class WorkIsOverError(ConflictError):
    """It is over already: there is nothing to cancel."""

    code = "scheduled_is_over"


class WorkNotFailedError(ConflictError):
    """It has not failed: there is nothing to try again."""

    code = "scheduled_not_failed"
