"""Packs files into a zip as they come: nothing is held but the piece at hand, and nothing is sought back to."""

import zipfile
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

#: A piece is handed on when it has so many bytes.
_PIECE: Final = 64 * 1024
_MODE: Final = 0o600 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedFile:
    """A file that is written while it is read."""

    name: str
    pieces: AsyncIterable[bytes]


class _Sink:
    """Where the archive is written to; it can't be told nor sought, so sizes come after each file."""

    def __init__(self) -> None:
        self._held = bytearray()

    def write(self, piece: bytes) -> int:
        self._held += piece
        return len(piece)

    def flush(self) -> None:
        """Nothing to do."""

    @property
    def full(self) -> bool:
        return len(self._held) >= _PIECE

    def take(self) -> bytes:
        taken = bytes(self._held)
        self._held.clear()
        return taken


async def zipped(files: AsyncIterable[PackedFile], *, now: datetime) -> AsyncIterator[bytes]:
    """The archive in pieces, its files in the order in which they come."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        async for file in files:
            entry = zipfile.ZipInfo(file.name, date_time=now.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = _MODE
            # How long it gets is not known yet, and a list of everything a recipient was ever sent may be long.
            with archive.open(entry, "w", force_zip64=True) as out:
                async for piece in file.pieces:
                    out.write(piece)
                    if sink.full:
                        yield sink.take()
    yield sink.take()
