"""MJML is laid out as MJML lays it out, also where the compiler alone would not."""

import re

import pytest

from tests.support.rendering import compile_mjml
from tidings.notify.templates.compile.locale_content import compile_source
from tidings.notify.templates.model import BodyFormat, LinkPolicy, Source

ICONS = 'icon-wrapped-url="cid:plus.png" icon-unwrapped-url="cid:minus.png"'


@pytest.mark.parametrize(
    ("body", "width"),
    [
        ('<mj-section padding="0 225px"><mj-column><mj-image src="cid:a" width="184px" padding="0"/>', "150"),
        ('<mj-section><mj-column width="150px"><mj-image src="cid:a" width="184px" padding="0 0 0 30px"/>', "120"),
        ('<mj-section><mj-column width="25%"><mj-image src="cid:a" width="184px" padding="0px"/>', "150"),
    ],
)  # fmt: skip
def test_a_picture_is_no_wider_than_its_column(body: str, width: str) -> None:
    compiled = compile_mjml(f"{body}</mj-column></mj-section>")

    assert re.findall(r'<img[^>]* width="([0-9]+)"', compiled.html or "") == [width]


@pytest.mark.parametrize(
    ("padding", "height"),
    [
        ('padding="40px 0"', "100"),
        ('padding="10px" padding-top="0"', "170"),
        ("", "180"),
        ('padding="10%"', "180"),
    ],
)
def test_the_height_of_a_hero_has_its_padding_in_it(padding: str, height: str) -> None:
    compiled = compile_mjml(f'<mj-hero height="180px" {padding}><mj-text>x</mj-text></mj-hero>')

    assert re.findall(r'<td[^>]* height="([0-9]+)"', compiled.html or "") == [height]


def test_a_picture_without_words_is_silent() -> None:
    compiled = compile_mjml('<mj-section><mj-column><mj-image src="cid:a.png"/></mj-column></mj-section>')

    assert '<img alt=""' in (compiled.html or "")


def test_pictures_may_have_words_by_the_head() -> None:
    head = '<mj-head><mj-attributes><mj-image alt="Logo"/></mj-attributes></mj-head>'
    body = '<mj-body><mj-section><mj-column><mj-image src="cid:a.png"/></mj-column></mj-section></mj-body>'
    source = Source(format=BodyFormat.MJML, body=f"<mjml>{head}{body}</mjml>", subject="s")

    assert compile_source(source, locale="en", links=LinkPolicy()).text == "Logo"


def test_an_accordion_folds_and_reads_well() -> None:
    element = (
        "<mj-accordion-element><mj-accordion-title>Why?</mj-accordion-title>"
        "<mj-accordion-text>Because.</mj-accordion-text></mj-accordion-element>"
    )
    compiled = compile_mjml(
        f"<mj-section><mj-column><mj-accordion {ICONS}>{element}</mj-accordion></mj-column></mj-section>"
    )

    assert 'type="checkbox"' in (compiled.html or "")
    assert compiled.text == "Why?\nBecause."


def test_menus_have_boxes_of_their_own() -> None:
    menu = '<mj-navbar hamburger="hamburger"><mj-navbar-link href="https://x.example/">A</mj-navbar-link></mj-navbar>'
    compiled = compile_mjml(f"<mj-section><mj-column>{menu}{menu}</mj-column></mj-section>")

    boxes = re.findall(r'<input id="([^"]+)"', compiled.html or "")
    assert len(set(boxes)) == 2
    assert re.findall(r'<label[^>]* for="([^"]+)"', compiled.html or "") == boxes
    assert compiled.text == "A (https://x.example/)\nA (https://x.example/)"
