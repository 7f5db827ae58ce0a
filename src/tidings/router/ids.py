"""Ids of what vendors call in with: one for a request, one for each event in it."""

from typing import NewType

from tidings.kernel.ids import IdKind

InboundWebhookId = NewType("InboundWebhookId", str)
InboundWebhookEventId = NewType("InboundWebhookEventId", str)

INBOUND_WEBHOOK = IdKind("whi", InboundWebhookId)
INBOUND_WEBHOOK_EVENT = IdKind("whe", InboundWebhookEventId)
