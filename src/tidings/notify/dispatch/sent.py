"""What is kept of a message that goes out: its address, sealed; its sender; and the digest of what was rendered."""

from collections.abc import Sequence
from typing import Final

import msgspec

from tidings.contracts.addresses import NormalisedAddress, redact
from tidings.contracts.messages import Address, SenderRecord, SentRecord
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.pepper import Pepper

#: What the sealed addresses of a sent message are bound to.
ADDRESSES_PURPOSE: Final = "sent_addresses"

_encode: Final = msgspec.json.Encoder().encode
_decode_addresses: Final = msgspec.json.Decoder(list[str]).decode
_decode_sender: Final = msgspec.json.Decoder(SenderRecord).decode


def record_of(
    addresses: Sequence[NormalisedAddress],
    *,
    sender: Address,
    digest: str,
    key: DataKey | None,
    pepper: Pepper,
) -> SentRecord:
    """The record of one message; `key` is that of the person who is written to."""
    seals = bool(addresses) and key is not None and not key.destroyed
    return SentRecord(
        sender=SenderRecord(value=sender.value, name=sender.name),
        address_hash=" ".join(map(pepper.hash, addresses)) or None,
        address_ciphertext=key.seal(_encode(list(addresses)), ADDRESSES_PURPOSE)
        if seals and key is not None
        else None,
        digest=digest,
    )


def sender_text(record: SentRecord) -> str:
    """The sender as a row keeps it."""
    return _encode(record.sender).decode()


def sender_of(text: str | None) -> SenderRecord | None:
    """The sender again."""
    return _decode_sender(text) if text else None


def hints_of(key: DataKey | None, box: bytes | None) -> tuple[str, ...]:
    """The addresses as people may see them; none where the person was erased."""
    if key is None or box is None:
        return ()
    try:
        return tuple(map(redact, _decode_addresses(key.unseal(box, ADDRESSES_PURPOSE))))
    except (DestroyedKeyError, UnreadableError):
        return ()
