"""`tidings branding`: what is typed, stored and printed."""

import json
import re

from tests.support.cli import Types


def test_what_is_not_named_stays_and_an_empty_text_takes_away(types: Types) -> None:
    types("branding", "set", "--name", "Saffron", "--footer", "Kabul")
    before = json.loads(types("branding", "show", "--json").out)
    printed = types("branding", "set", "--colour", "#1a2b3c", "--footer", "")
    after = json.loads(types("branding", "show", "--json").out)

    assert printed.code == 0, printed.err
    assert before["branding"] == {"name": "Saffron", "footer": "Kabul"}
    assert after["branding"] == {"name": "Saffron", "primary_colour": "#1a2b3c"}
    assert after["version"] == before["version"] + 1


def test_it_is_shown_line_by_line(types: Types) -> None:
    types("branding", "set", "--name", "Saffron", "--footer", "Kabul")

    assert re.fullmatch(r"name  Saffron\nfooter  Kabul\ntheme_etag  \S+\n", types("branding", "show").out)
    assert "say what is different" in types("branding", "set").err
