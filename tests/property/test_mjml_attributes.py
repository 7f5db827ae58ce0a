"""Whatever stands in an attribute of MJML comes out as it was written."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.rendering import compile_mjml

#: A carriage return is a line feed to an HTML parser, and braces are Handlebars.
texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="{}\ue000")
    | st.sampled_from("\t\n\"'\\&<>\u200c\u200d\u200e\u200f\u00ad\u061c\ufeff"),
    max_size=12,
)
#: Where a value is written, and the attribute and element that have to carry it.
PLACES = {
    '<mj-image src="cid:p.png" alt={}/>': ("img", "alt"),
    '<mj-image src="cid:p.png" title={}/>': ("img", "title"),
    '<mj-image src="cid:p.png" href="https://x.example/" name={}/>': ("a", "name"),
    '<mj-button href="https://x.example/" name={}>x</mj-button>': ("a", "name"),
    '<mj-navbar><mj-navbar-link href="https://x.example/" name={}>x</mj-navbar-link></mj-navbar>': (
        "a",
        "name",
    ),
    '<mj-social><mj-social-element src="cid:p.png" alt={}>x</mj-social-element></mj-social>': ("img", "alt"),
    '<mj-social><mj-social-element src="cid:p.png" title={}>x</mj-social-element></mj-social>': (
        "img",
        "title",
    ),
    "<mj-text><span title={}>x</span></mj-text>": ("span", "title"),
    "<mj-text><img src='cid:p.png' alt={}></mj-text>": ("img", "alt"),
    "<mj-table><tr><td abbr={}>x</td></tr></mj-table>": ("td", "abbr"),
    '<mj-button href="https://x.example/"><b lang={}>x</b></mj-button>': ("b", "lang"),
    "<mj-raw><tr><td title={}>x</td></tr></mj-raw>": ("td", "title"),
}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.values: list[tuple[str, str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.values += [(tag, name, value) for name, value in attrs]


def written(value: str, quote: str) -> str:
    """An attribute's value as an author writes it, who escapes no more than must be."""
    escaped = value.replace("&", "&amp;").replace(quote, "&quot;" if quote == '"' else "&#39;")
    return f"{quote}{escaped}{quote}"


def carried(element: str, value: str, quote: str) -> list[str | None]:
    """The values of the attribute in the compiled mail."""
    compiled = compile_mjml(
        f"<mj-section><mj-column>{element.format(written(value, quote))}</mj-column></mj-section>"
    )
    reader = _Reader()
    reader.feed(compiled.html or "")
    tag, attribute = PLACES[element]
    return [found for each, name, found in reader.values if (each, name) == (tag, attribute)]


@given(element=st.sampled_from(list(PLACES)), value=texts, quote=st.sampled_from("\"'"))
@settings(max_examples=120, deadline=None)
def test_every_value_is_carried_whole(element: str, value: str, quote: str) -> None:
    found = carried(element, value, quote)

    if PLACES[element][1] == "name":
        # A name is no text that people read: its blanks are one.
        assert value.split() == [] or found == [" ".join(value.split())]
    else:
        assert found == [value]


@pytest.mark.parametrize("element", PLACES)
def test_persian_is_written_with_its_joiners(element: str) -> None:
    text = "می\u200cخواهم"

    assert carried(element, text, '"') == [text]
    assert carried(element, f'say "{text}" \\ <b>', "'") == [f'say "{text}" \\ <b>']


def test_the_text_alternative_has_the_joiners_too() -> None:
    compiled = compile_mjml(
        '<mj-section><mj-column><mj-image src="cid:p.png" alt="می\u200cخواهم"/></mj-column></mj-section>'
    )

    assert compiled.text == "می\u200cخواهم"


def test_a_style_over_several_lines_keeps_its_look() -> None:
    compiled = compile_mjml(
        '<mj-section><mj-column padding="\n  10px\n  20px\n"><mj-text><p style="\n  color: red;\n  margin: 0;\n">x</p>'
        "</mj-text></mj-column></mj-section>"
    )

    assert "padding:10px 20px" in (compiled.html or "")
    assert "color: red;" in (compiled.html or "")
    assert "\\n" not in (compiled.html or "")
