"""Raw bodies in the blob store: those of one set share an object, sealed under the platform's key for callbacks.

A row names its body as `<key of the object>#<place in it>`. Bodies hold addresses and other people's words, and those of
one object may be of several tenants: they stay under the platform's key, and are removed after some weeks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from tidings.kernel.blobs.keys import BlobKey, checked_key, webhook_key
from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import InboundWebhookId
from tidings.kernel.keys.data_key import DataKey
from tidings.router.callbacks.portions import portions

#: An object is opened whole to read one body of it.
_MOST_BYTES_TOGETHER = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """An object that is ready to be put."""

    key: BlobKey
    #: The first request in it.
    owner_id: InboundWebhookId
    content: bytes = field(repr=False)


def pack(
    key: DataKey, vendor: str, bodies: Sequence[tuple[InboundWebhookId, bytes]]
) -> tuple[list[Packed], list[str]]:
    """The objects for these bodies, and where each body is."""
    packed: list[Packed] = []
    refs: list[str] = []
    for some in portions(bodies, lambda one: len(one[1]), _MOST_BYTES_TOGETHER):
        owner_id = some[0][0]
        name = webhook_key(vendor, owner_id)
        content = key.seal(msgspec.msgpack.encode([body for _, body in some]), _purpose(name))
        packed.append(Packed(key=name, owner_id=owner_id, content=content))
        refs += [f"{name}#{place}" for place in range(len(some))]
    return packed, refs


async def put(blobs: BlobStore, packed: Sequence[Packed]) -> None:
    """Put all of them; they are on disk when this returns."""
    for one in packed:
        await blobs.put(one.key, one.content, owner_id=one.owner_id)


async def read(blobs: BlobStore, key: DataKey, ref: str) -> bytes:
    """The body that a row names."""
    name, _, place = ref.rpartition("#")
    if not place.isascii() or not place.isdecimal():
        raise BadValueError("raw_body_ref", "must name an object and a place in it")
    blob = await blobs.get(checked_key(name))
    bodies = msgspec.msgpack.decode(key.unseal(blob.content, _purpose(checked_key(name))), type=list[bytes])
    if int(place) >= len(bodies):
        raise BadValueError("raw_body_ref", "names a place that its object does not have")
    return bodies[int(place)]


def _purpose(name: BlobKey) -> str:
    """An object that was moved to another's place does not open there."""
    return f"raw:{name}"
