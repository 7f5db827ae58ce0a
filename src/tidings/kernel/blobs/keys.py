"""Where each kind of object lies in the blob store.

    <tenant id>/rendered/<yyyy>/<mm>/<dd>/<notification id>.<step>.<ms>.bin  the day on which it was rendered
    <tenant id>/attachments/<yyyy>/<mm>/<dd>/<notification id>/<file name>
    <tenant id>/webhooks/<vendor>/<yyyy>/<mm>/<dd>/<webhook id>.json        _platform/… until it is correlated
    _platform/answers/<yyyy>/<mm>/<dd>/<tenant id>/<attempt id>.bin          by day first: they go by the day
    _platform/template-assets/<template version id>/<file name>

Days come out of the ids, but for rendered words, which are kept from the day on which they were sent. File names are the senders' words:
every byte that could mean something to a file system or a URL is written as =XX, so no name leads anywhere else
and no two names meet.
"""

import hashlib
import re
from datetime import datetime
from typing import NewType
from urllib.parse import quote

from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import (
    INBOUND_WEBHOOK,
    NOTIFICATION,
    TEMPLATE_VERSION,
    TENANT,
    InboundWebhookId,
    NotificationId,
    TemplateVersionId,
    TenantId,
    time_of,
)

#: The name of an object in the blob store.
BlobKey = NewType("BlobKey", str)

PLATFORM = "_platform"
MAX_KEY_CHARACTERS = 900
_MAX_FILE_NAME = 180
_SEGMENT = re.compile(r"[A-Za-z0-9_=-][A-Za-z0-9._=-]{0,239}")
_VENDOR = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def rendered_key(tenant_id: TenantId, notification_id: NotificationId, step: int, *, at: datetime) -> BlobKey:
    """What the notifications of one set looked like when they were sent, under the id of the first and the moment."""
    name = f"{NOTIFICATION.parse(notification_id)}.{step}.{int(at.timestamp() * 1000)}.bin"
    return _key(_tenant(tenant_id), "rendered", f"{at:%Y/%m/%d}", name)


def attachment_key(tenant_id: TenantId, notification_id: NotificationId, file_name: str) -> BlobKey:
    """A file that went along with a notification."""
    day = _day(NOTIFICATION.parse(notification_id))
    return _key(_tenant(tenant_id), "attachments", day, notification_id, escape_file_name(file_name))


def webhook_key(vendor: str, webhook_id: InboundWebhookId, tenant_id: TenantId | None = None) -> BlobKey:
    """The raw body of a vendor's callback; the platform's as long as nobody knows whose it is."""
    if not _VENDOR.fullmatch(vendor):
        raise BadValueError("vendor", "must be lower-case letters, digits, - and _")
    owner = PLATFORM if tenant_id is None else _tenant(tenant_id)
    return _key(owner, "webhooks", vendor, _day(INBOUND_WEBHOOK.parse(webhook_id)), f"{webhook_id}.json")


def answer_key(tenant_id: TenantId, attempt_id: str) -> BlobKey:
    """What a vendor answered to the messages of one set, under the id of the first attempt."""
    return _key(PLATFORM, "answers", _day(attempt_id), _tenant(tenant_id), f"{attempt_id}.bin")


def template_asset_key(version_id: TemplateVersionId, file_name: str) -> BlobKey:
    """A picture or logo of a template version."""
    return _key(PLATFORM, "template-assets", TEMPLATE_VERSION.parse(version_id), escape_file_name(file_name))


def checked_key(text: str) -> BlobKey:
    """A key that came from a row: every segment is plain, none leads upwards."""
    if len(text) > MAX_KEY_CHARACTERS or not all(_SEGMENT.fullmatch(part) for part in text.split("/")):
        raise BadValueError("key", "must be plain segments with / between them")
    return BlobKey(text)


def owner_of(key: BlobKey) -> str:
    """The tenant whose object this is, or `_platform`."""
    return key.partition("/")[0]


def shown(key: BlobKey) -> str:
    """The key as errors may show it: without the name that a person gave to a file."""
    personal = "/attachments/" in key or "/template-assets/" in key
    return key.rpartition("/")[0] if personal else key


def escape_file_name(name: str) -> str:
    """The file name as one plain segment; different names stay different."""
    raw = name.encode("utf-8", "surrogatepass")
    if not raw:
        raise BadValueError("file_name", "must not be empty")
    escaped = quote(raw, safe="").replace("~", "%7E").replace("%", "=")
    if escaped.startswith("."):
        escaped = f"=2E{escaped[1:]}"
    if len(escaped) <= _MAX_FILE_NAME:
        return escaped
    # Too long for a file system. The digest keeps it apart from its neighbours, == from short names.
    return f"{escaped[: _MAX_FILE_NAME - 42]}=={hashlib.sha256(raw).hexdigest()[:40]}"


def _key(*segments: str) -> BlobKey:
    return checked_key("/".join(segments))


def _tenant(tenant_id: TenantId) -> TenantId:
    return TENANT.parse(tenant_id, field="tenant_id")


def _day(any_id: str) -> str:
    return f"{time_of(any_id):%Y/%m/%d}"
