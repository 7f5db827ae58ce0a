"""Takes GOAWAY out of what is heard over HTTP/2: the library closes at once on one, and answers may still come behind it."""

from typing import Final

from h2.exceptions import FrameTooLargeError

_FRAME_HEADER: Final = 9
_MOST_FRAME: Final = 16384
_GOAWAY: Final = 7
_LEAST_GOAWAY: Final = 8


class Partings:
    """Those of one connection."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def take(self, data: bytes) -> tuple[bytes, list[int]]:
        """All whole frames but those; and of those the last request that each one names."""
        self._buffer += data
        kept, lasts = bytearray(), []
        while len(self._buffer) >= _FRAME_HEADER:
            length = int.from_bytes(self._buffer[:3], "big")
            if length > _MOST_FRAME:
                # Nobody was told that such a long one may come; whoever speaks HTTP/1.1 seems to send one.
                raise FrameTooLargeError
            end = _FRAME_HEADER + length
            if len(self._buffer) < end:
                break
            if self._buffer[3] == _GOAWAY and length >= _LEAST_GOAWAY:
                named = int.from_bytes(self._buffer[_FRAME_HEADER : _FRAME_HEADER + 4], "big")
                lasts.append(named & 0x7FFFFFFF)
            else:
                kept += self._buffer[:end]
            del self._buffer[:end]
        return bytes(kept), lasts
