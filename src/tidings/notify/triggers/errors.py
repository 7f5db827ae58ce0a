"""What can go wrong with triggers.

RefusalError
├── NotFoundError
│   ├── UnknownTriggerError        there is no trigger with this id
│   └── UnknownTriggerSetError     there is no set of triggers with this name
└── ConflictError
    └── PlatformTriggerError       it is the platform's: a tenant can switch it on or off, or make a copy of its own
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownTriggerError(NotFoundError):
    """There is no trigger with this id."""

    code = "trigger_not_found"


class UnknownTriggerSetError(NotFoundError):
    """There is no set of triggers with this name."""

    code = "trigger_set_not_found"


class PlatformTriggerError(ConflictError):
    """It is the platform's: enable or disable it, or make a copy of your own with customise."""

    code = "platform_trigger"
