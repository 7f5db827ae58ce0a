"""What the helpers write in V8 is what CLDR's own library writes."""

import json
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from babel import Locale
from babel.dates import format_date, format_time
from babel.lists import format_list
from babel.localedata import locale_identifiers
from babel.numbers import format_currency, format_decimal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.handlebars_node import needs_node
from tests.support.npm_smsc.running import NODE
from tests.support.rendering import Rendering
from tidings.notify.render.locales import digits_of, grouped_from

LOCALES = [
    "en",
    "fr",
    "ar",
    "fa-AF",
    "ps-AF",
    "de-CH",
    "hi",
    "bn",
    "pl",
    "ja",
    "ru",
    "sw",
    "ur",
    "cs",
    "he",
    "pt-BR",
    "my",
]
ZONES = [
    "UTC",
    "Asia/Kabul",
    "Europe/Berlin",
    "America/St_Johns",
    "Pacific/Apia",
    "Africa/Casablanca",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Asia/Pyongyang",
]
locales = st.sampled_from(LOCALES)
moments = st.datetimes(datetime(1971, 1, 1), datetime(2069, 12, 31), timezones=st.just(UTC)).map(
    lambda moment: moment.replace(microsecond=0)
)
relaxed = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def rendering() -> Iterator[Rendering]:
    rendering = Rendering()
    yield rendering
    rendering.close()


def locale_of(tag: str) -> Locale:
    return Locale.parse(tag.replace("-", "_"))


def in_digits(text: str, tag: str) -> str:
    """The library writes the usual digits everywhere."""
    digits = digits_of(locale_of(tag))
    return text if digits is None else text.translate(str.maketrans("0123456789", digits))


def is_grouped(number: float, tag: str) -> bool:
    """CLDR's minimumGroupingDigits, which the library does not read."""
    return grouped_from(locale_of(tag)) == 1 or round(number) >= 10_000


@given(tag=locales, number=st.floats(-1e12, 1e12, allow_nan=False) | st.integers(-(2**53), 2**53))
@relaxed
def test_numbers(rendering: Rendering, tag: str, number: float) -> None:
    expected = format_decimal(
        Decimal(str(number)),
        locale=locale_of(tag),
        numbering_system="default",
        group_separator=is_grouped(abs(number), tag),
    )
    # Nothing is written as less than nothing.
    if not any(digit in "123456789" for digit in expected):
        expected = expected.replace("-", "")

    written = rendering.text("{{number n}}", {"n": number}, locale=tag)

    # The marks around a minus are the locale's; the library leaves them out.
    assert re.sub("[\u200e\u200f\u061c]", "", written).replace("\u2212", "-") == in_digits(expected, tag)


@given(
    tag=locales,
    micros=st.integers(0, 2**53 - 1),
    currency=st.sampled_from(["USD", "EUR", "JPY", "GBP", "INR"]),
)
@relaxed
def test_money(rendering: Rendering, tag: str, micros: int, currency: str) -> None:
    amount = Decimal(micros) / 1_000_000
    expected = in_digits(
        format_currency(
            amount,
            currency,
            locale=locale_of(tag),
            numbering_system="default",
            group_separator=is_grouped(float(amount), tag),
        ),
        tag,
    )

    written = rendering.text("{{money m c}}", {"m": micros, "c": currency}, locale=tag)

    # CLDR's space between letters and digits is ours; the library leaves it out.
    # So is the mark that keeps `US$` in its order between words from right to left.
    assert re.sub("[\u00a0\u200e]", "", written) == re.sub("[\u00a0\u200e]", "", expected)


@given(
    tag=locales,
    moment=moments,
    zone=st.sampled_from(ZONES),
    style=st.sampled_from(["short", "medium", "long", "full"]),
)
@relaxed
def test_dates(rendering: Rendering, tag: str, moment: datetime, zone: str, style: str) -> None:
    expected = format_date(moment.astimezone(ZoneInfo(zone)).date(), style, locale=locale_of(tag))

    written = rendering.text(
        "{{date m s}}", {"m": moment.isoformat(), "s": style}, locale=tag, time_zone=zone
    )

    assert written == in_digits(expected, tag)


@given(
    tag=locales.filter(lambda tag: tag not in ("my",)),
    moment=moments,
    zone=st.sampled_from(ZONES),
    style=st.sampled_from(["short", "medium"]),
)
@relaxed
def test_times(rendering: Rendering, tag: str, moment: datetime, zone: str, style: str) -> None:
    expected = format_time(moment.astimezone(ZoneInfo(zone)).time(), style, locale=locale_of(tag))

    written = rendering.text(
        "{{time m s}}", {"m": moment.isoformat(), "s": style}, locale=tag, time_zone=zone
    )

    assert written == in_digits(expected, tag)


@given(tag=locales, number=st.integers(0, 10**7) | st.decimals(0, 1000, places=2))
@relaxed
def test_plurals(rendering: Rendering, tag: str, number: int | Decimal) -> None:
    source = (
        "{{plural n " + " ".join(f'{c}="{c}"' for c in ("zero", "one", "two", "few", "many", "other")) + "}}"
    )
    # A number in JSON has no zeros at its end.
    shown = float(number) if isinstance(number, Decimal) else number
    exact = Decimal(str(shown)).normalize()
    exact = exact.quantize(Decimal(1)) if exact == exact.to_integral_value() else exact

    assert rendering.text(source, {"n": shown}, locale=tag) == locale_of(tag).plural_form(exact)


@given(tag=locales, names=st.lists(st.text("abcßé", min_size=1, max_size=3), max_size=6))
@relaxed
def test_lists(rendering: Rendering, tag: str, names: list[str]) -> None:
    assert rendering.text("{{list l}}", {"l": names}, locale=tag) == format_list(names, locale=locale_of(tag))


@needs_node
def test_which_locales_group_four_digits_is_what_icu_says() -> None:
    """Asked of every locale that the library knows, of the ICU that Node brings."""
    tags = [tag for tag in locale_identifiers() if len(tag.split("_")) <= 3]
    script = (
        "const tags = JSON.parse(process.argv[1]); const found = tags.filter((tag) => {"
        "let made; try { made = new Intl.NumberFormat(tag.replaceAll('_', '-') + '-u-nu-latn'); } catch { return false; }"
        "return made.format(12345).length > 5 && made.format(1234).length === 4; });"
        "console.log(JSON.stringify([tags.filter((tag) => {"
        " try { return Intl.NumberFormat.supportedLocalesOf(tag.replaceAll('_', '-'))[0] !== undefined } catch { return false } }), found]));"
    )
    asked = subprocess.run([str(NODE), "-e", script, json.dumps(tags)], capture_output=True, check=True)
    supported, ungrouped = json.loads(asked.stdout)

    ours = {tag for tag in supported if grouped_from(Locale.parse(tag)) == 2}
    assert len(supported) > 500
    assert ours == set(ungrouped)


def test_money_in_switzerland_and_in_arabic(rendering: Rendering) -> None:
    def money(tag: str) -> str:
        return rendering.text("{{money m c}}", {"m": 1_234_500_000, "c": "USD"}, locale=tag)

    assert money("fr-CH") == "1\u202f234.50\u00a0$US"
    assert money("ar").endswith("US$\u200e")
    assert money("pl") == "1234,50\u00a0USD"
