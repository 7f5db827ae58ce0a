"""What is sealed, and for what: in another row it does not open."""

import re
from datetime import datetime
from typing import Final

import msgspec
from msgspec import Struct

from tidings.contracts.callback_forms import ReadInbound
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.mapping import by_name


class Payload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came, while its tenant is not known: under a platform key."""

    sender: str
    to: str
    text: str
    kind: str
    occurred_at: datetime | None = None
    sender_name: str | None = None

    def __repr__(self) -> str:
        return "Payload(***)"


class TranscriptText(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a line of a transcript says: under a subject's data key."""

    text: str
    #: The writer's name, as the vendor shows it.
    name: str | None = None

    def __repr__(self) -> str:
        return "TranscriptText(***)"


#: What a vendor's word for a kind of message is made of.
_WORD: Final = re.compile(r"[^a-z0-9_.-]")
_LONGEST_NAME: Final = 200
_encode = msgspec.json.Encoder().encode
_read_payload = msgspec.json.Decoder(Payload).decode
_read_words = msgspec.json.Decoder(TranscriptText).decode


def seal_payload(key: DataKey, message_id: str, read: ReadInbound) -> bytes:
    """Before its tenant is known."""
    payload = by_name(
        Payload,
        read,
        kind=_WORD.sub("", read.kind.lower())[:40] or "text",
        sender_name=read.sender_name[:_LONGEST_NAME] if read.sender_name else None,
    )
    return key.seal(_encode(payload), f"inbound:{message_id}")


def open_payload(key: DataKey, message_id: str, box: bytes) -> Payload:
    """The same again; raises what the key raises, or a `msgspec.DecodeError`."""
    return _read_payload(key.unseal(box, f"inbound:{message_id}"))


def seal_words(key: DataKey, line_id: str, words: TranscriptText) -> bytes:
    """For a line of a transcript."""
    return key.seal(_encode(words), f"conversation:{line_id}")


def open_words(key: DataKey, line_id: str, box: bytes) -> TranscriptText:
    """The same again."""
    return _read_words(key.unseal(box, f"conversation:{line_id}"))


def seal_address(key: DataKey, conversation_id: str, address: str) -> bytes:
    """The other side of a conversation."""
    return key.seal(address.encode("utf-8", "surrogatepass"), f"address:{conversation_id}")


def open_address(key: DataKey, conversation_id: str, box: bytes) -> str:
    """The same again."""
    return key.unseal(box, f"address:{conversation_id}").decode("utf-8", "surrogatepass")
