"""The helpers speak every locale as CLDR has it."""

import pytest

from tests.support.rendering import Rendering, content
from tidings.notify.render.model import Rendered

ORDER = {
    "total": {"amount_micros": 42_500_000, "currency": "USD"},
    "at": "2026-03-01T20:30:00Z",
    "count": 3,
    "names": ["tea", "salt", "rice"],
}


@pytest.mark.parametrize(
    ("locale", "expected"),
    [
        ("en", "$42.50"),
        ("fr", "42,50\u00a0$US"),
        ("ar", "\u200f42.50\u00a0US$\u200e"),
        ("fa-AF", "\u200e$\u00a0۴۲٫۵۰"),
        ("ps-AF", "US$\u200e\u00a0۴۲٫۵۰"),
        ("de-CH", "$\u00a042.50"),
    ],
)
def test_money_is_written_as_its_readers_write_it(rendering: Rendering, locale: str, expected: str) -> None:
    assert rendering.text("{{money total}}", ORDER, locale=locale) == expected
    assert rendering.text("{{money total.amount_micros total.currency}}", ORDER, locale=locale) == expected


@pytest.mark.parametrize(
    ("micros", "currency", "expected"),
    [
        (0, "USD", "$0.00"),
        (-1_000_000, "USD", "-$1.00"),
        (5_000, "USD", "$0.00"),
        (15_000, "USD", "$0.02"),
        (25_000, "USD", "$0.02"),
        (1_500_000, "JPY", "¥2"),
        (2_500_000, "JPY", "¥2"),
        (1_234_567, "KWD", "KWD\u00a01.235"),
        ("9223372036854775807", "USD", "$9,223,372,036,854.78"),
    ],
)
def test_money_rounds_half_to_even_by_its_currency(
    rendering: Rendering, micros: object, currency: str, expected: str
) -> None:
    assert rendering.text("{{money m c}}", {"m": micros, "c": currency}) == expected


@pytest.mark.parametrize(
    ("locale", "date", "time"),
    [
        ("en", "March 2, 2026", "1:00\u202fAM"),
        ("fr", "2 mars 2026", "01:00"),
        ("ar", "2 مارس 2026", "1:00 ص"),
        ("fa-AF", "۲ مارچ ۲۰۲۶", "۱:۰۰"),
        ("ps-AF", "۲۰۲۶ مارچ ۲", "۱:۰۰"),
    ],
)
def test_moments_are_told_in_the_recipients_zone(
    rendering: Rendering, locale: str, date: str, time: str
) -> None:
    told = rendering.text("{{date at}}|{{time at}}", ORDER, locale=locale, time_zone="Asia/Kabul")

    assert told.split("|") == [date, time]


def test_a_date_without_a_time_stays_that_day_everywhere(rendering: Rendering) -> None:
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        assert rendering.text("{{date day}}", {"day": "2026-03-01"}, time_zone=zone) == "March 1, 2026"


def test_clocks_change_twice_a_year(rendering: Rendering) -> None:
    source = "{{time a}} {{time b}}"
    moments = {"a": "2026-03-29T00:59:59Z", "b": "2026-03-29T01:00:00Z"}

    told = rendering.text(source, moments, locale="de", time_zone="Europe/Berlin")

    assert told == "01:59 03:00"


def test_an_unknown_zone_is_read_as_utc(rendering: Rendering) -> None:
    assert rendering.text("{{time at}}", ORDER, locale="fr", time_zone="Mars/Olympus") == "20:30"


@pytest.mark.parametrize(
    ("locale", "count", "expected"),
    [
        ("en", 1, "1 item"),
        ("en", 1.5, "1.5 items"),
        ("en", 0, "0 items"),
        ("fr", 0, "0 item"),
        ("ar", 0, "none"),
        ("ar", 2, "pair"),
        ("ar", 3, "3 few"),
        ("ar", 11, "11 many"),
        ("ar", 100, "100 items"),
        ("fa-AF", 3, "۳ items"),
    ],
)
def test_plurals_follow_the_language(rendering: Rendering, locale: str, count: float, expected: str) -> None:
    source = '{{plural n zero="none" one="# item" two="pair" few="# few" many="# many" other="# items"}}'

    assert rendering.text(source, {"n": count}, locale=locale) == expected


