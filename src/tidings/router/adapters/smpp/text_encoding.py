"""A text as SMPP carries it: its bytes, its data_coding, its parts; and back.

How a text is encoded and where it is cut is decided as `kernel.sms_text` measures it: what is counted is what is sent.
"""

import zlib
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from tidings.contracts.sms_segments import measure
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.smpp.pdu import (
    HAS_UDH,
    TLV_MESSAGE_PAYLOAD,
    TLV_SAR_NUMBER,
    TLV_SAR_REFERENCE,
    TLV_SAR_TOTAL,
    DeliverSm,
    tlv,
)

#: What an SMSC takes as its default alphabet (data_coding 0).
Alphabet: TypeAlias = Literal["gsm7", "latin1"]
#: How a text that is too long for one message travels.
LongBy: TypeAlias = Literal["udh", "sar", "payload"]

#: GSM 03.38, 6.2.1: one byte each, the bit in front unused. The escape stands at 0x1B.
_BASIC: Final = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_EXTENDED: Final = {0x0A: "\f", 0x14: "^", 0x28: "{", 0x29: "}", 0x2F: "\\", 0x3C: "[", 0x3D: "~", 0x3E: "]", 0x40: "|", 0x65: "€"}  # fmt: skip
_ESCAPE: Final = 0x1B
_TO_GSM: Final[dict[str, bytes]] = {
    **{character: bytes((i,)) for i, character in enumerate(_BASIC) if i != _ESCAPE},
    **{character: bytes((_ESCAPE, i)) for i, character in _EXTENDED.items()},
}
_DEFAULT: Final = 0x00
_UCS2: Final = 0x08
_BINARY: Final = 0x04
#: Bytes of a message by itself, bytes of a part of several: 160 and 153 characters, 70 and 67.
_ROOM: Final = {_DEFAULT: (160, 153), _UCS2: (140, 134)}
_MOST_PARTS: Final = 255
_MOST_PAYLOAD: Final = 0xFFFF


@dataclass(frozen=True, slots=True)
class SubmitPart:
    """What one submit_sm carries."""

    data_coding: int
    esm_class: int
    content: bytes = field(repr=False)
    tlvs: bytes = field(default=b"", repr=False)


def parts_of(text: str, message_id: str, *, alphabet: Alphabet, long_by: LongBy) -> list[SubmitPart]:
    """The text in as many parts as it needs.

    The reference that joins parts comes of the message's id: a part that is sent again is the same part to the telephone.
    """
    if not text:
        raise BadValueError("text", "must not be empty")
    coding, encoded = _encoded(text, alphabet)
    alone, room = _ROOM[coding]
    if sum(size for _, size in encoded) <= alone:
        return [SubmitPart(coding, 0, _joined(encoded))]
    if long_by == "payload":
        whole = _joined(encoded)
        if len(whole) > _MOST_PAYLOAD:
            raise BadValueError("text", "is longer than 64 KiB, and no SMSC takes that")
        return [SubmitPart(coding, 0, b"", tlv(TLV_MESSAGE_PAYLOAD, whole))]
    pieces = _cut(encoded, room)
    if len(pieces) > _MOST_PARTS:
        raise BadValueError("text", f"needs {len(pieces)} parts; a message has {_MOST_PARTS} at most")
    reference = zlib.crc32(message_id.encode())
    total = len(pieces)
    if long_by == "sar":
        return [
            SubmitPart(
                coding,
                0,
                piece,
                tlv(TLV_SAR_REFERENCE, (reference & 0xFFFF).to_bytes(2, "big"))
                + tlv(TLV_SAR_TOTAL, bytes((total,)))
                + tlv(TLV_SAR_NUMBER, bytes((number,))),
            )
            for number, piece in enumerate(pieces, 1)
        ]
    return [
        SubmitPart(coding, HAS_UDH, bytes((5, 0, 3, reference & 0xFF, total, number)) + piece)
        for number, piece in enumerate(pieces, 1)
    ]


#: The bytes of one character, and how much room it takes: what counts is what the network makes of it.
_Character: TypeAlias = tuple[bytes, int]


