"""The platform's templates: every locale compiles, renders with every sample, and looks the right way."""

import pytest

from tests.support.rendering import Rendering, compiled_content
from tidings.notify.render.model import Rendered
from tidings.notify.templates.compile.locale_content import compile_source
from tidings.notify.templates.model import LinkPolicy
from tidings.notify.templates.platform.files import PlatformTemplate, read_set
from tidings.notify.templates.syntax import syntax_faults
from tidings.notify.templates.variables import Checker

LOCALES = {"en", "fr", "ar", "fa-AF", "ps-AF"}
CASES = [(template, locale) for template in read_set() for locale in template.wish.locales]


def test_the_set_is_whole() -> None:
    found = {(template.key, template.channel): set(template.wish.locales) for template in read_set()}

    assert found == {
        ("order_confirmation", "email"): LOCALES,
        ("otp", "email"): LOCALES,
        ("otp", "sms"): LOCALES,
    }


@pytest.mark.parametrize(("template", "locale"), CASES, ids=lambda case: getattr(case, "key", case))
def test_every_text_renders_with_every_sample(
    rendering: Rendering, template: PlatformTemplate, locale: str
) -> None:
    source = template.wish.locales[locale]
    for part in (source.subject, source.preheader, source.body):
        if part is not None:
            assert syntax_faults(rendering.parse(part)["tree"], template.wish.variables_schema) == []
    compiled = compile_source(source, locale=locale, links=LinkPolicy())

    for sample in template.wish.samples.values():
        assert Checker(template.wish.variables_schema).faults(sample) == []
        done = rendering.job(
            compiled_content(compiled, locale), sample, recipient_name="لیلا", tenant_name="A & B"
        )
        assert isinstance(done, Rendered), done
        for part in (done.subject, done.html, done.text):
            assert part is None or ("{{" not in part and "[[" not in part)


def test_the_first_mail_of_the_readme_is_in_dari(rendering: Rendering) -> None:
    order = next(template for template in read_set() if template.key == "order_confirmation")
    compiled = compile_source(order.wish.locales["fa-AF"], locale="fa-AF", links=LinkPolicy())
    variables = {
        "order_number": "A-1001",
        "total": {"amount_micros": 42500000, "currency": "USD"},
        "items": [{"name": "Green tea", "quantity": 2}],
    }

    done = rendering.job(
        compiled_content(compiled, "fa-AF"), variables, recipient_name="Laila", tenant_name="Demo"
    )

    assert isinstance(done, Rendered)
    assert done.subject == "فرمایش شما A-1001"
    assert done.direction == "rtl"
    assert '<html lang="fa-AF" dir="rtl"' in (done.html or "")
    assert "سلام Laila،" in (done.html or "")
    assert "۴۲٫۵۰" in (done.html or "")
    assert "Green tea  ۲" in (done.text or "")
    assert "src=" not in (done.html or "")