def test_lists_are_joined_by_the_language(rendering: Rendering) -> None:
    assert rendering.text("{{list names}}", ORDER) == "tea, salt, and rice"
    assert rendering.text("{{list names}}", ORDER, locale="fr") == "tea, salt et rice"
    items = {"items": [{"name": "a"}, {"name": "b"}]}
    assert rendering.text('{{list items "name"}}', items) == "a and b"
    assert rendering.text("{{list none}}|{{list empty}}", {"empty": []}) == "|"


def test_numbers_have_decimals_and_percents(rendering: Rendering) -> None:
    values = {"n": 1234567.891, "share": 0.256}
    assert rendering.text("{{number n}}", values) == "1,234,567.891"
    assert rendering.text("{{number n decimals=1}}", values, locale="fa-AF") == "۱٬۲۳۴٬۵۶۷٫۹"
    assert rendering.text('{{number share style="percent"}}', values, locale="fr") == "26\u00a0%"
    assert rendering.text('{{number share style="percent" decimals=1}}', values) == "25.6%"


def test_a_link_is_markup_in_html_and_words_in_text(rendering: Rendering) -> None:
    values = {"url": "https://shop.example/a?b=1&c=2", "words": "See <all>"}

    html = rendering.html("{{link url words}}", values)
    text = rendering.text("{{link url words}} {{link url}}", values)

    assert html == '<a href="https://shop.example/a?b&#x3D;1&amp;c&#x3D;2">See &lt;all&gt;</a>'
    assert text == "See <all> (https://shop.example/a?b=1&c=2) https://shop.example/a?b=1&c=2"


def test_what_is_missing_prints_nothing(rendering: Rendering) -> None:
    source = '{{date x}}{{time x}}{{money x}}{{number x}}{{plural x other="#"}}{{list x}}{{link x}}{{x}}'
    assert rendering.text(source, {}) == ""


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("{{date d}}", {"d": "tomorrow"}),
        ("{{date d}}", {"d": "2026-02-30"}),
        ("{{date d 'huge'}}", {"d": "2026-02-03"}),
        ("{{time d}}", {"d": "2026-02-03"}),
        ("{{time d}}", {"d": "2026-02-03T25:00:00Z"}),
        ("{{money d}}", {"d": {"amount_micros": 1.5, "currency": "USD"}}),
        ("{{money d}}", {"d": {"amount_micros": 1, "currency": "dollars"}}),
        ("{{money d}}", {"d": {"amount_micros": 2**60, "currency": "USD"}}),
        ("{{number d}}", {"d": "many"}),
        ("{{number d decimals=99}}", {"d": 1}),
        ("{{plural d}}", {"d": 1}),
        ("{{list d}}", {"d": "abc"}),
        ("{{date d d d}}", {"d": "2026-01-01"}),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_without_quoting_it(
    rendering: Rendering, source: str, values: dict[str, object]
) -> None:
    failed = rendering.refused(source, values)

    assert failed.code == "bad_value"
    assert "tomorrow" not in failed.detail
    assert "dollars" not in failed.detail


def test_numbers_follow_the_language_of_the_text(rendering: Rendering) -> None:
    """A reader of Pashto who gets the English text gets English digits in it."""
    english = content(text="{{number n}}", locale="en")
    done = rendering.job(english, {"n": 1234}, locale="ps-AF")
    british = rendering.job(content(text="{{date d}}", locale="en"), {"d": "2026-03-01"}, locale="en-GB")

    assert isinstance(done, Rendered)
    assert done.text == "1,234"
    assert isinstance(british, Rendered)
    assert british.text == "1 March 2026"
