"""Every language of the pages says everything, and names of others can't become markup."""

from dataclasses import fields

import pytest

from tidings.contracts.tenants import DigestChoice
from tidings.notify.preference_center.digest_choices import DigestOffer
from tidings.notify.preference_center.frame import PageBrand
from tidings.notify.preference_center.pages import (
    Offer,
    ask_page,
    choices_page,
    confirmed_page,
    done_page,
)
from tidings.notify.preference_center.strings import PageStrings, languages, strings_accepted, strings_for
from tidings.notify.render.locales import direction_of

EN = languages()["en"]
HOSTILE = PageBrand(
    name="<script>\"&'", colour="#ffee00", support_url='https://x.example/"><script>alert(1)</script>'
)


@pytest.mark.parametrize("words", languages().values(), ids=languages())
def test_a_language_is_whole(words: PageStrings) -> None:
    assert words.direction == direction_of(words.language)
    assert words.channels.keys() == EN.channels.keys()
    assert words.categories.keys() == EN.categories.keys()
    assert words.often.keys() == EN.often.keys()
    for field in fields(words):
        text, english = getattr(words, field.name), getattr(EN, field.name)
        if isinstance(text, str):
            assert text
            assert text.count("{tenant}") == english.count("{tenant}"), field.name
            assert words is EN or field.name == "direction" or text != english, field.name


@pytest.mark.parametrize("words", languages().values(), ids=languages())
def test_names_stay_names(words: PageStrings) -> None:
    often = DigestOffer(own=DigestChoice(every="pause", minutes=1), usual=None, forms=("now", "day"))
    offers = [Offer(category="x<b>", needs_consent=True, channels=(("email", True),), digest=often)]
    pages = [
        ask_page(words, HOSTILE, channel="email", name="x<b>", token="t"),
        confirmed_page(words, HOSTILE, choose_at="t"),
        done_page(words, HOSTILE, channel=None, name="x<b>", token="t"),
        choices_page(
            words,
            HOSTILE,
            offers,
            version=1,
            token="t",
            timezone="<b>x<b>",
            everything_off=True,
            note="stale",
        ),
    ]
    for page in pages:
        assert "<script" not in page.html
        assert "<b>x<b>" not in page.html.lower()
        assert 'value="x<b>' not in page.html.lower()
        assert ':x<b>"' not in page.html.lower()
        assert "--on-accent:#000" in page.html, "black stands out from yellow"


def test_the_nearest_language_is_spoken() -> None:
    assert [strings_for(tag).language for tag in ("fr-CA", "fa", "ps", "de", "ar-EG")] == [
        "fr", "fa-AF", "ps-AF", "en", "ar",
    ]  # fmt: skip
    assert strings_accepted("de-DE, fr;q=0.8, en;q=0.5").language == "fr"
    assert strings_accepted(None).language == "en"
    assert strings_accepted("*" * 10_000).language == "en"
