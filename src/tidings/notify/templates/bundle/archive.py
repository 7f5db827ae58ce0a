"""Opens a zip from outside: every entry is looked at before a byte of it is unpacked, and all that is wrong is told.

Nothing is written to a disk here, so a name can't lead anywhere; it is refused all the same, because those who
unpack what we export would trust it.
"""

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tidings.contracts.templates import TemplateFinding
from tidings.notify.templates.bundle.findings import error
from tidings.notify.templates.device_names import device_fault

#: How many bytes a zip may have as it is sent.
MOST_PACKED_BYTES: Final = 8 * 1024 * 1024

_CENTRAL: Final = b"PK\x01\x02"
_BEGINNINGS: Final = (b"PK\x03\x04", b"PK\x05\x06")
#: What packing adds to bytes that can't be packed; an entry with more lies about its size.
_GROWTH: Final = 1024
_ENCRYPTED: Final = 0x1
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LONGEST_NAME: Final = 400
#: What the library raises about zips that are none.
_BROKEN: Final = (
    zipfile.BadZipFile,
    struct.error,
    NotImplementedError,
    ValueError,
    EOFError,
    OSError,
    OverflowError,
)
#: What file managers leave in a zip without being asked.
_LEFT_BEHIND: Final = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """How much may be in a zip."""

    files: int = 2_000
    #: Of one file.
    bytes_each: int = 1024 * 1024
    bytes_in_all: int = 32 * 1024 * 1024
    #: How many times as large as packed a file may become.
    ratio: int = 100
    #: A file below this is no bomb, whatever its ratio.
    ratio_from: int = 64 * 1024
    #: Whether names may be there that Windows keeps for devices.
    devices: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackedFiles:
    """The files by their paths; empty where anything is wrong."""

    files: Mapping[str, bytes]
    findings: Sequence[TemplateFinding]
    #: What was passed over: a file manager's leavings.
    ignored: Sequence[str] = ()


def unpack(packed: bytes, limits: ArchiveLimits | None = None) -> UnpackedFiles:
    """What is in the zip, or everything that is wrong with it."""
    bounds = limits or ArchiveLimits()
    opened = _open(packed, bounds)
    if isinstance(opened, TemplateFinding):
        return UnpackedFiles(files={}, findings=[opened])
    entries = [entry for entry in opened.infolist() if not _left_behind(entry.orig_filename)]
    ignored = [e.orig_filename for e in opened.infolist() if _left_behind(e.orig_filename)]
    found = [*_crowd_faults(entries, bounds), *(fault for e in entries for fault in _faults(e, bounds))]
    found += [*_twins(entries), *_overlaps(opened.infolist())]
    if found:
        return UnpackedFiles(files={}, findings=found)
    files: dict[str, bytes] = {}
    for entry in entries:
        if _is_folder(entry):
            continue
        try:
            # Asked for a number of bytes it unpacks no more; asked for all, it unpacks all and then cuts.
            with opened.open(entry) as packed_file:
                files[entry.orig_filename] = packed_file.read(entry.file_size + 1)
        except (*_BROKEN, zlib.error):
            found.append(
                error(entry.orig_filename, "can't be unpacked", "make the zip again; this one is broken")
            )
    return UnpackedFiles(files={} if found else files, findings=found, ignored=ignored)


def _open(packed: bytes, limits: ArchiveLimits) -> zipfile.ZipFile | TemplateFinding:
    if not packed.startswith(_BEGINNINGS):
        return error(
            "", "is not a zip", "send a zip of the folder that holds templates/, layouts/ and assets/"
        )
    if packed.count(_CENTRAL) > limits.files * 2:
        # Counted before the table of contents is read: the table alone can fill a memory.
        return _too_many(limits)
    try:
        return zipfile.ZipFile(io.BytesIO(packed))
    except UnicodeDecodeError:
        return error(
            "", "has a file whose name is not valid UTF-8", "name files with ASCII letters, digits and ._-"
        )
    except _BROKEN:
        return error("", "is a broken zip", "make it again; it was cut off or changed on its way")


def _is_folder(entry: zipfile.ZipInfo) -> bool:
    return entry.orig_filename.endswith("/")


