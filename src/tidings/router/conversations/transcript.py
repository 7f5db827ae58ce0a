"""Reads what was said, in the clear, for those who may."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tidings.kernel.db import TenantTx
from tidings.kernel.errors import TidingsError
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.router.conversations.model import Conversation, TranscriptLine
from tidings.router.conversations.sealing import TranscriptText, open_address, open_words


async def keys_of(tx: TenantTx, keyring: Keyring, subjects: Iterable[str | None]) -> Mapping[str, DataKey]:
    """The keys that open these; what was erased has none that opens anything."""
    wanted = {subject for subject in subjects if subject is not None}
    return await keyring.data_keys(tx, wanted, create=False) if wanted else {}


async def words_of(
    tx: TenantTx, keyring: Keyring, lines: Sequence[TranscriptLine]
) -> dict[str, TranscriptText]:
    """What each line says, by its id; those without words, or with erased ones, are left out."""
    keys = await keys_of(tx, keyring, (line.key_subject for line in lines))
    found: dict[str, TranscriptText] = {}
    for line in lines:
        words = opened_words(line, keys)
        if words is not None:
            found[line.id] = words
    return found


def opened_words(line: TranscriptLine, keys: Mapping[str, DataKey]) -> TranscriptText | None:
    """What a line says, if it can be read."""
    key = keys.get(line.key_subject or "")
    if key is None or line.ciphertext is None:
        return None
    try:
        return open_words(key, line.id, line.ciphertext)
    except (TidingsError, msgspec.DecodeError):
        return None


def opened_address(conversation: Conversation, keys: Mapping[str, DataKey]) -> str | None:
    """The other side, if it can be read."""
    key = keys.get(conversation.key_subject or "")
    if key is None or conversation.address_ciphertext is None:
        return None
    try:
        return open_address(key, conversation.id, conversation.address_ciphertext)
    except (TidingsError, UnicodeDecodeError):
        return None
