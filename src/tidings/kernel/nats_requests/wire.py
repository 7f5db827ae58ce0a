"""A request and its reply as bytes: what a reply says, and the parts of one that is larger than a message may be."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec

#: Which part of how many.
_PART: Final = struct.Struct(">HH")
#: A reply is at most so many bytes: more would fill the memory of the process that asks.
MOST_REPLY_BYTES: Final = 64 * 1024 * 1024


class RequestBody(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What is sealed of a request."""

    #: Seconds that the asking side waits: what can't begin within them is not begun.
    seconds: float
    payload: bytes


class ReplyBody(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What is sealed of a reply."""

    payload: bytes = b""
    #: The code of the error, where the answering side has failed.
    failed: str | None = None


encode: Final = msgspec.msgpack.Encoder().encode
decode_request: Final = msgspec.msgpack.Decoder(RequestBody).decode
decode_reply: Final = msgspec.msgpack.Decoder(ReplyBody).decode


def split(sealed: bytes, *, most: int) -> Iterator[bytes]:
    """The parts of a reply, of so many bytes at most."""
    room = most - _PART.size
    count = -(-len(sealed) // room)
    for place in range(count):
        yield _PART.pack(place, count) + sealed[place * room : (place + 1) * room]


@dataclass(slots=True)
class PartsReceived:
    """A reply while its parts come in, in whatever order."""

    _parts: dict[int, bytes] = field(default_factory=dict)

    def add(self, part: bytes) -> bytes | None:
        """The whole, once its last part is here; a `ValueError` for what is no part."""
        if len(part) < _PART.size:
            raise ValueError("not a part of a reply")
        place, count = _PART.unpack_from(part)
        if place >= count or count * len(part) > 2 * MOST_REPLY_BYTES:
            raise ValueError("not a part of a reply")
        self._parts[place] = part[_PART.size :]
        if len(self._parts) < count:
            return None
        return b"".join(self._parts[one] for one in range(count))
