"""Where the router's objects lie in the blob store.

_platform/webhooks/<vendor>/<yyyy>/<mm>/<dd>/<webhook id>.json   one object may hold bodies of several tenants
_platform/answers/<yyyy>/<mm>/<dd>/<attempt id>.bin              by day: they go by the day; of several tenants too
"""

import re

from tidings.kernel.blobs.keys import BlobKey, day_of, key_of
from tidings.kernel.errors import BadValueError
from tidings.router.ids import INBOUND_WEBHOOK, InboundWebhookId

_VENDOR = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def webhook_key(vendor: str, webhook_id: InboundWebhookId) -> BlobKey:
    """The raw bodies of a vendor's callbacks, under the id of the first request."""
    if not _VENDOR.fullmatch(vendor):
        raise BadValueError("vendor", "must be lower-case letters, digits, - and _")
    return key_of(None, "webhooks", vendor, day_of(INBOUND_WEBHOOK.parse(webhook_id)), f"{webhook_id}.json")


def answer_key(attempt_id: str) -> BlobKey:
    """What a vendor answered to the messages of one set, under the id of the first attempt."""
    return key_of(None, "answers", day_of(attempt_id), f"{attempt_id}.bin")
