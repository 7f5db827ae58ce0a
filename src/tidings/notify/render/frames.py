"""What goes over the pipes between us and a child: a length, then one call or one answer in MessagePack."""

import struct
from typing import Any, Final

import msgspec

_LENGTH: Final = struct.Struct(">I")
LENGTH_BYTES: Final = _LENGTH.size
#: Of one frame. A set stops when its texts are large, so an honest one stays far below.
MOST_BYTES: Final = 128 * 1024 * 1024


class ChildCall(msgspec.Struct, frozen=True, array_like=True):
    """What the child is to do."""

    name: str
    body: bytes


class ChildAnswer(msgspec.Struct, frozen=True, array_like=True):
    """What came of it."""

    body: bytes
    #: Seconds of processor time that it took.
    seconds: float
    #: Why there is no answer, in one word: `memory` or `broken`; the child ends after the first.
    fault: str = ""


class RenderCall(msgspec.Struct, frozen=True, array_like=True):
    """A set of messages, and what V8 has to load for it first."""

    #: Function and argument, in this order: compiled contents, tables of locales and zones.
    loads: list[tuple[str, str]]
    #: The messages as JSON.
    jobs: str
    #: Milliseconds after which no further message is begun.
    slice_ms: int


_encode: Final = msgspec.msgpack.Encoder().encode
_decode_answer: Final = msgspec.msgpack.Decoder(ChildAnswer).decode
_decode_call: Final = msgspec.msgpack.Decoder(ChildCall).decode


def body_of(value: Any) -> bytes:
    """A value as the body of a call."""
    return _encode(value)


def frame_of(value: ChildCall | ChildAnswer) -> bytes:
    """A call or an answer as it goes over the pipe."""
    whole = _encode(value)
    return _LENGTH.pack(len(whole)) + whole


def length_of(head: bytes) -> int:
    """How many bytes follow; a `ValueError` where no honest child would send so many."""
    length = int(_LENGTH.unpack(head)[0])
    if length > MOST_BYTES:
        raise ValueError("the frame is too long")
    return length


def read_answer(whole: bytes) -> ChildAnswer:
    """An answer; a `msgspec.MsgspecError` where it is none."""
    return _decode_answer(whole)


def read_call(whole: bytes) -> ChildCall:
    """A call."""
    return _decode_call(whole)
