"""Pictures get small and keep their looks."""

import struct
import zlib

import pytest
from tools.small_png import small_png


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, lines: list[bytes], *, colours: int, depth: int = 8) -> bytes:
    """A picture of lines that are already filtered, each behind the number of its filter."""
    header = struct.pack(">IIBBBBB", width, len(lines), depth, colours, 0, 0, 0)
    body = zlib.compress(b"".join(lines))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def points(picture: bytes) -> list[bytes]:
    """The colours of a picture with a palette, point by point."""
    parts, at = {}, 8
    while at < len(picture):
        (length,) = struct.unpack_from(">I", picture, at)
        parts[picture[at + 4 : at + 8]] = picture[at + 8 : at + 8 + length]
        at += 12 + length
    width, height = struct.unpack_from(">II", parts[b"IHDR"])
    raw, palette = zlib.decompress(parts[b"IDAT"]), parts[b"PLTE"]
    return [
        palette[3 * raw[row * (width + 1) + 1 + column] :][:3]
        for row in range(height)
        for column in range(width)
    ]


def test_every_filter_is_undone() -> None:
    """Each line is the same three points, said in each of the five ways."""
    plain = bytes([10, 20, 30, 50, 60, 70, 50, 60, 70])
    lines = [
        b"\0" + plain,
        b"\1" + bytes([10, 20, 30, 40, 40, 40, 0, 0, 0]),
        b"\2" + bytes(9),
        b"\3" + bytes([5, 10, 15, 20, 20, 20, 0, 0, 0]),
        b"\4" + bytes(9),
    ]

    small = small_png(png(3, lines, colours=2))

    assert points(small) == [plain[at : at + 3] for at in (0, 3, 6)] * 5


def test_what_shines_through_is_left_out() -> None:
    small = small_png(png(2, [b"\0" + bytes([1, 2, 3, 255, 200, 100, 50, 255])], colours=6))

    assert points(small) == [bytes([1, 2, 3]), bytes([200, 100, 50])]


def test_colours_that_look_alike_become_one() -> None:
    """4,096 of them, as the edges of letters have."""
    lines = [b"\0" + b"".join(bytes([red, green, 128]) for red in range(256)) for green in range(16)]

    shown = points(small_png(png(256, lines, colours=2)))

    wanted = [line[at : at + 3] for line in lines for at in range(1, 769, 3)]
    assert len(set(shown)) <= 256
    assert all(
        abs(a - b) < 8 for one, two in zip(shown, wanted, strict=True) for a, b in zip(one, two, strict=True)
    )


def test_other_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="eight bits"):
        small_png(png(1, [b"\0\0"], colours=0))
