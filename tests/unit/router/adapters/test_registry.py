"""Accounts are read strictly, and secrets only by reference."""

from typing import Any

import pytest

from tests.support.vendors import KnownSecrets
from tidings.kernel.clock import SystemClock
from tidings.kernel.errors import BadValueError
from tidings.kernel.refusals import InvalidError
from tidings.kernel.secrets import SecretNotFoundError
from tidings.router.adapters.registry import ADAPTERS, Surroundings, kind_of, open_adapter, read_account

SECRETS = KnownSecrets(plain="hunter2", whole='{"username": "u", "password": "hunter2"}', broken="{oops")


async def attempt(name: str, **settings: Any) -> Any:
    return await open_adapter(name, settings, SECRETS, surroundings=Surroundings(clock=SystemClock()))


def fields_of(error: BadValueError | InvalidError) -> list[str]:
    return [error.field] if isinstance(error, BadValueError) else [wrong.field for wrong in error.errors]


def test_the_registry_tells_what_it_holds() -> None:
    """Names, channels, credentials."""
    assert set(ADAPTERS) == {
        "apns",
        "fcm",
        "http",
        "mailgun",
        "postmark",
        "sendgrid",
        "ses",
        "smpp",
        "smtp",
        "telegram_bot",
        "twilio",
        "viber",
        "voice_otp_gateway",
        "vonage",
        "webpush",
        "whatsapp_cloud",
    }
    assert ADAPTERS["smtp"].channels == {"email"}
    assert "password" in ADAPTERS["smtp"].credential_fields
    for kind in ADAPTERS.values():
        assert kind.main_credential.partition(".")[0] in kind.settings.__struct_fields__


def test_a_vendor_may_have_a_name_of_its_own() -> None:
    """The adapter's name, an underscore, and whatever tells it from the others."""
    assert kind_of("http") is kind_of("http_acme") is ADAPTERS["http"]
    assert kind_of("smtp_backup") is ADAPTERS["smtp"]
    assert kind_of("httpacme") is kind_of("") is kind_of("acme_http") is None


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({}, "host"),
        ({"host": "mx.example", "pasword": "x"}, "pasword"),
        ({"host": "mx example"}, "host"),
        ({"host": "mx.example", "port": 0}, "port"),
        ({"host": "mx.example", "security": "maybe"}, "security"),
        ({"host": "mx.example", "connections": 0}, "connections"),
        ({"host": "mx.example", "username": "u"}, "password"),
        ({"host": "mx.example", "secret_ref": "known://plain"}, "username"),
        ({"host": "mx.example", "security": "none", "secret_ref": "known://whole"}, "security"),
        ({"host": "mx.example", "ca_file": "/nowhere.pem"}, "ca_file"),
        ({"host": "mx.example", "envelope_sender": "nobody"}, "envelope_sender"),
        ({"host": "mx.example", "secret_ref": 5}, "secret_ref"),
        ({"host": "mx.example", "secret_ref": "known://broken"}, "secret_ref"),
        ({"host": "mx.example", "dkim": [{"domain": "x.example", "selector": "s", "key_ref": "known://plain"}]}, "dkim[0].key_ref"),
    ],
)  # fmt: skip
async def test_bad_smtp_settings(settings: dict[str, Any], field: str) -> None:
    """Each by its name, and nothing secret in the words."""
    with pytest.raises((BadValueError, InvalidError)) as refused:
        await attempt("smtp", **settings)

    named = fields_of(refused.value)  # type: ignore[arg-type]  # one of the two
    assert field in named
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({}, "url"),
        ({"url": "nowhere"}, "url"),
        ({"url": "https://x.example/", "method": "GET"}, "method"),
        ({"url": "https://x.example/", "headers": {"Bad Name": "x"}}, "headers"),
        ({"url": "https://x.example/", "headers": {"Content-Length": "5"}}, "headers[0]"),
        ({"url": "https://x.example/", "body": {"to": "{{too}}"}}, "body.to"),
        ({"url": "https://x.example/", "statuses": {"9xx": "accepted"}}, "statuses"),
        ({"url": "https://x.example/", "statuses": {"404": "maybe"}}, "statuses.404"),
        ({"url": "https://x.example/", "message_id_path": "a..b"}, "message_id_path"),
        ({"url": "https://x.example/", "message_id_path": "id", "receipts": True}, "callback_secret"),
        ({"url": "https://x.example/", "callback_secret": "s", "receipts": True}, "message_id_path"),
        ({"url": "https://x.example/", "cancel_url": "https://x.example/{{to}}"}, "cancel_url"),
        ({"url": "https://x.example/", "cancel_url": "nowhere"}, "cancel_url"),
    ],
)  # fmt: skip
async def test_bad_http_settings(settings: dict[str, Any], field: str) -> None:
    """Each by its name."""
    with pytest.raises((BadValueError, InvalidError)) as refused:
        await attempt("http", **settings)

    named = fields_of(refused.value)  # type: ignore[arg-type]  # one of the two
    assert any(name.startswith(field) for name in named)


async def test_an_unknown_vendor_is_refused() -> None:
    """With the names that there are."""
    with pytest.raises(BadValueError, match="http, mailgun"):
        await attempt("pigeon")


async def test_a_missing_secret_is_told_by_its_field() -> None:
    """And nothing else is told."""
    with pytest.raises(SecretNotFoundError, match="password_ref"):
        await attempt("smtp", host="mx.example", username="u", password_ref="known://nothing")


@pytest.mark.parametrize(
    ("vendor", "settings", "field"),
    [
        ("telegram_bot", {"token": "123456:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw\n"}, "token"),
        ("sendgrid", {"api_key": "SG.key\r\n"}, "api_key"),
        ("http", {"url": "https://vendor.example", "secrets": {"token": "key\n"}}, "secrets"),
    ],
)
async def test_a_line_break_behind_a_credential_is_none_of_it(
    vendor: str, settings: dict[str, Any], field: str
) -> None:
    """No header could hold it, and then no message would ever be sent."""
    read = await read_account(vendor, settings, KnownSecrets())

    assert "\n" not in str(getattr(read.settings, field))


@pytest.mark.parametrize(
    "settings",
    [
        {"host": "mx.example", "username": "u", "secret_ref": "known://plain"},
        {"host": "mx.example", "secret_ref": "known://whole"},
        {"host": "mx.example", "username": "u", "password_ref": "known://plain"},
    ],
)
async def test_secrets_come_in_three_ways(settings: dict[str, Any]) -> None:
    """Plain, as a document, or by the field; an adapter does not print them."""
    adapter = await attempt("smtp", **settings)

    assert adapter.name == "smtp"
    assert "hunter2" not in repr(adapter)
