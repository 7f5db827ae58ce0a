"""Accounts are read strictly, and secrets only by reference."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from tests.support.push import ec_pem, rsa_pem
from tests.support.vendors import KnownSecrets
from tidings.kernel.clock import SystemClock
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TENANT
from tidings.kernel.refusals import InvalidError
from tidings.kernel.secrets import EnvSecrets, FileSecrets, Secret, SecretNotFoundError, SecretsByScheme
from tidings.router.adapters.http.adapter import HttpVendorSettings
from tidings.router.adapters.registry import (
    ADAPTERS,
    AdapterContext,
    AdapterKind,
    LostReferenceError,
    kind_of,
    open_adapter,
    read_account,
)

SECRETS = KnownSecrets(plain="hunter2", whole='{"username": "u", "password": "hunter2"}', broken="{oops")


async def attempt(name: str, **settings: Any) -> Any:
    return await open_adapter(name, settings, SECRETS, surroundings=AdapterContext(clock=SystemClock()))


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


async def test_what_a_secret_holds_may_refer_to_others() -> None:
    """As every vendor's page shows it; a vendor's own body has words of its own."""
    settings = {
        "url": "https://vendor.example/send",
        "body": {"client_ref": "{{message_id}}"},
        "secrets": {"token_ref": "known://plain"},
        "callback_secret_ref": "known://plain",
    }
    secrets = KnownSecrets(plain="hunter2", whole=json.dumps(settings))

    read = await read_account("http", {"secret_ref": "known://whole"}, secrets)
    with pytest.raises(SecretNotFoundError, match=r"secrets\.token_ref"):
        await read_account("http", {"secret_ref": "known://whole"}, KnownSecrets(whole=json.dumps(settings)))

    assert isinstance(read.settings, HttpVendorSettings)
    assert read.settings.body == settings["body"]
    assert (read.settings.secrets, read.settings.callback_secret) == ({"token": "hunter2"}, "hunter2")


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


def _wordless(wanted: Any, path: str) -> Iterator[str]:
    """Patterns inside a type that do not say what they want."""
    for meta in getattr(wanted, "__metadata__", ()):
        if isinstance(meta, msgspec.Meta) and meta.pattern and not meta.description:
            yield path
    if isinstance(wanted, type) and issubclass(wanted, msgspec.Struct):
        for field in msgspec.structs.fields(wanted):
            yield from _wordless(field.type, f"{path}.{field.name}")
    for inner in get_args(wanted):
        yield from _wordless(inner, path)


@pytest.mark.parametrize("kind", ADAPTERS.values(), ids=lambda kind: kind.name)
def test_a_setting_of_the_wrong_form_is_told_the_right_one(kind: AdapterKind) -> None:
    """Nobody helps themselves with "does not have the right form"."""
    assert list(_wordless(kind.settings, kind.name)) == []


@pytest.mark.parametrize(
    ("name", "more", "field"),
    [
        ("fcm", {"project_id": "green-shop", "client_email": "a@b.example"}, "private_key"),
        ("vonage", {"application_id": "aaaaaaaa-bbbb-cccc-dddd-0123456789ab"}, "private_key"),
        ("smtp", {"host": "mx.example"}, "dkim[0].key"),
    ],
)
async def test_a_key_that_takes_seconds_to_be_looked_at_is_not_looked_at(
    name: str, more: dict[str, Any], field: str
) -> None:
    """Everybody else would wait meanwhile: an RSA key of 8192 bits has some 6400 characters."""
    pem = "-----BEGIN PRIVATE KEY-----\n" + "A" * 6400 + "\n-----END PRIVATE KEY-----\n"
    key = {"private_key": pem}
    if name == "smtp":
        key = {"dkim": [{"domain": "x.example", "selector": "s", "key": pem}]}  # type: ignore[dict-item]
    with pytest.raises(InvalidError) as refused:
        await attempt(name, **more, **key)

    assert {wrong.field: wrong.remedy for wrong in refused.value.errors} == {
        field: "must be a text of at most 4096 characters"
    }


async def test_a_secret_leads_to_so_many_others_and_no_more() -> None:
    """Each is a question to whoever keeps it, and what it leads to is held at once."""
    asked: list[str] = []

    class Counting(KnownSecrets):
        async def resolve(self, ref: str, **more: Any) -> Secret:
            asked.append(ref)
            return await super().resolve(ref, **more)

    many = {"host": "mx.example", **{f"x{i}_ref": "known://plain" for i in range(2000)}}
    with pytest.raises(BadValueError) as refused:
        await read_account(
            "smtp", {"secret_ref": "known://whole"}, Counting(plain="hunter2", whole=json.dumps(many))
        )

    assert (refused.value.field, len(asked)) == ("secret_ref", 65)
    assert refused.value.remedy == "must lead to settings with at most 64 references"


async def test_names_that_somebody_made_up_are_told_in_short() -> None:
    """A name is anything that JSON can hold, and what is wrong goes to logs and to people."""
    name = "a\nb" + "c" * 5000
    for settings in ({f"{name}_ref": 5}, {name: {"x_ref": 5}}, {name: json.loads("[" * 9 + "]" * 9)}):
        with pytest.raises(BadValueError) as refused:
            await read_account("smtp", settings, SECRETS)

        assert refused.value.field.startswith("a?bccc")
        assert len(refused.value.field) < 120


async def test_a_reference_without_a_scheme_is_named_where_it_stands() -> None:
    """Whoever set it up has to find it."""
    with pytest.raises(BadValueError) as refused:
        await read_account("smtp", {"host": "mx.example", "password_ref": "hunter2"}, SecretsByScheme({}))

    assert refused.value.field == "password_ref"
    assert refused.value.remedy == "must use a scheme that is set up here; supported: none"


@pytest.mark.parametrize(
    "settings",
    [
        {"headers": {"Authorization": "Bearer {{secret.hunter}}"}},
        {"headers": {"Authorization": "Bearer {{hunter}}"}},
        {"cancel_url": "https://x.example/{{hunter}}"},
        {"body": {"key": "{{hunter.x}}"}},
    ],
)
async def test_what_stands_in_a_placeholder_is_not_quoted(settings: dict[str, Any]) -> None:
    """People paste the secret where its name belongs."""
    with pytest.raises(BadValueError) as refused:
        await attempt("http", url="https://x.example/", **settings)

    assert "hunter" not in str(refused.value)
    assert refused.value.field in {"headers.Authorization", "cancel_url", "body.key"}


@pytest.mark.parametrize("name", ["smtp", "smpp", "apns", "http"])
@pytest.mark.parametrize("content", ["pipe", "empty", "endless", "folder"])
async def test_a_file_of_certificates_is_a_file(name: str, content: str, tmp_path: Path) -> None:
    """Whoever waits for anything else waits for ever, and everybody with them."""
    ca_file = tmp_path / "ca.pem"
    if content == "pipe":
        os.mkfifo(ca_file)
    elif content == "folder":
        ca_file.mkdir()
    else:
        ca_file.touch()
        os.truncate(ca_file, 0 if content == "empty" else 1 << 40)
    more: dict[str, dict[str, Any]] = {
        "smtp": {"host": "mx.example"},
        "smpp": {"host": "mx.example", "system_id": "a", "password": "b", "security": "tls"},
        "apns": {
            "private_key": ec_pem(), "key_id": "ABC123DEFG", "team_id": "DEF123GHIJ", "topic": "com.example",
        },
        "http": {"url": "https://x.example/"},
    }  # fmt: skip
    with pytest.raises(BadValueError) as refused:
        await attempt(name, ca_file=str(ca_file), **more[name])

    assert refused.value.field == "ca_file"


@pytest.mark.parametrize(
    "url",
    ["https://[x", "https://x:99999", "https://x:port/", "https://:80", "https://\u2100.x", "https://x..y"],
)
@pytest.mark.parametrize(
    ("name", "field", "more"),
    [
        ("apns", "api_url", {"private_key": ec_pem(), "key_id": "ABC123DEFG", "team_id": "DEF123GHIJ", "topic": "com.example"}),
        ("fcm", "token_uri", {"project_id": "green-shop", "client_email": "a@b.example", "private_key": rsa_pem()}),
        ("sendgrid", "api_url", {"api_key": "k"}),
        ("http", "url", {}),
        ("http", "check_url", {"url": "https://x.example/"}),
    ],
)  # fmt: skip
async def test_an_address_that_is_none_is_refused_at_once(
    name: str, field: str, more: dict[str, Any], url: str
) -> None:
    """Every message would be lost to it, one by one."""
    with pytest.raises(BadValueError) as refused:
        await attempt(name, **{**more, field: url})

    assert refused.value.field == field


async def test_a_secret_that_goes_down_for_ever_is_no_settings() -> None:
    deep = KnownSecrets(deep='{"host":' + "[" * 5000 + "]" * 5000 + "}")
    with pytest.raises(BadValueError) as refused:
        await read_account("smtp", {"secret_ref": "known://deep"}, deep)

    assert refused.value.field == "secret_ref"


@pytest.mark.parametrize(
    "reference",
    [
        "env://TIDINGS_SECRET_X",
        "file:///etc/passwd",
        "file://../platform",
        "file://{base}/platform",
        "file://{base}/{other}/theirs",
        "file://link",
        "file://{base}/{own}/link",
    ],
)
async def test_what_a_tenants_secret_refers_to_is_the_tenants_own_too(reference: str, tmp_path: Path) -> None:
    """Nobody else's file, nor a variable of the operator's, whatever the settings say."""
    own, other = TENANT.new(SystemClock().now()), TENANT.new(SystemClock().now())
    for folder, name in ((tmp_path, "platform"), (tmp_path / other, "theirs"), (tmp_path / own, "mine")):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text("hunter2")
    (tmp_path / own / "link").symlink_to(tmp_path / other / "theirs")
    secrets = SecretsByScheme(
        {"file": FileSecrets(tmp_path), "env": EnvSecrets({"TIDINGS_SECRET_X": "hunter2"})}
    )

    async def read(password_ref: str) -> Any:
        settings = {"host": "mx.example", "username": "u", "password_ref": password_ref}
        (tmp_path / own / "account").write_text(json.dumps(settings))
        return await read_account("smtp", {"secret_ref": "file://account"}, secrets, tenant_id=own)

    assert (await read("file://mine")).settings.password == "hunter2"
    with pytest.raises((BadValueError, LostReferenceError)) as refused:
        await read(reference.format(base=tmp_path, own=own, other=other))

    assert isinstance(refused.value, BadValueError | LostReferenceError)
    assert refused.value.field == "password_ref"
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("vendor", "field", "settings"),
    [
        ("http", "callback_secret", {"url": "https://x.example/"}),
        ("voice_otp_gateway", "callback_secret", {"api_url": "https://x.example", "api_token": "t"}),
        ("postmark", "webhook_password", {"server_token": "t", "webhook_user": "u"}),
        ("mailgun", "webhook_signing_key", {"domain": "mg.example.org", "api_key": "k"}),
        ("whatsapp_cloud", "app_secret", {"phone_number_id": "12345", "access_token": "EAAJB-token"}),
        ("whatsapp_cloud", "verify_token", {"phone_number_id": "12345", "access_token": "EAAJB-token"}),
        ("twilio", "callback_auth_token", {"account_sid": "AC" + "1" * 32, "auth_token": "t"}),
        ("vonage", "signature_secret", {"api_key": "a1b2c3d4", "api_secret": "s"}),
        ("telegram_bot", "webhook_secret", {"token": "123456:" + "A" * 35}),
    ],
)
async def test_a_passphrase_with_blanks_is_refused_by_name(
    vendor: str, field: str, settings: dict[str, Any]
) -> None:
    """Split at its blanks any word of it would be a secret; long ones, and lines, are several on purpose."""
    good = [
        "the-old-secret-01 the-new-secret-02",
        "the-old-secret-01\nthe-new-secret-02",
        "a-secret-of-20-chars",
    ]
    for secret in good:
        await read_account(vendor, {**settings, field: secret}, KnownSecrets())
    with pytest.raises(InvalidError) as refused:
        await read_account(vendor, {**settings, field: "correct horse battery staple"}, KnownSecrets())

    assert [error.field for error in refused.value.errors] == [field]
    assert "horse" not in str(refused.value)


@pytest.mark.parametrize("secret", ["whsec_not base64", "whsec_not-base64", "whsec_", "whsec_AAAAA"])
async def test_a_signing_secret_that_is_no_base64_is_refused_by_name(secret: str) -> None:
    with pytest.raises(InvalidError) as refused:
        await read_account("http", {"url": "https://x.example/", "callback_secret": secret}, KnownSecrets())

    assert [error.field for error in refused.value.errors] == ["callback_secret"]
    assert "whsec_ and base64" in str(refused.value.errors)
