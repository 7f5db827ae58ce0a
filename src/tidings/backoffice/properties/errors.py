"""What can go wrong with properties.

NotFoundError
└── PropertyNotFoundError     there is none, or the operator has no right to it
"""

from tidings.kernel.refusals import NotFoundError


class PropertyNotFoundError(NotFoundError):
    """There is no such property, or you have no right to it; GET /bff/v1/properties lists yours."""

    code = "property_not_found"
