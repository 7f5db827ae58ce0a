"""What of a webhook is under the tenant's key: its secrets, its headers, and what events say."""

import base64
from collections.abc import Mapping
from datetime import datetime
from secrets import token_bytes
from typing import Final

import msgspec

from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.signed_webhooks.signature import SECRET_PREFIX

#: What a box is for: one of another kind does not open.
PAYLOAD: Final = "payload"
_SECRET: Final = "secret"  # noqa: S105  # a purpose, and no secret
_HEADERS: Final = "headers"
#: Of a secret that is made here; as long as the digest.
_SECRET_BYTES: Final = 32

_decode_headers = msgspec.json.Decoder(dict[str, str]).decode


def new_secret() -> str:
    """A secret in the form of Standard Webhooks."""
    return SECRET_PREFIX + base64.b64encode(token_bytes(_SECRET_BYTES)).decode()


def seal_secret(key: DataKey, secret: str) -> bytes:
    """A secret as it is stored."""
    return key.seal(secret.encode(), _SECRET)


def seal_headers(key: DataKey, headers: Mapping[str, str]) -> bytes | None:
    """Headers as they are stored; None where there are none."""
    return key.seal(msgspec.json.encode(headers), _HEADERS) if headers else None


def open_secrets(
    key: DataKey, current: bytes, previous: bytes | None, previous_until: datetime | None, *, now: datetime
) -> tuple[str, ...]:
    """Those that sign now: the newest, and the one before while a rotation overlaps."""
    overlaps = previous is not None and previous_until is not None and now < previous_until
    boxes = (current, previous) if overlaps and previous is not None else (current,)
    return tuple(key.unseal(box, _SECRET).decode() for box in boxes)


def open_headers(key: DataKey, sealed: bytes | None) -> dict[str, str]:
    """Further headers of each call."""
    return {} if sealed is None else _decode_headers(key.unseal(sealed, _HEADERS))
