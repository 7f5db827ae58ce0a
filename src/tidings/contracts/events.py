"""Every event that crosses a border, by its subject, with the form of its payload.

`vN` grows only by addition: a new field has a default. What would break a reader is `vN+1`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.contracts.api_keys import API_KEY_EVENTS
from tidings.contracts.backoffice import BACKOFFICE_EVENTS
from tidings.contracts.batches import BATCH_EVENTS
from tidings.contracts.channels import CHANNEL_EVENTS
from tidings.contracts.conversations import CONVERSATION_EVENTS
from tidings.contracts.delivery import DELIVERY_EVENTS
from tidings.contracts.erasure import ERASURE_EVENTS, USER_DELETED_SUBJECT
from tidings.contracts.event_versions import EVENT_VERSION_EVENTS, MIGRATION_COMPLETED_SUBJECT
from tidings.contracts.inbox import INBOX_EVENTS
from tidings.contracts.notifications import NOTIFICATION_EVENTS
from tidings.contracts.opt_outs import OPT_OUT_EVENTS
from tidings.contracts.receipts import RECEIPT_EVENTS
from tidings.contracts.received_events import RECEIVED_EVENTS
from tidings.contracts.recipients import RECIPIENT_EVENTS
from tidings.contracts.suppressions import SUPPRESSION_EVENTS
from tidings.contracts.templates import TEMPLATE_EVENTS
from tidings.contracts.tenants import TENANT_EVENTS
from tidings.contracts.webhooks import WEBHOOK_EVENTS

_DECLARED: Final[Sequence[Mapping[str, type[Any]]]] = (
    TENANT_EVENTS,
    API_KEY_EVENTS,
    RECIPIENT_EVENTS,
    ERASURE_EVENTS,
    SUPPRESSION_EVENTS,
    OPT_OUT_EVENTS,
    NOTIFICATION_EVENTS,
    INBOX_EVENTS,
    DELIVERY_EVENTS,
    RECEIPT_EVENTS,
    TEMPLATE_EVENTS,
    CHANNEL_EVENTS,
    CONVERSATION_EVENTS,
    RECEIVED_EVENTS,
    BATCH_EVENTS,
    EVENT_VERSION_EVENTS,
    WEBHOOK_EVENTS,
    BACKOFFICE_EVENTS,
)

#: Subject → payload type.
EVENTS: Final[Mapping[str, type[Any]]] = {
    subject: form for declared in _DECLARED for subject, form in declared.items()
}
if len(EVENTS) != sum(map(len, _DECLARED)):
    raise AssertionError("a subject has one form: it is declared twice")

#: Those that other systems may send over HTTP: consumers of ours hear them.
HEARD_EVENTS: Final = frozenset({*TENANT_EVENTS, USER_DELETED_SUBJECT, MIGRATION_COMPLETED_SUBJECT})
#: Those that Tidings never says itself.
TOLD_BY_OTHERS: Final = frozenset({"tenant.deleting.v1", USER_DELETED_SUBJECT, MIGRATION_COMPLETED_SUBJECT})

#: Where notify's own events come from.
NOTIFY_SOURCE: Final = "/tidings/notify"
#: Where the router's come from.
ROUTER_SOURCE: Final = "/tidings/router"
#: Where the back office's come from.
BACKOFFICE_SOURCE: Final = "/tidings/backoffice"
