"""What happens to notifications, as events; ids and facts, never an address, a name or a text."""

from msgspec import Struct

from tidings.contracts.moments import Moment


class NotificationMoved(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A notification came to a new status; the subject says which."""

    notification_id: str
    recipient_id: str
    status: str
    channel: str
    category: str
    template_key: str
    #: The code of the reason, where there is one.
    reason: str | None = None
    #: When it goes on, where it waits.
    until: Moment | None = None
    correlation_id: str | None = None
    is_test: bool = False


NOTIFICATION_EVENTS: dict[str, type[Struct]] = {
    f"notification.{status}.v1": NotificationMoved
    for status in (
        "queued",
        "scheduled",
        "dispatched",
        "delivered",
        "failed",
        "bounced",
        "suppressed",
        "superseded",
        "cancelled",
        "expired",
    )
}
