"""Every event that crosses a border, by its subject, with the form of its payload.

`vN` grows only by addition: a new field has a default. What would break a reader is `vN+1`.
"""

from collections.abc import Mapping
from typing import Any, Final

from tidings.contracts.api_keys import API_KEY_EVENTS
from tidings.contracts.channels import CHANNEL_EVENTS
from tidings.contracts.conversations import CONVERSATION_EVENTS
from tidings.contracts.delivery import DELIVERY_EVENTS
from tidings.contracts.erasure import ERASURE_EVENTS
from tidings.contracts.notifications import NOTIFICATION_EVENTS
from tidings.contracts.receipts import RECEIPT_EVENTS
from tidings.contracts.recipients import RECIPIENT_EVENTS
from tidings.contracts.suppressions import SUPPRESSION_EVENTS
from tidings.contracts.templates import TEMPLATE_EVENTS
from tidings.contracts.tenants import TENANT_EVENTS

#: Subject → payload type.
EVENTS: Final[Mapping[str, type[Any]]] = {
    **TENANT_EVENTS,
    **API_KEY_EVENTS,
    **RECIPIENT_EVENTS,
    **ERASURE_EVENTS,
    **SUPPRESSION_EVENTS,
    **NOTIFICATION_EVENTS,
    **DELIVERY_EVENTS,
    **RECEIPT_EVENTS,
    **TEMPLATE_EVENTS,
    **CHANNEL_EVENTS,
    **CONVERSATION_EVENTS,
}

#: Where notify's own events come from.
NOTIFY_SOURCE: Final = "/tidings/notify"
#: Where the router's come from.
ROUTER_SOURCE: Final = "/tidings/router"
