"""`tidings template` at the keyboard: folders sent, fetched and compared, and what is refused on the way."""

import json
from pathlib import Path

import pytest

from tests.e2e.commands.conftest import Operator
from tests.support.bundles import bundle, facts
from tests.support.pictures import png
from tidings.cli.template_folder import write_folder

pytestmark = pytest.mark.xdist_group("commands")


def files(key: str, **changes: bytes) -> dict[str, bytes]:
    """A template of this name; `changes` by the last part of the path, with _ for the dot."""
    found = {path.replace("welcome", key): raw for path, raw in bundle().items()}
    for name, raw in changes.items():
        path = next(path for path in found if path.endswith("en/" + name.replace("_", ".")))
        found[path] = raw
    return found


def raised(key: str, semver: str) -> dict[str, bytes]:
    """Its `template.json` with another number."""
    return {f"templates/{key}/email/template.json": json.dumps(facts(semver)).encode()}


def test_there_and_back(operator: Operator, tmp_path: Path) -> None:
    """What is pushed and published by one is pulled by another; later changes are shown and not written over."""
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    write_folder(mine, files("back"))

    pushed = operator.gets("template", "push", "--folder", str(mine))
    published = operator.reads("template", "publish", "back/email", "--reason", "first")
    pulled = operator.reads("template", "pull", "back", "--folder", str(theirs))

    assert [t["outcome"] for t in pushed["templates"]] == ["created"]
    assert published == "published  back/email  1.0.0\n"
    assert pulled == "5 files of 1 templates; 5 written\n"
    assert operator.reads("template", "diff", "back", "--folder", str(theirs)) == ""
    assert (
        operator.reads("template", "pull", "back", "--folder", str(theirs))
        == "5 files of 1 templates; 0 written\n"
    )

    write_folder(mine, files("back", subject_txt=b"Good day {{name}}\n") | raised("back", "1.1.0"))
    operator.reads("template", "push", "--folder", str(mine))
    differs = operator.types("template", "diff", "back", "--folder", str(theirs))
    in_force = operator.reads("template", "diff", "back", "--folder", str(theirs), "--active")

    assert (differs.returncode, differs.stderr) == (1, "")
    assert "-Good day {{name}}\n+Hello {{name}}\n" in differs.stdout
    assert in_force == ""
    said = operator.is_refused("template", "pull", "back", "--folder", str(theirs))
    assert "2 files here say something else" in said
    (theirs / "templates/back/email/fr").mkdir()
    (theirs / "templates/back/email/fr/body.txt").write_text("Bonjour\n")
    forced = operator.reads("template", "pull", "back", "--folder", str(theirs), "--force")
    assert forced == "5 files of 1 templates; 2 written, 1 taken away\n"


def test_pictures_go_along(operator: Operator, tmp_path: Path) -> None:
    """They lie in the folder, and come back byte by byte."""
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    shown = b'<p>Hello {{name}} <img src="cid:logo.png" alt=""></p>\n'
    sent = files("album", body_html=shown) | {"templates/album/email/assets/logo.png": png(3_000)}
    write_folder(mine, sent)

    pushed = operator.gets("template", "push", "--folder", str(mine))
    operator.reads("template", "publish", "album/email")
    operator.reads("template", "pull", "album", "--folder", str(theirs))

    assert {line["outcome"] for line in pushed["files"]} == {"taken"}
    assert (theirs / "templates/album/email/assets/logo.png").read_bytes() == sent[
        "templates/album/email/assets/logo.png"
    ]
    assert operator.reads("template", "diff", "album", "--folder", str(mine)) == ""


def test_a_folder_that_is_refused(operator: Operator, tmp_path: Path) -> None:
    """Every bad file is named, and nothing of the folder is sent."""
    broken = files("broken", body_html=b"<p>\n\xff</p>") | {"templates/broken/email/en/notes.docx": b"x"}
    write_folder(tmp_path, broken | files("sound"))

    done = operator.types("template", "push", "--folder", str(tmp_path))

    assert done.returncode == 1
    assert (
        "templates/broken/email/en/body.html:2:1: error: is not valid UTF-8; save it as UTF-8" in done.stdout
    )
    assert "templates/broken/email/en/notes.docx: error: is not where" in done.stdout
    assert done.stderr == "tidings: nothing was sent; mend the files above first\n"
    assert "no template sound" in operator.is_refused("template", "pull", "sound", "--folder", str(tmp_path))
    assert operator.gets("template", "push", "sound", "--folder", str(tmp_path))["written"] is True


def test_faults_are_told_by_each_command(operator: Operator, tmp_path: Path) -> None:
    """Validating and a trial say them with an exit code; a push takes the draft; publishing refuses it."""
    write_folder(tmp_path, files("faulty", body_html=b"<p>Hello</p>\n<p>{{nmae}}</p>\n"))
    told = "templates/faulty/email/en/body.html:2"

    checked = operator.types("template", "validate", "--folder", str(tmp_path))
    trial = operator.types("template", "push", "--dry-run", "--folder", str(tmp_path))
    sent = operator.reads("template", "push", "--folder", str(tmp_path))
    published = operator.types("template", "publish", "faulty/email")

    assert (checked.returncode, trial.returncode) == (1, 1)
    assert told in checked.stdout
    assert told in trial.stdout
    assert "created" in sent
    assert told in sent
    assert published.returncode == 1
    assert told in published.stdout
    assert "was not published" in published.stderr


def test_previews(operator: Operator, tmp_path: Path) -> None:
    """With a sample, with variables, as JSON and as a page."""
    write_folder(tmp_path, files("seen"))
    operator.reads("template", "push", "--folder", str(tmp_path))
    page = tmp_path / "page.html"

    text = operator.reads("template", "preview", "seen/email", "--locale", "ps-AF", "--var", "name=Zahra")
    seen = operator.gets("template", "preview", "seen/email")
    operator.reads("template", "preview", "seen/email", "--save", str(page))

    assert "سلام Zahra" in text
    assert (seen["subject"], seen["locale"]) == ("Hello Laila", "en")
    assert "Hello Laila" in page.read_text(encoding="utf-8")
    both = ("template", "preview", "seen/email", "--sample", "usual", "--var", "name=x")
    assert "exclude each other" in operator.is_refused(*both)
    assert "say for which channel" in operator.is_refused("template", "preview", "seen")


def test_beginning_from_the_platforms(operator: Operator, tmp_path: Path) -> None:
    """Its files can be pulled, and pushed as one's own."""
    operator.reads("template", "pull", "otp/sms", "--platform", "--folder", str(tmp_path))

    pushed = operator.gets("template", "push", "--folder", str(tmp_path))

    assert (tmp_path / "templates/otp/sms/ps-AF/body.txt").is_file()
    assert [(t["key"], t["channel"], t["outcome"]) for t in pushed["templates"]] == [
        ("otp", "sms", "created")
    ]


def test_what_is_not_there(operator: Operator, tmp_path: Path) -> None:
    """One clear line each."""
    folder = ("--folder", str(tmp_path))

    assert "there is no template under" in operator.is_refused("template", "push", *folder)
    assert "no template nobody" in operator.is_refused("template", "pull", "nobody", *folder)
    assert "nobody" in operator.is_refused("template", "publish", "nobody/email")
    assert "must be a key" in operator.is_refused("template", "pull", "a/b/c", *folder)
