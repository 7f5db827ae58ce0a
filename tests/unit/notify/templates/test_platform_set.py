"""The platform's templates: every locale compiles, renders with every sample, and looks the right way."""

import pytest

from tests.support.rendering import Rendering, compiled_content
from tidings.contracts.sms_segments import MANY_SEGMENTS, measure
from tidings.notify.render.model import Rendered
from tidings.notify.templates.compile.locale_content import compile_source
from tidings.notify.templates.compile.warnings import lost_in
from tidings.notify.templates.model import LinkPolicy
from tidings.notify.templates.platform.files import PlatformTemplate, read_set
from tidings.notify.templates.syntax import find_faults
from tidings.notify.templates.variables import Checker

LOCALES = {"en", "fr", "ar", "fa-AF", "ps-AF"}
CASES = [(template, locale) for template in read_set() for locale in template.spec.locales]


def test_the_set_is_whole() -> None:
    found = {(template.key, template.channel) for template in read_set()}

    assert found == {
        ("assignment_due", "email"),
        ("confirm_subscription", "email"),
        ("conversation_reply", "sms"),
        ("conversation_reply", "telegram"),
        ("conversation_reply", "viber"),
        ("conversation_reply", "whatsapp"),
        ("digest", "email"),
        ("digest", "inapp"),
        ("digest", "push"),
        ("digest", "sms"),
        ("digest", "telegram"),
        ("digest", "viber"),
        ("grade_posted", "email"),
        ("order_confirmation", "email"),
        ("otp", "email"),
        ("otp", "push"),
        ("otp", "sms"),
        ("otp", "voice"),
        ("otp", "whatsapp"),
        ("operator_alert", "email"),
        ("operator_alert", "sms"),
        ("operator_invitation", "email"),
        ("password_reset", "email"),
        ("password_reset", "sms"),
        ("receipt", "email"),
        ("reservation_confirmation", "email"),
        ("reservation_confirmation", "sms"),
        ("reservation_reminder", "email"),
        ("reservation_reminder", "sms"),
        ("stay_thank_you", "email"),
    }


@pytest.mark.parametrize(
    "template", list(read_set()), ids=lambda template: f"{template.key}-{template.channel}"
)
def test_every_template_has_every_locale(template: PlatformTemplate) -> None:
    assert set(template.spec.locales) == LOCALES


def test_nothing_of_it_is_lost_in_mails() -> None:
    assert [fault for template, locale in CASES for fault in lost_in(template.spec.locales[locale])] == []


def test_a_key_takes_the_same_variables_in_every_channel() -> None:
    """Whoever sends by `auto` does not know which channel it will be."""
    by_key: dict[str, list[object]] = {}
    for template in read_set():
        by_key.setdefault(template.key, []).append(template.spec.variables_schema)

    assert all(schema == schemas[0] for schemas in by_key.values() for schema in schemas)


def test_a_spoken_code_is_spelled(rendering: Rendering) -> None:
    """A voice would read 493817 as a number of many thousands."""
    voice = next(template for template in read_set() if template.channel == "voice")
    for locale, comma in (("en", ","), ("ps-AF", "،")):
        compiled = compile_source(voice.spec.locales[locale], locale=locale, links=LinkPolicy())

        done = rendering.job(compiled_content(compiled, locale), {"code": "490817"})
        longest = rendering.job(compiled_content(compiled, locale), {"code": "AB12CD34EF56"})

        assert isinstance(done, Rendered)
        assert isinstance(longest, Rendered)
        assert (done.text or "").count(f"{comma} ".join("490817")) == 2
        assert f"{comma} ".join("AB12CD34EF56") in (longest.text or "")


@pytest.mark.parametrize(("template", "locale"), CASES, ids=lambda case: getattr(case, "key", case))
def test_every_text_renders_with_every_sample(
    rendering: Rendering, template: PlatformTemplate, locale: str
) -> None:
    source = template.spec.locales[locale]
    for part in (source.subject, source.preheader, source.body):
        if part is not None:
            tree = rendering.parse(part)["tree"]
            assert find_faults(tree, template.spec.variables_schema, set()) == []
    compiled = compile_source(source, locale=locale, links=LinkPolicy())

    for sample in template.spec.samples.values():
        assert Checker(template.spec.variables_schema).faults(sample) == []
        done = rendering.job(
            compiled_content(compiled, locale), sample, recipient_name="لیلا", tenant_name="A & B"
        )
        assert isinstance(done, Rendered), done
        for part in (done.subject, done.html, done.text):
            assert part is None or ("{{" not in part and "[[" not in part)


@pytest.mark.parametrize(
    ("template", "locale"),
    [case for case in CASES if case[0].channel == "sms"],
    ids=lambda case: getattr(case, "key", case),
)
def test_an_sms_is_short(rendering: Rendering, template: PlatformTemplate, locale: str) -> None:
    """Each segment costs; in Latin letters nothing but the spaces of a time keeps a text out of GSM-7."""
    compiled = compile_source(template.spec.locales[locale], locale=locale, links=LinkPolicy())

    for name, sample in template.spec.samples.items():
        if name in LOCALES - {locale}:
            # What people write is in their own language.
            continue
        done = rendering.job(compiled_content(compiled, locale), sample, tenant_name="Saffron House")

        assert isinstance(done, Rendered), done
        text = (done.text or "").replace("\u202f", " ").replace("\u00a0", " ")
        size = measure(text)
        assert size.segments <= MANY_SEGMENTS
        if locale in ("en", "fr") and sample.get("place", "").isascii():
            assert size.encoding == "GSM-7"


def test_the_first_mail_of_the_readme_is_in_dari(rendering: Rendering) -> None:
    order = next(template for template in read_set() if template.key == "order_confirmation")
    compiled = compile_source(order.spec.locales["fa-AF"], locale="fa-AF", links=LinkPolicy())
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