def _encoded(text: str, alphabet: Alphabet) -> tuple[int, list[_Character]]:
    """Each character by itself, so that none is cut in two."""
    if measure(text).encoding == "GSM-7":
        if alphabet == "gsm7":
            return _DEFAULT, [(data, len(data)) for data in map(_TO_GSM.__getitem__, text)]
        if all(ord(character) < 0x100 for character in text):
            return _DEFAULT, [(c.encode("latin-1"), len(_TO_GSM[c])) for c in text]
    # A lone surrogate is no character, and nothing that could be sent.
    wide = (character.encode("utf-16-be", "replace") for character in text)
    return _UCS2, [(data, len(data)) for data in wide]


def _cut(encoded: list[_Character], room: int) -> list[bytes]:
    pieces: list[list[_Character]] = [[]]
    used = 0
    for character in encoded:
        if used + character[1] > room:
            pieces.append([])
            used = 0
        pieces[-1].append(character)
        used += character[1]
    return [_joined(piece) for piece in pieces]


def _joined(characters: list[_Character]) -> bytes:
    return b"".join(data for data, _ in characters)


# --- what comes


@dataclass(frozen=True, slots=True, kw_only=True)
class PartHeader:
    """Which part of a long message something is."""

    reference: int
    total: int
    number: int


def split_header(delivery: DeliverSm) -> tuple[bytes, PartHeader | None]:
    """The content without its user data header, and which part of what it is; None for a whole message."""
    content = delivery.content
    found: PartHeader | None = None
    if delivery.esm_class & HAS_UDH and content:
        end = content[0] + 1
        found = _piece_of(content[1:end])
        content = content[end:]
    if found is None:
        found = _piece_of_tlvs(delivery)
    if found is None or found.total < 2 or not 1 <= found.number <= found.total:
        return content, None
    return content, found


def _piece_of(header: bytes) -> PartHeader | None:
    at = 0
    while at + 2 <= len(header):
        element, length = header[at], header[at + 1]
        value = header[at + 2 : at + 2 + length]
        if element == 0x00 and len(value) == 3:
            return PartHeader(reference=value[0], total=value[1], number=value[2])
        if element == 0x08 and len(value) == 4:
            return PartHeader(
                reference=0x10000 | int.from_bytes(value[:2], "big"), total=value[2], number=value[3]
            )
        at += 2 + length
    return None


def _piece_of_tlvs(delivery: DeliverSm) -> PartHeader | None:
    try:
        reference, total, number = (
            delivery.tlvs[tag] for tag in (TLV_SAR_REFERENCE, TLV_SAR_TOTAL, TLV_SAR_NUMBER)
        )
    except KeyError:
        return None
    return PartHeader(
        reference=0x20000 | int.from_bytes(reference, "big"),
        total=int.from_bytes(total, "big"),
        number=int.from_bytes(number, "big"),
    )


def read_text(content: bytes, data_coding: int, *, alphabet: Alphabet) -> str | None:
    """What a person wrote; None where it is no text, or none that we can read."""
    match _plain_coding(data_coding):
        case 0x00:
            return _from_gsm(content) if alphabet == "gsm7" else content.decode("latin-1")
        case 0x01:
            return content.decode("ascii", "replace")
        case 0x03:
            return content.decode("latin-1")
        case 0x06:
            return content.decode("iso8859-5", "replace")
        case 0x07:
            return content.decode("iso8859-8", "replace")
        case 0x08:
            return content.decode("utf-16-be", "replace")
    return None


def _plain_coding(data_coding: int) -> int:
    """Without the message class or what else GSM 03.38, 4, puts in front of the alphabet."""
    match data_coding & 0xF0:
        case 0x10:
            return {0: _DEFAULT, 2: _UCS2}.get(data_coding >> 2 & 3, _BINARY)
        case 0xC0 | 0xD0:
            return _DEFAULT
        case 0xE0:
            return _UCS2
        case 0xF0:
            return _BINARY if data_coding & 0x04 else _DEFAULT
    return data_coding


def _from_gsm(content: bytes) -> str:
    found: list[str] = []
    escaped = False
    for byte in content:
        if byte == _ESCAPE and not escaped:
            escaped = True
            continue
        if escaped and byte in _EXTENDED:
            found.append(_EXTENDED[byte])
        elif byte < len(_BASIC):
            # An escape before anything else is a space (GSM 03.38, 6.2.1, note 1).
            found.append(" " if byte == _ESCAPE else _BASIC[byte])
        else:
            found.append("\ufffd")
        escaped = False
    return "".join(found)
