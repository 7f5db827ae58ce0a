"""SMPP 3.4 as an SMSC reads and writes it, apart from the adapter's own codec: two hands, one protocol."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

BINDS: Final = {0x01: "receiver", 0x02: "transmitter", 0x09: "transceiver"}
SUBMIT_SM: Final = 0x04
DELIVER_SM: Final = 0x05
UNBIND: Final = 0x06
ENQUIRE_LINK: Final = 0x15
GENERIC_NACK: Final = 0x80000000
ANSWER: Final = 0x80000000
_LONGEST: Final = 70_000
_UCS2: Final = 8
#: GSM 03.38, 6.2.1; the place of the escape is taken by a blank.
_BASIC: Final = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ ÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_EXTENDED: Final = dict(zip(b"\x0a\x14\x28\x29\x2f\x3c\x3d\x3e\x40\x65", "\f^{}\\[~]|€", strict=True))
_SAR: Final = (0x020C, 0x020E, 0x020F)
_PAYLOAD: Final = 0x0424


class NonsenseError(Exception):
    """No PDU."""


@dataclass(frozen=True, slots=True)
class SandboxPdu:
    """One PDU."""

    command: int
    status: int
    sequence: int
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submit:
    """What a submit_sm asks for."""

    sender: str = field(repr=False)
    to: str = field(repr=False)
    wants_receipt: bool
    data_coding: int
    #: Without its header.
    content: bytes = field(repr=False)
    #: Reference, how many, which one; None for a whole message.
    part: tuple[int, int, int] | None = None


def pdu(command: int, sequence: int, body: bytes = b"", *, status: int = 0) -> bytes:
    """As it goes over the wire."""
    return struct.pack(">IIII", 16 + len(body), command, status, sequence) + body


def cut(buffer: bytearray) -> Iterator[SandboxPdu]:
    """Whole PDUs off the front of a buffer; a `NonsenseError` for a length that nothing has."""
    while len(buffer) >= 16:
        length, command, status, sequence = struct.unpack_from(">IIII", buffer)
        if not 16 <= length <= _LONGEST:
            raise NonsenseError
        if len(buffer) < length:
            return
        body = bytes(buffer[16:length])
        del buffer[:length]
        yield SandboxPdu(command, status, sequence, body)


def read_submit(body: bytes) -> Submit:
    """A submit_sm; a `NonsenseError` where its body is none."""
    try:
        return _read_submit(body)
    except (IndexError, ValueError, struct.error):
        raise NonsenseError from None


def _read_submit(body: bytes) -> Submit:
    at = body.index(b"\0") + 1
    sender, at = _address(body, at)
    to, at = _address(body, at)
    esm_class = body[at]
    at = body.index(b"\0", at + 3) + 1
    at = body.index(b"\0", at) + 1
    receipt, data_coding, length = body[at], body[at + 2], body[at + 4]
    at += 5
    content = body[at : at + length]
    if len(content) < length:
        raise NonsenseError
    tlvs = _tlvs(body[at + length :])
    content = content or tlvs.get(_PAYLOAD, b"")
    part = None
    if esm_class & 0x40 and content:
        header, content = content[1 : content[0] + 1], content[content[0] + 1 :]
        if header[:2] == b"\x00\x03":
            part = (header[2], header[3], header[4])
    elif all(tag in tlvs for tag in _SAR):
        reference, total, number = (int.from_bytes(tlvs[tag], "big") for tag in _SAR)
        part = (reference, total, number)
    return Submit(
        sender=sender,
        to=to,
        wants_receipt=bool(receipt & 3),
        data_coding=data_coding,
        content=content,
        part=part,
    )


def text_of(content: bytes, data_coding: int) -> str:
    """What it says."""
    if data_coding == _UCS2:
        return content.decode("utf-16-be", "replace")
    if data_coding != 0:
        return content.decode("latin-1")
    found: list[str] = []
    bytes_left = iter(content)
    for byte in bytes_left:
        if byte == 0x1B:
            found.append(_EXTENDED.get(next(bytes_left, 0x0A), " "))
        else:
            found.append(_BASIC[byte] if byte < 128 else "\ufffd")
    return "".join(found)


def delivery(*, sender: str, to: str, esm_class: int, data_coding: int, content: bytes) -> bytes:
    """The body of a deliver_sm."""
    return b"".join(
        (
            b"\0",
            _typed(sender),
            _typed(to),
            bytes((esm_class, 0, 0)),
            b"\0\0",
            bytes((0, 0, data_coding, 0, len(content))),
            content,
        )
    )


def written(text: str, reference: int) -> list[tuple[int, int, bytes]]:
    """What a person writes, in as many parts as it takes: esm_class, data_coding, content."""
    if all(ord(c) < 128 and _BASIC.find(c) == ord(c) for c in text):
        coding, content, alone, room = 0, text.encode("ascii"), 160, 153
    else:
        coding, content, alone, room = _UCS2, text.encode("utf-16-be", "replace"), 140, 134
    if len(content) <= alone:
        return [(0, coding, content)]
    pieces = [content[i : i + room] for i in range(0, len(content), room)]
    return [
        (0x40, coding, bytes((5, 0, 3, reference & 0xFF, len(pieces), number)) + piece)
        for number, piece in enumerate(pieces[:255], 1)
    ]


def _typed(address: str) -> bytes:
    digits = address.removeprefix("+")
    if not digits.isdecimal():
        ton, npi = 5, 0
    elif address.startswith("+"):
        ton, npi = 1, 1
    else:
        ton, npi = 3, 0
    return bytes((ton, npi)) + digits.encode("ascii", "replace")[:20] + b"\0"


def _address(body: bytes, at: int) -> tuple[str, int]:
    end = body.index(b"\0", at + 2)
    digits = body[at + 2 : end].decode("latin-1")
    return (f"+{digits}" if body[at] == 1 and digits.isdecimal() else digits), end + 1


def _tlvs(data: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    at = 0
    while at + 4 <= len(data):
        tag, length = struct.unpack_from(">HH", data, at)
        found[tag] = data[at + 4 : at + 4 + length]
        at += 4 + length
    return found
