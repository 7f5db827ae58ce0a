"""Where the router's objects lie in the blob store.

_platform/webhooks/<vendor>/<yyyy>/<mm>/<dd>/<webhook id>.json   one object may hold bodies of several tenants
_platform/answers/<yyyy>/<mm>/<dd>/<tenant id>/<attempt id>.bin  by day first: they go by the day
"""

import re

from tidings.kernel.blobs.keys import BlobKey, day_of, key_of
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TENANT, TenantId
from tidings.router.ids import INBOUND_WEBHOOK, InboundWebhookId

_VENDOR = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def webhook_key(vendor: str, webhook_id: InboundWebhookId) -> BlobKey:
    """The raw bodies of a vendor's callbacks, under the id of the first request."""
    if not _VENDOR.fullmatch(vendor):
        raise BadValueError("vendor", "must be lower-case letters, digits, - and _")
    return key_of(None, "webhooks", vendor, day_of(INBOUND_WEBHOOK.parse(webhook_id)), f"{webhook_id}.json")


def answer_key(tenant_id: TenantId, attempt_id: str) -> BlobKey:
    """What a vendor answered to the messages of one set, under the id of the first attempt."""
    tenant = TENANT.parse(tenant_id, field="tenant_id")
    return key_of(None, "answers", day_of(attempt_id), tenant, f"{attempt_id}.bin")
