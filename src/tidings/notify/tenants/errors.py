"""What can go wrong with tenants.

NotFoundError
└── UnknownTenantError     no tenant has this id
ConflictError
├── SlugTakenError         another tenant has this slug
└── TenantLeavingError     a tenant that is being deleted can't be changed
TidingsError
└── UnprojectableError     an event that can't be applied to what is known
"""

from tidings.kernel.errors import TidingsError
from tidings.kernel.refusals import ConflictError, FieldError, NotFoundError


class UnknownTenantError(NotFoundError):
    """No tenant has this id."""

    code = "tenant_not_found"


class SlugTakenError(ConflictError):
    """Another tenant has this slug."""

    code = "slug_taken"
    errors = (FieldError("slug", "is taken by another tenant; choose another"),)


class TenantLeavingError(ConflictError):
    """The tenant is being deleted and can't be changed any more."""

    code = "tenant_leaving"


class UnprojectableError(TidingsError):
    """A tenant event does not fit what is known of the tenant."""

    code = "unprojectable"
