"""What can go wrong with alerts.

NotFoundError
└── UnknownAlertError   there is no alert with this id that the caller may see
ConflictError
└── AlertResolvedError  it is over
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownAlertError(NotFoundError):
    """There is no alert with this id here."""

    code = "alert_not_found"


class AlertResolvedError(ConflictError):
    """The alert is resolved; if its cause is back, there is a newer one."""

    code = "alert_resolved"
