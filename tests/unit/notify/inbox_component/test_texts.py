"""The texts of the component are those of its catalogues, each of them is used, and the scripts are small."""

from pathlib import Path

import pytest
from tools.inbox_component import INBOX, PREFERENCES, SCRIPTS, Script, weight

from tidings.kernel.translations import read_catalogues
from tidings.notify import inbox_component
from tidings.notify.preference_center.strings import languages

#: Named by the unit of the time.
TIMES = {"minutes_ago", "hours_ago", "days_ago"}
each_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda one: one.path.stem)


@each_script
def test_the_script_has_the_texts_of_the_catalogues(script: Script) -> None:
    there = script.read()
    assert script.with_texts(there) == there
    assert script.with_texts(there.replace("One moment", "One second")) == there


@each_script
def test_it_speaks_the_languages_of_the_pages(script: Script) -> None:
    assert script.texts().keys() == languages().keys()
    assert {path.stem for path in (Path(inbox_component.__file__).parent / "translations").glob("*.po")} | {
        "en"
    } == languages().keys()


def test_every_text_is_shown_somewhere() -> None:
    code = "".join(script.read().partition("/* texts:end */")[2] for script in SCRIPTS)
    source = read_catalogues(inbox_component.__name__)["en"].texts
    assert [key for key in source if f'"{key}"' not in code and key not in TIMES] == []


def test_the_preferences_have_what_they_show_in_every_language() -> None:
    shown = PREFERENCES.texts()
    assert {code: [key for key, text in texts.items() if not text] for code, texts in shown.items()} == {
        code: [] for code in shown
    }
    assert {"channel.email", "channel.inapp", "saved", "preferences.pending"} <= shown["ps"].keys()
    assert not any(key.startswith("preferences.") for key in INBOX.texts()["en"])


@each_script
def test_it_is_small(script: Script) -> None:
    assert weight(script.read()) <= script.most_bytes
