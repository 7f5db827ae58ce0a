"""Makes a picture of few colours small: at most 256 of them, one byte each.

Chromium writes three or four bytes for every point and compresses in haste. Mails are flat areas and letters, so
that the commonest colours and, for the rest, the nearest of them look the same.
"""

import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Final

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
#: By the PNG colour type: how many bytes a point has.
_BYTES: Final = {2: 3, 6: 4}
#: Colours that differ in less than this look alike.
_STEP: Final = 8


def small_png(png: bytes) -> bytes:
    """The same picture, with a palette."""
    width, height, rows = _points(png)
    points = [row[at : at + 3] for row, size in rows for at in range(0, len(row), size)]
    counts = Counter(points)
    palette = _palette(counts)
    nearest = {colour: _nearest(colour, palette) for colour in counts}
    flat = bytes(nearest[point] for point in points)
    lines = b"".join(b"\0" + flat[at : at + width] for at in range(0, width * height, width))
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return (
        _SIGNATURE
        + _chunk(b"IHDR", header)
        + _chunk(b"PLTE", b"".join(palette))
        + _chunk(b"IDAT", zlib.compress(lines, 9))
        + _chunk(b"IEND", b"")
    )


def _palette(counts: Counter[bytes]) -> list[bytes]:
    """The commonest colour of each neighbourhood, the commonest neighbourhoods first."""
    areas: dict[bytes, Counter[bytes]] = {}
    for colour, count in counts.items():
        areas.setdefault(bytes(part // _STEP for part in colour), Counter())[colour] = count
    common = sorted(areas.values(), key=lambda area: -area.total())[:256]
    return [area.most_common(1)[0][0] for area in common]


def _nearest(colour: bytes, palette: list[bytes]) -> int:
    red, green, blue = colour
    return min(
        range(len(palette)),
        key=lambda at: (
            (palette[at][0] - red) ** 2 + (palette[at][1] - green) ** 2 + (palette[at][2] - blue) ** 2
        ),
    )


def _points(png: bytes) -> tuple[int, int, Iterator[tuple[bytes, int]]]:
    at, packed, width, height, size = len(_SIGNATURE), b"", 0, 0, 3
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack_from(">IIBB", data)
            if depth != 8 or colours not in _BYTES:
                raise ValueError("only pictures with eight bits and true colours")
            size = _BYTES[colours]
        elif kind == b"IDAT":
            packed += data
        at += 12 + length
    return width, height, _unfiltered(zlib.decompress(packed), width * size, size)


def _unfiltered(raw: bytes, length: int, size: int) -> Iterator[tuple[bytes, int]]:
    """The rows as they were before each was written as its difference from its neighbours."""
    above = bytearray(length)
    for start in range(0, len(raw), length + 1):
        kind, row = raw[start], bytearray(raw[start + 1 : start + 1 + length])
        match kind:
            case 1:
                for at in range(size, length):
                    row[at] = (row[at] + row[at - size]) & 255
            case 2:
                row = bytearray((a + b) & 255 for a, b in zip(row, above, strict=True))
            case 3:
                for at in range(length):
                    left = row[at - size] if at >= size else 0
                    row[at] = (row[at] + (left + above[at]) // 2) & 255
            case 4:
                for at in range(length):
                    left, corner = (row[at - size], above[at - size]) if at >= size else (0, 0)
                    row[at] = (row[at] + _paeth(left, above[at], corner)) & 255
        yield bytes(row), size
        above = row


def _paeth(left: int, up: int, corner: int) -> int:
    to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    if to_left <= to_up and to_left <= to_corner:
        return left
    return up if to_up <= to_corner else corner


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