def _left_behind(name: str) -> bool:
    return name.startswith(_LEFT_BEHIND[0]) or name.rpartition("/")[2] in _LEFT_BEHIND[1:]


def _too_many(limits: ArchiveLimits) -> TemplateFinding:
    return error("", f"has more than {limits.files} files", "send the templates in several zips")


def _crowd_faults(entries: Sequence[zipfile.ZipInfo], limits: ArchiveLimits) -> Iterator[TemplateFinding]:
    if len(entries) > limits.files:
        yield _too_many(limits)
    if sum(entry.file_size for entry in entries) > limits.bytes_in_all:
        yield error(
            "", f"unpacks to more than {limits.bytes_in_all} bytes", "send the templates in several zips"
        )


def _faults(entry: zipfile.ZipInfo, limits: ArchiveLimits) -> Iterator[TemplateFinding]:
    # Not `filename`: that one is cut off at a zero character, and turns some separators.
    name = entry.orig_filename
    fault = name_fault(name.removesuffix("/") if _is_folder(entry) else name)
    if fault is None and not limits.devices:
        fault = device_fault(name)
    if fault is not None:
        yield error(name, *fault)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        yield error(name, "is a link", "put the file itself in its place")
    elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        yield error(name, "is neither a file nor a folder", "leave it out")
    if entry.flag_bits & _ENCRYPTED:
        yield error(name, "is encrypted", "make the zip without a password")
    elif entry.compress_type not in _METHODS:
        yield error(name, "is packed in a way that is not read here", "make the zip with deflate")
    if _is_folder(entry) and entry.file_size:
        yield error(name, "is a folder with content of its own", "make the zip again")
    if entry.compress_size > entry.file_size + _GROWTH:
        yield error(name, "is packed into more than it says it holds", "make the zip again")
    if entry.file_size > limits.bytes_each:
        yield error(name, f"has more than {limits.bytes_each} bytes", "make it smaller")
    elif entry.file_size > max(limits.ratio_from, entry.compress_size * limits.ratio):
        yield error(
            name,
            f"unpacks to more than {limits.ratio} times its packed size",
            "write it out less repetitively",
        )


def name_fault(name: str) -> tuple[str, str] | None:
    """What is wrong with a path inside a zip, and how to mend it; None where nothing is."""
    if not name or len(name) > _LONGEST_NAME:
        return "has a name that is empty or too long", f"use at most {_LONGEST_NAME} characters"
    if name.startswith("/") or name[1:2] == ":":
        return "has an absolute path", "pack the folder so that paths begin with templates/"
    if "\\" in name:
        return "has a backslash in its path", "pack with / between folders"
    parts = name.split("/")
    if ".." in parts:
        return "leads out of the zip", "take the .. out of its path"
    if "" in parts or "." in parts:
        return "has an empty or a dot folder in its path", "make the zip again"
    if not name.isascii() or not name.isprintable():
        return (
            "has letters in its name that not every system writes alike",
            "use ASCII letters, digits and ._-",
        )
    return None


def _twins(entries: Sequence[zipfile.ZipInfo]) -> Iterator[TemplateFinding]:
    """Names that are one and the same file on some system: equal, or equal but for the case."""
    seen: dict[str, str] = {}
    folders = {part for entry in entries for part in _folders(entry.orig_filename.lower())}
    for entry in entries:
        name = entry.orig_filename
        lowered = name.lower()
        if _is_folder(entry):
            continue
        if lowered in seen:
            other = (
                "twice"
                if seen[lowered] == name
                else f"beside {seen[lowered]}, which is the same but for case"
            )
            yield error(name, f"is there {other}", "leave one of them out")
        elif lowered in folders:
            yield error(name, "is a file and a folder", "leave one of them out")
        seen.setdefault(lowered, name)


def _folders(name: str) -> Iterator[str]:
    parts = name.split("/")
    return ("/".join(parts[:depth]) for depth in range(1, len(parts)))


def _overlaps(entries: Sequence[zipfile.ZipInfo]) -> Iterator[TemplateFinding]:
    """Entries that share bytes: how a small zip says a great deal."""
    for one, other in pairwise(sorted(entries, key=lambda entry: entry.header_offset)):
        if one.header_offset + one.compress_size >= other.header_offset:
            yield error(other.orig_filename, "shares its bytes with another file", "make the zip again")
