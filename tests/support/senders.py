"""Senders for tenants of tests that are about something else: whatever a channel says."""

from msgspec import structs

from tidings.contracts.senders import ANY_SENDER
from tidings.contracts.tenants import NotificationPolicy


def any_sender(policy: NotificationPolicy | None = None) -> NotificationPolicy:
    """The same, with every sender granted where a list is empty."""
    policy = policy or NotificationPolicy()
    return structs.replace(
        policy,
        allowed_sender_domains=policy.allowed_sender_domains or (ANY_SENDER,),
        allowed_sender_ids=policy.allowed_sender_ids or (ANY_SENDER,),
    )
