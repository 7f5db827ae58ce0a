"""Names of objects in the blob store: `<owner>/<kind>/…`, where the owner is a tenant's id or `_platform`.

Each service says where its kinds of objects lie (`blob_keys.py`). Days come out of ids. File names are the senders' words:
every byte that could mean something to a file system or a URL is written as =XX, so no name leads anywhere else
and no two names meet.
"""

import hashlib
import re
from typing import NewType
from urllib.parse import quote

from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TENANT, TenantId, time_of

#: The name of an object in the blob store.
BlobKey = NewType("BlobKey", str)

PLATFORM = "_platform"
MAX_KEY_CHARACTERS = 900
_MAX_FILE_NAME = 180
_SEGMENT = re.compile(r"[A-Za-z0-9_=-][A-Za-z0-9._=-]{0,239}")
#: A last segment that begins with an id was named by us.
_NAMED_BY_ID = re.compile(r"[a-z_]+_[0-7][0-9A-HJKMNP-TV-Z]{25}\.[0-9a-z.]+")


def key_of(owner: TenantId | None, *segments: str) -> BlobKey:
    """The key of an object of that tenant; of the platform without one."""
    owned_by = PLATFORM if owner is None else TENANT.parse(owner, field="tenant_id")
    return checked_key("/".join((owned_by, *segments)))


def day_of(any_id: str) -> str:
    """The day inside an id, as a part of a key."""
    return f"{time_of(any_id):%Y/%m/%d}"


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
    folder, _, name = key.rpartition("/")
    return key if _NAMED_BY_ID.fullmatch(name) else folder


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
