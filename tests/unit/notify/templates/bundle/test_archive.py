"""Zips from outside: what is refused, and that everything wrong is told at once."""

import io
import struct
import tracemalloc
import warnings
import zipfile
import zlib

import pytest

from tests.support.bundles import bundle, entry, zipped
from tidings.notify.templates.bundle.archive import ArchiveLimits, unpack

SMALL = ArchiveLimits(files=5, bytes_each=1000, bytes_in_all=2000, ratio=10, ratio_from=100)


def told(packed: bytes, limits: ArchiveLimits | None = None) -> list[tuple[str, str]]:
    """File and fault of every finding; nothing is unpacked where there is one."""
    found = unpack(packed, limits)
    assert not found.findings or not found.files
    assert all(finding.how for finding in found.findings)
    return [(finding.file, finding.what) for finding in found.findings]


def test_a_sound_zip() -> None:
    """It comes out as it went in."""
    assert unpack(zipped(bundle())).files == bundle()
    assert told(zipped(bundle())) == []


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("../evil.txt", "leads out of the zip"),
        ("templates/../../evil.txt", "leads out of the zip"),
        ("/etc/passwd", "has an absolute path"),
        ("//server/share", "has an absolute path"),
        ("C:/windows/x", "has an absolute path"),
        ("templates\\..\\x", "has a backslash in its path"),
        ("templates//x", "has an empty or a dot folder in its path"),
        ("./templates/x", "has an empty or a dot folder in its path"),
        ("templates/\u202egpj.exe", "has letters in its name that not every system writes alike"),
        ("templates/a\x1b[2Jb", "has letters in its name that not every system writes alike"),
        ("a" * 401, "has a name that is empty or too long"),
        ("templates/con/email/x", "is named con, which no file can be called on Windows"),
        ("templates/a/email/partials/NUL.hbs", "is named NUL.hbs, which no file can be called on Windows"),
    ],
)
def test_names_that_lead_elsewhere(name: str, what: str) -> None:
    """Each is refused, and shown without what a terminal obeys."""
    packed = zipped([(entry(name), b"x"), ("templates/fine.txt", b"x")])

    found = told(packed)

    assert [fault for _, fault in found] == [what]
    assert found[0][0].isprintable()


def test_a_name_that_ends_at_a_zero() -> None:
    """What stands behind the zero counts too."""
    packed = zipped({"templates/a.txtXsh": b"x"}).replace(b"a.txtXsh", b"a.txt\x00sh")

    assert [what for _, what in told(packed)] == [
        "has letters in its name that not every system writes alike"
    ]


@pytest.mark.parametrize(
    ("mode", "what"),
    [
        (0o120777, "is a link"),
        (0o010644, "is neither a file nor a folder"),
        (0o020644, "is neither a file nor a folder"),
    ],
)
def test_links_and_devices(mode: int, what: str) -> None:
    """Only files and folders."""
    assert told(zipped([(entry("templates/x", mode=mode), b"/etc/passwd")])) == [("templates/x", what)]


