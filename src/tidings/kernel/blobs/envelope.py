"""What every object in the blob store carries inside itself, because a folder has no attributes.

    "TDB1" │ length of header (4) │ header │ content │ length of content (8) │ SHA-256 (32)

The header is JSON: the object's key, its tenant and the id of the row that owns it. The checksum covers all
that stands before it, so a cut, changed or moved object is found when it is read.
"""

import hashlib
import json
import struct
from dataclasses import dataclass

from tidings.kernel.blobs.keys import BlobKey, owner_of, shown
from tidings.kernel.errors import TidingsError

_MAGIC = b"TDB1"
_LENGTH = struct.Struct(">I")
_TAIL = struct.Struct(">Q32s")
_MAX_HEADER = 4096


class BlobError(TidingsError):
    """The blob store did not do as it was asked."""

    code = "blob"


class BlobNotFoundError(BlobError):
    """There is no such object."""

    code = "blob_not_found"


class BlobDamagedError(BlobError):
    """The object is not what was put there."""

    code = "blob_damaged"


class BlobTooLargeError(BlobError):
    """The object is larger than is allowed."""

    code = "blob_too_large"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobRef:
    """What a row keeps about an object."""

    #: Where it is.
    key: BlobKey
    #: How many bytes of content it has.
    size: int
    #: SHA-256 over header and content, in hex.
    checksum: str


class EnvelopeWriter:
    """Builds the envelope around a content that passes by."""

    def __init__(self, key: BlobKey, owner_id: str, limit: int) -> None:
        self._key = key
        self._owner_id = owner_id
        self._limit = limit
        self._size = 0
        self._digest = hashlib.sha256()

    def head(self) -> bytes:
        header = {"key": self._key, "owner": self._owner_id, "tenant": owner_of(self._key)}
        encoded = json.dumps(header, separators=(",", ":")).encode("utf-8")
        head = _MAGIC + _LENGTH.pack(len(encoded)) + encoded
        self._digest.update(head)
        return head

    def add(self, chunk: bytes) -> bytes:
        self._size += len(chunk)
        if self._size > self._limit:
            raise BlobTooLargeError(f"{shown(self._key)} is over the limit of {self._limit} bytes")
        self._digest.update(chunk)
        return chunk

    def tail(self) -> bytes:
        return _TAIL.pack(self._size, self._digest.digest())

    def ref(self) -> BlobRef:
        return BlobRef(key=self._key, size=self._size, checksum=self._digest.hexdigest())


class EnvelopeReader:
    """Takes the envelope off a content that passes by; keeps back what may be the tail."""

    def __init__(self, key: BlobKey, limit: int) -> None:
        self._key = key
        self._limit = limit
        self._held = b""
        self._size = 0
        self._digest = hashlib.sha256()
        self._opened = False
        self.owner_id = ""

    def expect(self, size: int) -> None:
        if size > self._limit + _MAX_HEADER + _TAIL.size + len(_MAGIC) + _LENGTH.size:
            raise BlobTooLargeError(f"{shown(self._key)} is over the limit of {self._limit} bytes")

    def add(self, piece: bytes) -> bytes:
        self._held += piece
        if not self._opened and not self._open():
            return b""
        ready, self._held = self._held[: -_TAIL.size], self._held[-_TAIL.size :]
        self._size += len(ready)
        self._digest.update(ready)
        return ready

    def finish(self, checksum: str | None) -> bytes:
        if not self._opened or len(self._held) != _TAIL.size:
            raise self._damaged("it is cut short")
        size, digest = _TAIL.unpack(self._held)
        if size != self._size or digest != self._digest.digest():
            raise self._damaged("its checksum does not fit")
        if checksum is not None and checksum != self._digest.hexdigest():
            raise self._damaged("it is not the object that the row names")
        return b""

    def ref(self) -> BlobRef:
        return BlobRef(key=self._key, size=self._size, checksum=self._digest.hexdigest())

    def _open(self) -> bool:
        start = len(_MAGIC) + _LENGTH.size
        if len(self._held) < start:
            return False
        length = _LENGTH.unpack_from(self._held, len(_MAGIC))[0]
        if self._held[: len(_MAGIC)] != _MAGIC or length > _MAX_HEADER:
            raise self._damaged("it has no header of ours")
        if len(self._held) < start + length:
            return False
        head, self._held = self._held[: start + length], self._held[start + length :]
        self._digest.update(head)
        try:
            header = json.loads(head[start:])
            key, tenant, self.owner_id = header["key"], header["tenant"], header["owner"]
        except (ValueError, KeyError, TypeError):
            key = tenant = None
        if key != self._key or tenant != owner_of(self._key):
            raise self._damaged("it was put at another place")
        self._opened = True
        return True

    def _damaged(self, why: str) -> BlobDamagedError:
        return BlobDamagedError(f"the object at {shown(self._key)} is damaged: {why}")
