"""Seals what operators and models write in their own words, under a key of the tenant: it may hold a guest's name or number."""

from collections.abc import Mapping
from typing import Final

from tidings.kernel.db import TenantTx
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring

#: The key of a tenant that seals them.
SEALED_FOR: Final = "_tenant/backoffice"


class SealedWords:
    """Seals and opens words; each box is good for one row and one column alone."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    async def seal(self, tx: TenantTx, column: str, words: Mapping[str, str]) -> dict[str, bytes]:
        """Words by the ids of their rows, each in a box; `column` is where they will stand: `ai_decision_log.provenance`."""
        if not words:
            return {}
        key = await self._keyring.data_key(tx, SEALED_FOR)
        return {row_id: key.seal(text.encode(), _purpose(column, row_id)) for row_id, text in words.items()}

    async def open(self, tx: TenantTx, column: str, boxes: Mapping[str, bytes | None]) -> dict[str, str]:
        """Words by the ids of their rows; what is empty, or can't be read any more, is left out."""
        filled = {row_id: box for row_id, box in boxes.items() if box is not None}
        keys = await self._keyring.data_keys(tx, [SEALED_FOR], create=False) if filled else {}
        opened: dict[str, str] = {}
        for row_id, box in filled.items():
            try:
                opened[row_id] = keys[SEALED_FOR].unseal(box, _purpose(column, row_id)).decode()
            except (KeyError, UnreadableError, DestroyedKeyError):
                continue
        return opened


def _purpose(column: str, row_id: str) -> str:
    return f"{column}:{row_id}"
