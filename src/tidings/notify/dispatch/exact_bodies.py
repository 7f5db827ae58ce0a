"""The exact words of messages whose retention class is `regulated`: kept seven years, each under its person's key.

The bodies of one set share an object, whatever tenants they are of. It is stored beside the transaction that hands the set over, and is there before a vendor
is called. A row names them by channel as `<key of the object>#<place in it>`. Where storing fails the message goes out all the
same: its words can be rendered again, and the digest says whether they are what was sent.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, NamedTuple

import msgspec

from tidings.contracts.ids import NotificationId
from tidings.contracts.tenants import Channel
from tidings.kernel.blobs.keys import BlobKey, checked_key
from tidings.kernel.blobs.store import BlobError, BlobStore
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.logs import get_logger
from tidings.notify.blob_keys import rendered_key

#: The retention class whose exact words are kept.
KEPT_CLASS: Final = "regulated"
_SECONDS: Final = 10.0

_encode: Final = msgspec.json.Encoder().encode
_decode_refs: Final = msgspec.json.Decoder(dict[Channel, str]).decode
_log = get_logger("dispatch")


class KeptBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message as it was sent."""

    subject: str | None
    html: str | None
    text: str | None
    locale: str
    direction: Literal["ltr", "rtl"]
    #: The names of the template's pictures that it shows.
    pictures: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "KeptBody(***)"


class BodyToKeep(msgspec.Struct, frozen=True, kw_only=True):
    """A message that is ready, and the recipient whose key it is sealed under."""

    tenant_id: TenantId
    notification_id: NotificationId
    step: int
    key: DataKey
    body: KeptBody


class SealedBody(NamedTuple):
    """A body as an object holds it."""

    notification_id: NotificationId
    content: bytes
    #: None in an object of one tenant alone, as they were before.
    tenant_id: TenantId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedBodies:
    """The bodies of one set, ready to be stored."""

    key: BlobKey
    owner_id: NotificationId
    content: bytes = field(repr=False)


def pack(bodies: Sequence[BodyToKeep], *, now: datetime) -> PackedBodies:
    """The object for these bodies, of one tenant or of several; the place of each in it is its place here."""
    first = bodies[0]
    name = rendered_key(first.tenant_id, first.notification_id, first.step, at=now)
    boxes = [
        SealedBody(
            one.notification_id,
            one.key.seal(_encode(one.body), _purpose(one.notification_id)),
            one.tenant_id,
        )
        for one in bodies
    ]
    return PackedBodies(key=name, owner_id=first.notification_id, content=msgspec.msgpack.encode(boxes))


async def put(blobs: BlobStore, packed: PackedBodies) -> bool:
    """Store it; False where that fails, and never an error."""
    try:
        async with asyncio.timeout(_SECONDS):
            await blobs.put(packed.key, packed.content, owner_id=packed.owner_id)
    except (BlobError, TimeoutError) as error:
        _log.error("bodies_not_kept", error=type(error).__name__)
        return False
    return True


async def read(blobs: BlobStore, key: DataKey, notification_id: NotificationId, ref: str) -> KeptBody:
    """The body that a row names; a `BlobNotFoundError` where it was never stored, or after its time."""
    name, _, place = ref.rpartition("#")
    if not place.isascii() or not place.isdecimal():
        raise BadValueError("body_ref", "must name an object and a place in it")
    boxes = contents_of((await blobs.get(checked_key(name))).content)
    if int(place) >= len(boxes):
        raise BadValueError("body_ref", "names a place that its object does not have")
    opened = key.unseal(boxes[int(place)].content, _purpose(notification_id))
    return msgspec.json.decode(opened, type=KeptBody)


def contents_of(content: bytes) -> list[SealedBody]:
    """The bodies that an object holds."""
    return msgspec.msgpack.decode(content, type=list[SealedBody])


def refs_of(text: str | None) -> dict[Channel, str]:
    """By channel, where a notification's bodies are."""
    return _decode_refs(text) if text else {}


def refs_text(before: str | None, channel: Channel, ref: str) -> str:
    """The references of earlier steps and this one, as a row keeps them."""
    return _encode({**refs_of(before), channel: ref}).decode()


def _purpose(notification_id: NotificationId) -> str:
    """A body that was moved to another's place does not open there."""
    return f"rendered:{notification_id}"
