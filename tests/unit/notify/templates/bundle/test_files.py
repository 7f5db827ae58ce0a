"""Files to versions and back: nothing is lost, and every wrong file is told."""

from typing import Any

import pytest

from tests.support.bundles import HOME, bundle, zipped
from tidings.contracts.templates import TemplateFinding
from tidings.notify.templates.bundle.archive import unpack
from tidings.notify.templates.bundle.read import read_bundle
from tidings.notify.templates.bundle.texts import from_file, to_file
from tidings.notify.templates.bundle.write import pack


def told(files: dict[str, bytes]) -> list[tuple[str, str]]:
    """File and fault of every finding."""
    return [(found.file.removeprefix(f"{HOME}/"), found.what) for found in read_bundle(files).findings]


def only(files: dict[str, bytes]) -> TemplateFinding:
    """The one thing that is wrong."""
    (found,) = read_bundle(files).findings
    return found


def test_a_template_in_files() -> None:
    """All that a version can say has its place."""
    more: dict[str, Any] = {
        "locales": {"ps-AF": {"direction": "rtl", "whatsapp": {"name": "hello", "language": "ps"}}},
        "fallback_chain": ["fa-AF"],
        "template_fallback_chain": ["fr"],
        "layout": "plain",
    }
    files = bundle(**more) | {
        f"{HOME}/en/preheader.txt": b"Look\n",
        f"{HOME}/en/text.txt": b"Hello\n\n",
        f"{HOME}/en/strings.json": b'{"greeting": "Hello"}',
        f"{HOME}/partials/footer.hbs": b"bye\n",
        "layouts/plain.hbs": b"<div>{{> body}}</div>\n",
    }

    read = read_bundle(files)

    assert read.findings == []
    assert read.layouts == {"plain": "<div>{{> body}}</div>"}
    (template,) = read.templates
    wish = template.spec
    assert (template.key, template.channel, str(wish.semver)) == ("welcome", "email", "1.0.0")
    assert wish.locales["en"].preheader == "Look"
    assert wish.locales["en"].text == "Hello\n"
    assert wish.locales["ps-AF"].direction == "rtl"
    assert wish.locales["ps-AF"].whatsapp is not None
    assert wish.strings == {"en": {"greeting": "Hello"}}
    assert wish.partials == {"footer": "bye"}
    assert (wish.layout, wish.fallback_chain) == ("plain", ("fa-AF",))


@pytest.mark.parametrize("text", ["a", "a\n", "\na\n\n", "", "سلام"])
def test_a_text_comes_back_as_it_was(text: str) -> None:
    """The last line feed is the file's."""
    assert from_file(to_file(text)) == text


def test_what_windows_does_to_files() -> None:
    """A mark at the beginning and two characters at the end of a line mean nothing."""
    assert from_file(b"\xef\xbb\xbfone\r\ntwo\r\n") == "one\ntwo"


def test_bad_encodings() -> None:
    """With line and column, and no second complaint about what is not there."""
    found = only(bundle() | {f"{HOME}/ps-AF/body.html": b"<p>\nsalam \xe9</p>"})

    assert (found.file, found.line, found.column) == (f"{HOME}/ps-AF/body.html", 2, 7)
    assert (found.what, found.how) == ("is not valid UTF-8", "save it as UTF-8")
    assert told(bundle() | {f"{HOME}/en/subject.txt": "Hello".encode("utf-16")}) == [
        ("en/subject.txt", "is not valid UTF-8")
    ]
    assert told(bundle() | {f"{HOME}/en/subject.txt": b"Hel\x00lo"}) == [
        ("en/subject.txt", "holds a zero character")
    ]


def test_broken_json() -> None:
    """Where it breaks, and what is twice in it."""
    found = only(bundle() | {f"{HOME}/template.json": b'{\n  "semver": }'})

    assert (found.what, found.line, found.column) == ("is not valid JSON", 2, 13)
    twice = b'{"semver": "1.0.0", "semver": "2.0.0", "variables_schema": {}}'
    assert told(bundle() | {f"{HOME}/template.json": twice}) == [
        ("template.json", "semver is not acceptable")
    ]
    assert told(bundle() | {f"{HOME}/en/strings.json": b'{"a": 5}'}) == [
        ("en/strings.json", "a is not acceptable")
    ]


def test_what_is_missing_or_misplaced() -> None:
    """Each is one finding."""
    without = {path: raw for path, raw in bundle().items() if not path.endswith("template.json")}
    assert told(without) == [("template.json", "is missing")]
    assert told({**bundle(), "README.md": b"x"}) == [
        ("README.md", "is not where anything of a template belongs")
    ]
    assert told({**bundle(), f"{HOME}/en/body.exe": b"x"}) == [
        ("en/body.exe", "is not where anything of a template belongs")
    ]
    assert told({**bundle(), f"{HOME}/fr/subject.txt": b"x"}) == [("fr", "has no body")]
    assert told({**bundle(), f"{HOME}/en/body.md": b"x"}) == [
        ("en/body.md", "is a second body of its locale")
    ]
    assert told({}) == [("", "has no template in it")]
    assert told({"templates/Welcome/email/template.json": b"{}"}) == [
        ("templates/Welcome/email", "is not named after a key")
    ]
    assert told({"templates/welcome/fax/template.json": b"{}"}) == [
        ("templates/welcome/fax", "is not named after a channel")
    ]


def test_what_the_version_does_not_accept() -> None:
    """The field is led back to its file."""
    assert told(bundle(colour="red")) == [("template.json", "colour is not acceptable")]
    assert told(bundle("one")) == [("template.json", "semver is not acceptable")]
    assert told(bundle() | {f"{HOME}/en/subject.txt": b"two\nlines\n"}) == [
        ("en/subject.txt", "locales.en.subject is not acceptable")
    ]
    assert told(bundle() | {f"{HOME}/english/body.txt": b"x"}) == [
        ("english", "is not named after a language")
    ]
    assert told(bundle() | {f"{HOME}/partials/Foot.hbs": b"x"}) == [
        ("partials/Foot.hbs", "has a name that can't be called")
    ]
    assert told(bundle(locales={"fr": {"direction": "ltr"}})) == [
        ("fr/body.txt", "locales.fr.body is not acceptable")
    ]


def test_assets_are_passed_over_with_a_warning() -> None:
    """They do no harm, and nothing pretends that they are kept."""
    found = only(bundle() | {"assets/logo.png": b"\x89PNG"})

    assert (found.severity, found.file) == ("warning", "assets/logo.png")


def test_the_same_files_are_the_same_zip() -> None:
    """Whatever their order and whenever it is made."""
    files = bundle()

    assert pack(files) == pack(dict(reversed(files.items())))
    assert unpack(pack(files)).files == files
    assert zipped(files) != b""
