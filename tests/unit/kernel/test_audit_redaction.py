"""What the audit does not keep."""

from datetime import UTC, datetime

import pytest

from tidings.kernel.audit.redaction import is_personal, redacted_json


@pytest.mark.parametrize(
    "name",
    [
        "address", "email", "to_email", "emailAddress", "phone", "phone_number", "msisdn", "body", "body_html",
        "secret", "client_secret", "token", "accessToken", "password", "subject", "variables", "display_name",
        "api_key", "API_KEY", "apiKey", "credentials", "user_agent",
    ],
)  # fmt: skip
def test_personal_names(name: str) -> None:
    """Whatever is inside is masked."""
    assert is_personal(name)


@pytest.mark.parametrize(
    "name",
    [
        "address_hash",
        "secret_ref",
        "token_expires_at",
        "body_format",
        "status",
        "name",
        "",
        "key",
        "antibody",
    ],
)
def test_harmless_names(name: str) -> None:
    """References, digests, times and kinds may be read."""
    assert not is_personal(name)


def test_ids_switches_and_times_are_kept() -> None:
    """They say what happened and nothing about anybody."""
    data = {
        "address": "rad_01JCQ000000000000000000000",
        "email": None,
        "phone_verified": True,
        "at": datetime(2026, 11, 15, tzinfo=UTC),
        "count": 12345678901,
    }

    assert redacted_json(data) == (
        '{"address":"rad_01JCQ000000000000000000000","at":"2026-11-15T00:00:00Z","count":12345678901,'
        '"email":null,"phone_verified":true}'
    )


def test_nothing_personal_survives_at_any_depth() -> None:
    """Lists, objects and free texts alike."""
    data = {
        "a": [{"to": {"email": {"work": "ada@example.org"}}}, "write to ada@example.org"],
        "phone": 442079460958,
    }

    assert "ada" not in (text := redacted_json(data) or "")
    assert "442079460958" not in text


def test_nothing_stays_nothing() -> None:
    """There was no before."""
    assert redacted_json(None) is None


def test_long_texts_are_cut() -> None:
    """The audit is no archive of contents; how long it was is kept."""
    assert redacted_json({"note": "x" * 5000}) == '{"note":"' + "x" * 1000 + '… (5000 characters)"}'
