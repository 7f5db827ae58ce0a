"""What happens to notifications, as events; ids and facts, never an address, a name or a text."""

from typing import Literal

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
    #: The digest that took its place, where it is superseded.
    digest_notification_id: str | None = None


class NotificationEngaged(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody read a message, opened it or followed a link in it: told once for each, however often it happens."""

    notification_id: str
    #: Who was written to.
    recipient_id: str
    #: The channel that carried it.
    channel: str
    category: str
    template_key: str
    #: When it happened, as far as that is known.
    at: Moment
    #: Who says so: the vendor, our own pixel and links, or the in-app inbox.
    source: Literal["vendor", "tracking", "inbox"]
    #: The attempt in the router, where the vendor says so.
    attempt_id: str | None = None
    correlation_id: str | None = None
    is_test: bool = False


#: What a reader can do with a message; no status, only its first time is kept.
ENGAGEMENTS = ("read", "opened", "clicked")

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
} | {f"notification.{done}.v1": NotificationEngaged for done in ENGAGEMENTS}
