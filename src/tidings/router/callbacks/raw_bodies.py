"""Raw bodies in the blob store: those of one set share an object, sealed under the platform's key for callbacks.

A row names its body as `<key of the object>#<place in it>`. Bodies hold addresses and other people's words, and those of
one object may be of several tenants: the object stays under the platform's key, and is removed after some weeks.
Inside it every body is sealed with a key of its own, which stands in its row alone: once that is destroyed, because
a person was erased, this body can't be read, and its neighbours are as before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from tidings.kernel.blobs.keys import BlobKey, checked_key
from tidings.kernel.blobs.store import BlobNotFoundError, BlobStore
from tidings.kernel.errors import BadValueError
from tidings.kernel.keys.ciphers import Key, associate, seal, unseal
from tidings.kernel.keys.data_key import DataKey
from tidings.router.blob_keys import webhook_key
from tidings.router.callbacks.errors import CallbackBodyGoneError
from tidings.router.callbacks.portions import portions
from tidings.router.ids import InboundWebhookId

#: Names the platform key that seals callbacks until their tenant is known.
PLATFORM_PURPOSE: Final = "callbacks"
#: An object is opened whole to read one body of it.
_MOST_BYTES_TOGETHER = 4 * 1024 * 1024
#: A body's own key is never rotated: it is there, or it is not.
_OWN_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedRequests:
    """An object that is ready to be put."""

    key: BlobKey
    #: The first request in it.
    owner_id: InboundWebhookId
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLocation:
    """Where a body is, and what opens it there."""

    ref: str
    #: None: it was destroyed.
    key: bytes | None = field(repr=False)


def pack(
    key: DataKey, vendor: str, bodies: Sequence[tuple[InboundWebhookId, bytes]]
) -> tuple[list[PackedRequests], list[BodyLocation]]:
    """The objects for these bodies, and where each body is."""
    packed: list[PackedRequests] = []
    places: list[BodyLocation] = []
    for some in portions(bodies, lambda one: len(one[1]), _MOST_BYTES_TOGETHER):
        owner_id = some[0][0]
        name = webhook_key(vendor, owner_id)
        boxes: list[bytes] = []
        for number, (_, body) in enumerate(some):
            own, ref = Key.new(_OWN_VERSION), f"{name}#{number}"
            boxes.append(seal(own, body, _bound_to(ref)))
            places.append(BodyLocation(ref=ref, key=own.reveal()))
        content = key.seal(msgspec.msgpack.encode(boxes), _purpose(name))
        packed.append(PackedRequests(key=name, owner_id=owner_id, content=content))
    return packed, places


async def put(blobs: BlobStore, packed: Sequence[PackedRequests]) -> None:
    """Put all of them; they are on disk when this returns."""
    for one in packed:
        await blobs.put(one.key, one.content, owner_id=one.owner_id)


async def read(blobs: BlobStore, key: DataKey, place: BodyLocation) -> bytes:
    """The body that a row names; a `CallbackBodyGoneError` where it is not kept any more."""
    name, _, number = place.ref.rpartition("#")
    if not number.isascii() or not number.isdecimal():
        raise BadValueError("raw_body_ref", "must name an object and a place in it")
    if place.key is None:
        raise CallbackBodyGoneError
    try:
        blob = await blobs.get(checked_key(name))
    except BlobNotFoundError:
        raise CallbackBodyGoneError from None
    boxes = msgspec.msgpack.decode(key.unseal(blob.content, _purpose(checked_key(name))), type=list[bytes])
    if int(number) >= len(boxes):
        raise BadValueError("raw_body_ref", "names a place that its object does not have")
    return unseal(Key(_OWN_VERSION, place.key), boxes[int(number)], _bound_to(place.ref))


def _purpose(name: BlobKey) -> str:
    """An object that was moved to another's place does not open there."""
    return f"raw:{name}"


def _bound_to(ref: str) -> bytes:
    """A body that was moved to another's place does not open there."""
    return associate("", ref, "raw_body")
