"""`tidings branding`: what is typed, asked and printed."""

from tests.unit.cli.conftest import PlayedApi, Types

THERE = {"branding": {"name": "Saffron", "footer": "Kabul"}, "theme_etag": "v3", "version": 3}
HOME = "/api/v1/branding"


def test_what_is_not_named_stays_and_an_empty_text_takes_away(api: PlayedApi, types: Types) -> None:
    api.answers = {f"GET {HOME}": (200, THERE), f"PUT {HOME}": (200, THERE)}
    printed = types("branding", "set", "--colour", "#1a2b3c", "--footer", "")
    [carried] = [headers for call, headers, _ in api.heard if call.startswith("PUT")]

    assert printed.code == 0, printed.err
    assert api.body_of(f"PUT {HOME}") == {"name": "Saffron", "primary_colour": "#1a2b3c"}
    assert carried["if-match"] == '"v3"'


def test_it_is_shown_line_by_line(api: PlayedApi, types: Types) -> None:
    api.answers = {f"GET {HOME}": (200, THERE)}

    assert types("branding", "show").out == "name  Saffron\nfooter  Kabul\ntheme_etag  v3\n"
    assert "say what is different" in types("branding", "set").err
