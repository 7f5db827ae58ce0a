"""Why a vendor did not take a message: every code that we bring along has words, and there is one source of them."""

import pytest

from tidings.contracts.adapters import OUR_CODES
from tidings.contracts.failures import LOGIN_REFUSED, why
from tidings.router.adapters.registry import ADAPTERS

SEEDS = sorted({(kind.name, one.code, one.reason) for kind in ADAPTERS.values() for one in kind.statuses})


def test_every_seeded_meaning_has_words() -> None:
    assert [seed for seed in SEEDS if why(seed[1], seed[2], vendor=seed[0]) is None] == []


def test_every_code_of_our_own_has_words() -> None:
    assert [code for code in sorted(OUR_CODES) if why(code) is None] == []


@pytest.mark.parametrize(
    ("code", "meaning", "vendor", "words"),
    [
        ("5.7.8", None, "smtp", LOGIN_REFUSED),
        ("5.7.8", "credentials", "smtp", LOGIN_REFUSED),
        ("535", "credentials", "smtp_office", LOGIN_REFUSED),
        # What somebody has given another meaning is told with that one.
        ("5.7.8", "blocked", "smtp", "the message or its sender is blocked"),
        ("4.4.7", None, "ses", "the mail could not be passed on over the network"),
        ("451", None, "smtp", "the server could not process it now"),
        # Other vendors' numbers are their own.
        ("451", None, "vonage", None),
        ("503", None, "http_acme", "the vendor has trouble of its own"),
        ("E-99", None, "http_acme", None),
        ("tls", "untrusted_connection", "smtp", why("tls")),
        (None, None, None, None),
    ],
)
def test_a_code_is_told_by_what_is_known_of_it(
    code: str | None, meaning: str | None, vendor: str | None, words: str | None
) -> None:
    assert why(code, meaning, vendor=vendor) == words


def test_the_commonest_mistake_in_an_smtp_account_is_a_line_of_the_map() -> None:
    smtp = {one.code: (one.canonical, one.reason) for one in ADAPTERS["smtp"].statuses}

    assert smtp["5.7.8"] == smtp["535"] == ("rejected_by_provider", "credentials")
    assert {"tls", "connection", "auth"} <= smtp.keys()
