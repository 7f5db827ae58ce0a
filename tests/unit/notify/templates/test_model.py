"""Version numbers and the choice of a locale."""

import pytest

from tidings.kernel.errors import BadValueError
from tidings.notify.render.locale_fallback import choose_locale
from tidings.notify.templates.semver import Semver


def test_versions_stand_in_the_order_of_the_standard() -> None:
    ordered = "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1 1.2.0 1.10.0 2.0.0".split()  # noqa: SIM905

    assert [str(v) for v in sorted(map(Semver.parse, reversed(ordered)))] == ordered


@pytest.mark.parametrize(
    "text", ["1", "1.0", "01.0.0", "1.0.0-", "1.0.0-01", "v1.0.0", "1.0.0+build", "1.0.0-é", "9" * 70]
)
def test_other_texts_are_no_versions(text: str) -> None:
    with pytest.raises(BadValueError):
        Semver.parse(text)


@pytest.mark.parametrize(
    ("wanted", "there", "version_chain", "template_chain", "expected"),
    [
        ("fa-AF", ["fa-AF", "fa", "en"], [], ["en"], "fa-AF"),
        ("fa-AF", ["fa", "en"], [], ["en"], "fa"),
        ("FA-af", ["fa-AF", "en"], [], ["en"], "fa-AF"),
        ("zh-Hant-TW", ["zh-Hant", "zh", "en"], [], ["en"], "zh-Hant"),
        ("ps-AF", ["fa-AF", "fr", "en"], ["fa-AF", "fr"], ["en"], "fa-AF"),
        ("ps-AF", ["fr", "en"], ["fa-AF", "fr"], ["en"], "fr"),
        ("ps-AF", ["fr", "en"], [], ["fr-CA", "en"], "fr"),
        ("ps-AF", ["fr", "en"], [], ["en-GB"], "en"),
        ("ps-AF", ["fr", "de"], [], ["en"], "de"),
        ("fa-IR", ["fa-AF", "en", "fr"], ["fr"], ["en"], "fa-AF"),
        ("fa", ["fa-AF", "en"], [], ["en"], "fa-AF"),
        ("ps-PK", ["ps-AF", "en"], [], ["en"], "ps-AF"),
        ("fa-Arab-AF", ["fa-AF", "en"], [], ["en"], "fa-AF"),
        ("es-MX", ["es-AR", "es-419", "es-ES", "en"], [], ["en"], "es-419"),
        ("pt-AO", ["pt-BR", "pt-PT", "en"], [], ["en"], "pt-PT"),
        ("pt-ZZ", ["pt-AO", "pt-BR", "en"], [], ["en"], "pt-BR"),
        # The same language in another script is another text to read.
        ("zh-TW", ["zh-CN", "en"], [], ["en"], "en"),
        ("zh-TW", ["zh-CN", "zh-HK", "en"], [], ["en"], "zh-HK"),
        ("pa-PK", ["pa-IN", "en"], [], ["en"], "en"),
    ],
)
def test_a_locale_is_found_by_both_chains(
    wanted: str, there: list[str], version_chain: list[str], template_chain: list[str], expected: str
) -> None:
    """Exact, then the language, then the version's chain, then the template's."""
    found = choose_locale(wanted, dict.fromkeys(there), version_chain, template_chain)

    assert found == expected
