"""What a pixel and a link carry: the message it belongs to and where the link leads, signed. Nothing is stored for it.

    signature (16 bytes) | kind | step | tenant | notification | recipient (16 bytes each) | where it leads

The signature is under a key of the platform, so that nonsense is known as such without asking the database, and it covers
the target: a changed target makes the link invalid, so that it can't lead anywhere else.
"""

import base64
import binascii
import hmac
import re
from dataclasses import dataclass, field
from typing import Final, Literal

from ulid_transform import bytes_to_ulid, ulid_to_bytes

from tidings.contracts.ids import NOTIFICATION, RECIPIENT, NotificationId, RecipientId
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.keys.pepper import Pepper

Kind = Literal["opened", "clicked"]

#: Bytes of a target; a longer link is left as it is.
MOST_TARGET: Final = 2000
_KINDS: Final[dict[int, Kind]] = {1: "opened", 2: "clicked"}
_NUMBERS: Final = {kind: number for number, kind in _KINDS.items()}
_SIGNATURE: Final = 16
_ID: Final = 16
_HEAD: Final = 2
_FIXED: Final = _SIGNATURE + _HEAD + 3 * _ID
#: What can be a token at all; the rest is not even decoded.
_FORM: Final = re.compile(r"[A-Za-z0-9_-]{88,2755}")
_MOST_STEP: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a token says."""

    kind: Kind
    tenant_id: TenantId
    notification_id: NotificationId
    #: Who was written to.
    recipient_id: RecipientId
    step: int
    #: Where a link leads; empty for a pixel.
    target: str = field(default="", repr=False)


class Marker:
    """Makes tokens and reads them."""

    def __init__(self, pepper: Pepper) -> None:
        #: Never used for anything else: no hash of an address can be taken for a signature.
        secret = pepper.hash("\x00tracking").removeprefix("sha256:")
        self._key = bytes.fromhex(secret)

    def write(self, mark: Mark) -> str:
        """The token of this mark."""
        said = (
            bytes((_NUMBERS[mark.kind], min(mark.step, _MOST_STEP)))
            + b"".join(ulid_to_bytes(id_[-26:]) for id_ in (mark.tenant_id, mark.notification_id))
            + ulid_to_bytes(mark.recipient_id[-26:])
            + mark.target.encode()
        )
        return base64.urlsafe_b64encode(self._signature(said) + said).rstrip(b"=").decode()

    def read(self, token: str) -> Mark | None:
        """What a token says; None where we did not write it."""
        if not _FORM.fullmatch(token):
            return None
        try:
            raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        except (binascii.Error, ValueError):
            return None
        said = raw[_SIGNATURE:]
        if len(raw) < _FIXED or not hmac.compare_digest(raw[:_SIGNATURE], self._signature(said)):
            return None
        ids = [bytes_to_ulid(said[_HEAD + _ID * n : _HEAD + _ID * (n + 1)]) for n in range(3)]
        return Mark(
            kind=_KINDS[said[0]],
            step=said[1],
            tenant_id=TenantId(f"{TENANT.prefix}_{ids[0]}"),
            notification_id=NotificationId(f"{NOTIFICATION.prefix}_{ids[1]}"),
            recipient_id=RecipientId(f"{RECIPIENT.prefix}_{ids[2]}"),
            target=said[_HEAD + 3 * _ID :].decode(),
        )

    def _signature(self, said: bytes) -> bytes:
        return hmac.digest(self._key, said, "sha256")[:_SIGNATURE]

    def __repr__(self) -> str:
        return "Marker(***)"
