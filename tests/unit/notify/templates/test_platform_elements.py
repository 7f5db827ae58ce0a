"""The look that the platform's templates share is written into each of them."""

import re

import pytest

from tidings.notify.templates.platform.elements import SHARED, expanded
from tidings.notify.templates.platform.files import read_set


def test_an_element_is_its_file_with_what_it_was_given() -> None:
    button = expanded('<t-button to="{{url}}">Words</t-button>')

    assert 'href="{{url}}"' in button
    assert ">Words</mj-button>" in button
    assert "[[" not in button


def test_elements_stand_inside_one_another() -> None:
    mail = expanded("<t-mail><t-hero><t-sign>✓</t-sign></t-hero></t-mail>")

    assert mail.startswith("<mjml>")
    assert "✓" in mail
    assert "<t-" not in mail


def test_an_element_without_a_file_is_named() -> None:
    with pytest.raises(LookupError, match="<t-nothing>"):
        expanded("<t-nothing/>")


def test_a_layout_without_elements_stays() -> None:
    assert expanded("[[text]] <b>x</b>") == "[[text]] <b>x</b>"


def test_no_mail_brings_a_look_of_its_own() -> None:
    """Fonts, colours of the frame and rules for small or dark screens are said once."""
    for folder in {template.folder for template in read_set()}:
        for layout in folder.glob("layout.mjml"):
            assert not re.search(r"<mjml|<mj-style|<mj-attributes|font-family", layout.read_text()), layout


def test_no_shared_file_is_left_over() -> None:
    used = {
        name
        for file in [*SHARED.parent.rglob("layout.*"), *SHARED.glob("*.mjml")]
        for name in re.findall(r"<t-([a-z_]+)", file.read_text())
    }

    assert {file.stem for file in SHARED.iterdir() if file.suffix in (".mjml", ".txt")} == used
