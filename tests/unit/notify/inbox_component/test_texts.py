"""The texts of the component are those of its catalogues, each of them is used, and the script is small."""

from pathlib import Path

from tools.inbox_component import MOST_BYTES, SCRIPT, texts, weight, with_texts

from tidings.kernel.translations import read_catalogues
from tidings.notify import inbox_component
from tidings.notify.preference_center.strings import languages

#: Named by the unit of the time.
TIMES = {"minutes_ago", "hours_ago", "days_ago"}


def test_the_script_has_the_texts_of_the_catalogues() -> None:
    script = SCRIPT.read_text(encoding="utf-8")
    assert with_texts(script) == script
    assert with_texts(script.replace("Notifications", "Messages")) == script


def test_it_speaks_the_languages_of_the_pages() -> None:
    assert texts().keys() == languages().keys()
    assert {path.stem for path in (Path(inbox_component.__file__).parent / "translations").glob("*.po")} | {
        "en"
    } == languages().keys()


def test_every_text_is_shown_somewhere() -> None:
    code = SCRIPT.read_text(encoding="utf-8").partition("/* texts:end */")[2]
    source = read_catalogues(inbox_component.__name__)["en"].texts
    assert [key for key in source if f'"{key}"' not in code and key not in TIMES] == []


def test_it_is_small() -> None:
    assert weight(SCRIPT.read_text(encoding="utf-8")) <= MOST_BYTES
