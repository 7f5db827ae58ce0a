"""Folders of templates: what is sent of them, what is written into them, and how they differ."""

from pathlib import Path

import pytest

from tests.support.bundles import HOME, bundle
from tidings.cli.failures import CommandError
from tidings.cli.template_folder import (
    left_over,
    names_of,
    packed_folder,
    read_folder,
    write_folder,
)
from tidings.cli.template_format import differences, finding_lines
from tidings.notify.templates.bundle.archive import unpack


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Only what differs is written, and nothing else is left lying about."""
    folder = tmp_path / "mine"

    assert write_folder(folder, bundle()) == 5
    assert write_folder(folder, bundle()) == 0
    assert read_folder(folder) == bundle()
    assert unpack(packed_folder(folder, [])).files == bundle()


def test_pictures_are_files_like_others(tmp_path: Path) -> None:
    """Byte by byte; a difference says that there is one, and prints nothing of them."""
    files = bundle() | {f"{HOME}/assets/logo.png": bytes(range(256))}
    write_folder(tmp_path, files)

    assert read_folder(tmp_path) == files
    assert unpack(packed_folder(tmp_path, ["welcome/email"])).files == files
    told = [line.plain for line in differences(files, files | {f"{HOME}/assets/logo.png": b"\x00"})]
    assert told[0] == f"--- server/{HOME}/assets/logo.png"
    assert told[-2].startswith("-256 bytes, sha256 ")
    assert told[-1].startswith("+1 bytes, sha256 ")


def test_what_is_no_part_of_it(tmp_path: Path) -> None:
    """What lies beside it, what begins with a dot, and what editors leave."""
    write_folder(tmp_path, bundle())
    for path in ("README.md", "templates/.gitkeep", f"{HOME}/en/body.html~", "templates/.git/config"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("x")

    assert read_folder(tmp_path) == bundle()


def test_links_are_neither_followed_nor_written_through(tmp_path: Path) -> None:
    """A file elsewhere is not sent, and none is changed."""
    folder, elsewhere = tmp_path / "mine", tmp_path / "elsewhere"
    write_folder(folder, bundle())
    elsewhere.mkdir()
    (folder / HOME / "fr").symlink_to(elsewhere)

    with pytest.raises(CommandError, match="is a link"):
        read_folder(folder)
    with pytest.raises(CommandError, match="leads out"):
        write_folder(folder, {f"{HOME}/fr/body.txt": b"x"})
    with pytest.raises(CommandError, match="leads out"):
        write_folder(folder, {"../outside.txt": b"x"})
    assert list(elsewhere.iterdir()) == []


def test_names(tmp_path: Path) -> None:
    """A key, or key and channel; what is not here is said."""
    more = bundle() | {path.replace("welcome", "bye"): raw for path, raw in bundle().items()}
    write_folder(tmp_path, more)

    assert unpack(packed_folder(tmp_path, ["welcome"])).files == bundle()
    assert unpack(packed_folder(tmp_path, ["welcome/email", "bye"])).files == more
    for words, said in (
        (["nobody"], "there is no"),
        (["a/b/c"], "must be a key"),
        (["welcome/sms"], "there is no"),
    ):
        with pytest.raises(CommandError, match=said):
            packed_folder(tmp_path, words)
    with pytest.raises(CommandError, match="say for which channel"):
        names_of(["welcome"])[0].one_channel()


def test_an_empty_folder(tmp_path: Path) -> None:
    """It says where templates should be."""
    with pytest.raises(CommandError, match="there is no template under"):
        packed_folder(tmp_path, [])
    with pytest.raises(CommandError, match="there is no folder"):
        packed_folder(tmp_path / "none", [])


def test_files_that_the_server_no_longer_has() -> None:
    """Of the templates that were fetched, and of no others."""
    here = [*bundle(), f"{HOME}/fr/body.txt", "templates/other/sms/en/body.txt", "layouts/x.hbs"]

    assert left_over(here, bundle()) == [f"{HOME}/fr/body.txt"]


def test_differences() -> None:
    """As diff says them; the order of names in template.json is none."""
    there, here = bundle(), bundle()
    here[f"{HOME}/en/subject.txt"] = b"Good day \x1b[2J{{name}}\n"
    here[f"{HOME}/fr/body.txt"] = b"Bonjour\n"
    del here[f"{HOME}/ps-AF/body.html"]
    here[f"{HOME}/template.json"] = there[f"{HOME}/template.json"].replace(b", ", b",\r\n   ")

    lines = [line.plain for line in differences(there, here)]

    assert lines[:5] == [
        f"--- server/{HOME}/en/subject.txt",
        f"+++ here/{HOME}/en/subject.txt",
        "@@ -1 +1 @@",
        "-Hello {{name}}",
        "+Good day ?[2J{{name}}",
    ]
    assert "--- /dev/null" in lines
    assert "+++ /dev/null" in lines
    assert not any("template.json" in line for line in lines)
    assert list(differences(there, there)) == []


def test_findings_lead_editors_there() -> None:
    """file:line:column, and nothing that a terminal obeys."""
    found = {
        "severity": "error",
        "file": "a/b.html",
        "line": 3,
        "column": 5,
        "what": "is\x1b wrong",
        "how": "mend it",
    }

    assert [line.plain for line in finding_lines([found])] == ["a/b.html:3:5: error: is? wrong; mend it"]
