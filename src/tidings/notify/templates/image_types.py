"""Which kind of picture bytes are, by what they hold and not by what they are called.

The whole frame of a file is walked, to its last byte: what is a picture at its beginning and something else behind
it, or tells a browser of markup, is none.
"""

import re
import struct
import zlib
from typing import Final

_PNG: Final = b"\x89PNG\r\n\x1a\n"
#: What makes a reader that guesses take the file for a page.
_MARKUP: Final = re.compile(rb"<(?:svg|script|html|!doctype|!entity)[\s>/:]", re.IGNORECASE)
#: Pixels to a side; a small file that unpacks to more fills the memory of the program that shows it.
_LONGEST_SIDE: Final = 8192
#: JPEG markers that stand alone, and those that say the size.
_LONE: Final = frozenset({0x01, *range(0xD0, 0xD8)})
_FRAMES: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


def media_type_of(content: bytes) -> str | None:
    """`image/png` and so on; None for what is no whole picture of a kind that mails can show."""
    if _MARKUP.search(content):
        return None
    try:
        if content.startswith(_PNG):
            return "image/png" if _png(content) else None
        if content.startswith(b"\xff\xd8\xff"):
            return "image/jpeg" if _jpeg(content) else None
        if content.startswith((b"GIF87a", b"GIF89a")):
            return "image/gif" if _gif(content) else None
        if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
            return "image/webp" if _webp(content) else None
    except (struct.error, IndexError):
        return None
    return None


def _fits(*sides: int) -> bool:
    return all(0 < side <= _LONGEST_SIDE for side in sides)


def _png(content: bytes) -> bool:
    at, first = len(_PNG), True
    while True:
        size, kind = struct.unpack_from(">I4s", content, at)
        end = at + 8 + int(size)
        (said,) = struct.unpack_from(">I", content, end)
        if zlib.crc32(content[at + 4 : end]) != said or (kind == b"IHDR") is not first:
            return False
        if first and not (size == 13 and _fits(*struct.unpack_from(">II", content, at + 8))):
            return False
        at, first = end + 4, False
        if kind == b"IEND":
            return at == len(content)


def _jpeg(content: bytes) -> bool:
    at, sized = 2, False
    while True:
        if content[at] != 0xFF:
            return False
        marker = content[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if marker in _LONE:
            at += 2
            continue
        (size,) = struct.unpack_from(">H", content, at + 2)
        if size < 2:
            return False
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", content, at + 5)
            sized = _fits(height, width)
        if marker == 0xDA:
            # Behind it come the pixels, whose end is the end of the file.
            return sized and at + 2 + size < len(content) and content.endswith(b"\xff\xd9")
        at += 2 + size


def _gif(content: bytes) -> bool:
    width, height, flags = struct.unpack_from("<HHB", content, 6)
    if not _fits(width, height):
        return False
    at, pictures = 13 + _colours(flags), 0
    while True:
        kind = content[at]
        if kind == 0x3B:
            return pictures > 0 and at == len(content) - 1
        if kind == 0x21:
            at += 2
        elif kind == 0x2C:
            at += 10 + _colours(content[at + 9]) + 1
            pictures += 1
        else:
            return False
        while content[at]:
            at += 1 + content[at]
        at += 1


def _colours(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _webp(content: bytes) -> bool:
    (size,) = struct.unpack_from("<I", content, 4)
    if size + 8 != len(content):
        return False
    at, kinds = 12, []
    while at < len(content):
        kind, length = struct.unpack_from("<4sI", content, at)
        kinds.append(kind)
        at += 8 + length + (length & 1)
    return at == len(content) and bool(kinds) and kinds[0] in (b"VP8 ", b"VP8L", b"VP8X")
