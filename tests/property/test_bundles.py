"""Zips of templates, whatever is in them: never an exception, never a file that could lead elsewhere."""

import warnings

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.bundles import HOME, bundle, entry, zipped
from tidings.notify.templates.bundle.archive import ArchiveLimits, name_fault, unpack
from tidings.notify.templates.bundle.read import read_bundle
from tidings.notify.templates.bundle.texts import from_file, to_file
from tidings.notify.templates.bundle.write import pack

SOUND = zipped(bundle())
_names = st.text(st.characters(codec="utf-8"), max_size=30) | st.sampled_from(
    ["../x", "/x", "a/../../x", "C:\\x", "templates/x/", "a\x00b", HOME, f"{HOME}/en/body.html", "."]
)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_zip_that_was_damaged(data: st.DataObject) -> None:
    """Bytes changed, cut out or put in: it is read as it was, or told what is wrong."""
    at = data.draw(st.integers(0, len(SOUND)))
    gone = data.draw(st.integers(0, 12))
    damaged = SOUND[:at] + data.draw(st.binary(max_size=12)) + SOUND[at + gone :]

    found = unpack(damaged)

    assert not found.files or not found.findings
    assert all(name_fault(path) is None for path in found.files)
    assert sum(map(len, found.files.values())) <= ArchiveLimits().bytes_in_all
    read_bundle(found.files)


@given(st.lists(st.tuples(_names, st.binary(max_size=50), st.integers(0, 0o177777)), max_size=6))
@settings(max_examples=200, deadline=None)
def test_names_and_kinds_of_all_sorts(entries: list[tuple[str, bytes, int]]) -> None:
    """What comes out is a set of plain files with plain names, or nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        packed = zipped([(entry(name, mode=mode), content) for name, content, mode in entries if name])

    found = unpack(packed)

    assert not found.files or not found.findings
    assert all(name_fault(path) is None for path in found.files)
    assert all(finding.file.isprintable() for finding in found.findings)
    assert len({path.lower() for path in found.files}) == len(found.files)


@given(st.dictionaries(st.sampled_from(sorted(bundle())), st.binary(max_size=80), min_size=1))
def test_files_with_anything_in_them(changed: dict[str, bytes]) -> None:
    """Each is read, or told about."""
    read = read_bundle(bundle() | changed)

    assert read.templates or read.findings


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00\r")))
def test_every_text_survives(text: str) -> None:
    """As a file and in a zip."""
    plain = text.lstrip("\ufeff")

    assert from_file(unpack(pack({"x": to_file(plain)})).files["x"]) == plain