def test_names_that_are_there_twice() -> None:
    """Also where they differ by case only, or one is the other's folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        packed = zipped([("a/x", b"1"), ("a/x", b"2"), ("A/X", b"3"), ("a", b"4")])

    found = dict(told(packed))

    assert found == {
        "a/x": "is there twice",
        "A/X": "is there beside a/x, which is the same but for case",
        "a": "is a file and a folder",
    }


def test_bombs_by_count_size_and_ratio() -> None:
    """Each bound is its own finding."""
    assert told(zipped({f"f{n}": b"" for n in range(6)}), SMALL) == [("", "has more than 5 files")]
    assert told(zipped({f"f{n}": b"" for n in range(11)}), SMALL) == [("", "has more than 5 files")]
    assert told(zipped({"big": bytes(range(256)) * 4}), SMALL) == [("big", "has more than 1000 bytes")]
    assert told(zipped({f"f{n}": bytes(range(250)) * 3 for n in range(3)}), SMALL) == [
        ("", "unpacks to more than 2000 bytes")
    ]
    assert told(zipped({"zeros": b"0" * 900}), SMALL) == [
        ("zeros", "unpacks to more than 10 times its packed size")
    ]


def test_a_size_that_lies() -> None:
    """No more than the declared size is ever unpacked, and the lie is told."""
    honest = zipped({"x": b"A" * 50_000})
    lying = honest.replace(struct.pack("<I", 50_000), struct.pack("<I", 10))

    assert told(lying) == [("x", "can't be unpacked")]


def test_a_bomb_behind_a_size_that_lies() -> None:
    """Its first bytes are what the table says, sum included; nothing of the rest is ever unpacked."""
    said, packer = b"{}" * 50, zlib.compressobj(9, zlib.DEFLATED, -15)
    content = packer.compress(said + bytes(64 * 1024 * 1024)) + packer.flush()
    whole = zipped({"x": said})
    with zipfile.ZipFile(io.BytesIO(whole)) as opened:
        entry = opened.getinfo("x")
    facts = struct.pack("<LL", entry.CRC, len(content)) + struct.pack("<L", len(said))
    local = (
        struct.pack("<4s5H", b"PK\3\4", 20, 0, 8, 0, 0) + facts + struct.pack("<2H", 1, 0) + b"x" + content
    )
    listed = struct.pack("<4s6H", b"PK\1\2", 20, 20, 0, 8, 0, 0) + facts
    listed += struct.pack("<5H2L", 1, 0, 0, 0, 0, 0, 0) + b"x"
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(listed), len(local), 0)
    tracemalloc.start()
    try:
        assert told(local + listed + end) == [("x", "is packed into more than it says it holds")]
        assert tracemalloc.get_traced_memory()[1] < 8 * 1024 * 1024
    finally:
        tracemalloc.stop()


def test_entries_that_share_their_bytes() -> None:
    """The table of contents names the same bytes many times."""
    packed = zipped({"x": b"A" * 100, "y": b"B" * 100})
    with zipfile.ZipFile(io.BytesIO(packed)) as opened:
        second = opened.getinfo("y").header_offset
    end = packed.rindex(struct.pack("<I", second) + b"y")
    shared = packed[:end] + struct.pack("<I", 0) + packed[end + 4 :]

    assert ("y", "shares its bytes with another file") in told(shared) or (
        "x",
        "shares its bytes with another file",
    ) in told(shared)


def test_what_is_no_zip() -> None:
    """Nothing, something else, the half of one, one with something before it, a damaged one."""
    whole = zipped(bundle())

    assert [what for _, what in told(b"")] == ["is not a zip"]
    assert [what for _, what in told(b"%PDF-1.7")] == ["is not a zip"]
    assert [what for _, what in told(b"#!/bin/sh\n" + whole)] == ["is not a zip"]
    assert [what for _, what in told(whole[: len(whole) // 2])] == ["is a broken zip"]
    damaged = bytearray(whole)
    damaged[80:90] = bytes(10)
    assert [what for _, what in told(bytes(damaged))] == ["can't be unpacked"]


def test_encrypted_and_strangely_packed() -> None:
    """Neither is read."""
    plain = zipped({"x": b"hello"})
    central = plain.index(b"PK\x01\x02")
    encrypted = bytearray(plain)
    encrypted[central + 8] |= 1
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_LZMA) as packed:
        packed.writestr("x", b"hello")

    assert told(bytes(encrypted)) == [("x", "is encrypted")]
    assert told(into.getvalue()) == [("x", "is packed in a way that is not read here")]


def test_a_name_that_is_no_utf8() -> None:
    """It says it is UTF-8, and is not."""
    packed = zipped({"templates/\u00e9": b"x"}).replace("\u00e9".encode(), b"\xff\xfe")

    assert [what for _, what in told(packed)] == ["has a file whose name is not valid UTF-8"]


def test_what_file_managers_leave_behind() -> None:
    """It is passed over, and said."""
    found = unpack(zipped({**bundle(), "__MACOSX/._x": b"", "templates/.DS_Store": b""}))

    assert found.files == bundle()
    assert sorted(found.ignored) == ["__MACOSX/._x", "templates/.DS_Store"]


def test_all_that_is_wrong_is_told_at_once() -> None:
    """One report, not one fault at a time."""
    packed = zipped([("../a", b"x"), (entry("b", mode=0o120777), b"x"), ("/c", b"x"), ("fine", b"x")])

    assert [file for file, _ in told(packed)] == ["../a", "b", "/c"]
