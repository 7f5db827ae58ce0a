"""SMPP 3.4 on the wire: PDUs cut out of a stream of bytes, and the few that we write and read."""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

GENERIC_NACK: Final = 0x80000000
BIND_RECEIVER: Final = 0x00000001
BIND_TRANSMITTER: Final = 0x00000002
SUBMIT_SM: Final = 0x00000004
DELIVER_SM: Final = 0x00000005
UNBIND: Final = 0x00000006
BIND_TRANSCEIVER: Final = 0x00000009
ENQUIRE_LINK: Final = 0x00000015
ALERT_NOTIFICATION: Final = 0x00000102
DATA_SM: Final = 0x00000103
#: The bit that makes an answer of a request.
RESPONSE: Final = 0x80000000

TLV_RECEIPTED_MESSAGE_ID: Final = 0x001E
TLV_USER_MESSAGE_REFERENCE: Final = 0x0204
TLV_SAR_REFERENCE: Final = 0x020C
TLV_SAR_TOTAL: Final = 0x020E
TLV_SAR_NUMBER: Final = 0x020F
TLV_NETWORK_ERROR: Final = 0x0423
TLV_MESSAGE_PAYLOAD: Final = 0x0424
TLV_MESSAGE_STATE: Final = 0x0427

#: esm_class: the text begins with a user data header.
HAS_UDH: Final = 0x40
#: esm_class: what kind of message it is; each of these bits says that it is about another one.
ABOUT_ANOTHER: Final = 0x3C

INTERFACE_VERSION: Final = 0x34
#: A message_payload has up to 64 KiB; nothing longer is a PDU.
LONGEST: Final = 0x10000 + 2048
_HEADER: Final = struct.Struct(">IIII")


class BadPduError(Exception):
    """What came is no PDU; the message says why, and quotes nothing."""


@dataclass(frozen=True, slots=True)
class Pdu:
    """One PDU."""

    command: int
    status: int
    sequence: int
    body: bytes = field(default=b"", repr=False)

    def encode(self) -> bytes:
        """As it goes over the wire."""
        return _HEADER.pack(16 + len(self.body), self.command, self.status, self.sequence) + self.body


class PduStream:
    """Bytes in, whole PDUs out."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Pdu]:
        """Those that are complete now; a `BadPduError` for a length that nothing has."""
        buffer = self._buffer
        buffer += data
        start = 0
        try:
            while len(buffer) - start >= 16:
                length, command, status, sequence = _HEADER.unpack_from(buffer, start)
                if not 16 <= length <= LONGEST:
                    raise BadPduError("the SMSC sent a PDU of an impossible length")
                if len(buffer) - start < length:
                    break
                yield Pdu(command, status, sequence, bytes(buffer[start + 16 : start + length]))
                start += length
        finally:
            del buffer[:start]


@dataclass(frozen=True, slots=True)
class SmppAddress:
    """An address with its type of number and its numbering plan."""

    ton: int
    npi: int
    digits: str = field(repr=False)

    def encode(self) -> bytes:
        """As PDUs have it."""
        return bytes((self.ton, self.npi)) + c_string(self.digits)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverSm:
    """What a deliver_sm or a data_sm brings."""

    source: SmppAddress
    destination: SmppAddress
    esm_class: int
    data_coding: int
    #: short_message, or message_payload; with its user data header.
    content: bytes = field(repr=False)
    tlvs: Mapping[int, bytes] = field(repr=False)


def c_string(text: str) -> bytes:
    """A text and its end."""
    return text.encode("latin-1") + b"\0"


def tlv(tag: int, value: bytes) -> bytes:
    """One optional parameter."""
    return struct.pack(">HH", tag, len(value)) + value


def bind_body(*, system_id: str, password: str, system_type: str, address_range: str) -> bytes:
    """Of any of the three binds."""
    return (
        c_string(system_id)
        + c_string(password)
        + c_string(system_type)
        + bytes((INTERFACE_VERSION, 0, 0))
        + c_string(address_range)
    )


def submit_body(
    *,
    service_type: str,
    source: SmppAddress,
    destination: SmppAddress,
    esm_class: int,
    validity: str,
    receipt: bool,
    data_coding: int,
    content: bytes,
    tlvs: bytes = b"",
) -> bytes:
    """Of a submit_sm that is sent at once."""
    return b"".join(
        (
            c_string(service_type),
            source.encode(),
            destination.encode(),
            # protocol_id, priority_flag, schedule_delivery_time
            bytes((esm_class, 0, 0, 0)),
            c_string(validity),
            # replace_if_present_flag, then sm_default_msg_id behind the coding
            bytes((1 if receipt else 0, 0, data_coding, 0, len(content))),
            content,
            tlvs,
        )
    )


def read_delivery(pdu: Pdu) -> DeliverSm:
    """A deliver_sm or a data_sm; a `BadPduError` where its body is none."""
    body = _Body(pdu.body)
    body.text(64)
    source = SmppAddress(body.byte(), body.byte(), body.text(65))
    destination = SmppAddress(body.byte(), body.byte(), body.text(65))
    esm_class = body.byte()
    if pdu.command == DATA_SM:
        body.byte()
        data_coding, content = body.byte(), b""
    else:
        body.byte(), body.byte()
        body.text(17), body.text(17)
        body.byte(), body.byte()
        data_coding = body.byte()
        body.byte()
        content = body.take(body.byte())
    tlvs = body.tlvs()
    return DeliverSm(
        source=source,
        destination=destination,
        esm_class=esm_class,
        data_coding=data_coding,
        content=content or tlvs.get(TLV_MESSAGE_PAYLOAD, b""),
        tlvs=tlvs,
    )


def read_message_id(pdu: Pdu) -> str | None:
    """The id in a submit_sm_resp; None where it is empty; a `BadPduError` where it is no id."""
    raw = pdu.body.partition(b"\0")[0].strip()
    if len(raw) > 200 or not raw.isascii() or not raw.decode("ascii").isprintable():
        raise BadPduError("the SMSC's answer holds something that is no message id")
    return raw.decode("ascii") or None


class _Body:
    """Reads a body from front to back."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def byte(self) -> int:
        return self.take(1)[0]

    def take(self, count: int) -> bytes:
        found = self._data[self._at : self._at + count]
        if len(found) < count:
            raise BadPduError("the SMSC sent a PDU that ends too early")
        self._at += count
        return found

    def text(self, most: int) -> str:
        end = self._data.find(b"\0", self._at, self._at + most + 1)
        if end < 0:
            raise BadPduError("the SMSC sent a PDU with a text that does not end")
        found = self._data[self._at : end]
        self._at = end + 1
        return found.decode("latin-1")

    def tlvs(self) -> dict[int, bytes]:
        found: dict[int, bytes] = {}
        # A few bytes behind the last one are padding of odd servers.
        while len(self._data) - self._at >= 4:
            tag, length = struct.unpack(">HH", self.take(4))
            found[tag] = self.take(length)
        return found
