"""A category and its policy."""

from dataclasses import dataclass

from tidings.contracts.words import Priority, UseCase


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryPolicy:
    """What messages of a category may do."""

    category: str
    default_use_case: UseCase
    retention_class: str
    default_priority: Priority
    #: A notification without `expires_at` is not sent after so many seconds.
    default_expiry_seconds: int
    #: Denied until the recipient has consented.
    needs_consent: bool
    #: Whether people can say no to it at all.
    can_unsubscribe: bool
    breaks_quiet_hours: bool
    may_digest: bool
    tracking_allowed: bool
    version: int
