"""Small pictures, sound and hostile."""

import os
import struct
import zlib


def png(extra: int = 0, *, width: int = 1, height: int = 1) -> bytes:
    """A PNG; with `extra` bytes of noise in a chunk that nobody shows."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    noise = chunk(b"teSt", os.urandom(extra)) if extra else b""
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (chunk(b"IHDR", head), noise, chunk(b"IDAT", zlib.compress(b"\0\x80")), chunk(b"IEND", b""))
    )


def chunk(kind: bytes, content: bytes) -> bytes:
    """One chunk of a PNG."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


GIF = (
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00"
    b"\x21\xf9\x04\x00\x00\x00\x00\x00\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3b"
)
JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
    b"\xff\xc0\x00\x0b\x08\x00\x01\x00\x01\x01\x01\x11\x00"
    b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x7f\xff\xd9"
)
WEBP = b"RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'


def gradient(side: int) -> bytes:
    """A square PNG that looks different everywhere."""
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    step = 255 // side
    rows = b"".join(
        b"\0" + b"".join(bytes((x * step, y * step, 160)) for x in range(side)) for y in range(side)
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    )
