"""What can go wrong with preferences.

NotFoundError
└── UnknownPreferencesError   the service knows no such operator
NotAllowedError
└── OperatorOfTenantError     operators of the platform have none
"""

from tidings.kernel.refusals import NotAllowedError, NotFoundError


class UnknownPreferencesError(NotFoundError):
    """The service that keeps preferences does not know this operator, or the property."""

    code = "preferences_not_found"


class OperatorOfTenantError(NotAllowedError):
    """Preferences are kept by the services of a tenant: sign in as an operator of one."""

    code = "operator_of_tenant"
