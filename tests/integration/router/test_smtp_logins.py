"""Logging in by OAuth 2 and by a certificate, and what servers say about an account rather than about a mail."""

import base64
import json
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.support.certificates import make_certificate
from tests.support.played_http import PlayedHttp, answer, played_http
from tests.support.played_smtp import CLOSE, USUAL, PlayedSmtp, played_smtp
from tests.support.vendors import MESSAGE, messages, opened, smtp_settings
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater
from tidings.kernel.errors import BadValueError

XOAUTH2 = b"250-mx\r\n250-AUTH LOGIN XOAUTH2\r\n250 PIPELINING\r\n"
BEARER = b"250-mx\r\n250-AUTH OAUTHBEARER\r\n250 PIPELINING\r\n"
IN = b"235 2.7.0 Authentication successful\r\n"
#: As Google and Microsoft refuse: the details first, the refusal after an answer.
DETAILS = b"334 eyJzdGF0dXMiOiI0MDEiLCJzY2hlbWVzIjoiQmVhcmVyIn0=\r\n"
OUT = b"535 5.7.3 Authentication unsuccessful\r\n"


def token(text: str, seconds: int = 3600) -> bytes:
    return answer("200 OK", json.dumps({"access_token": text, "expires_in": seconds}).encode())


def settings(server: PlayedSmtp, tokens: PlayedHttp, **more: Any) -> dict[str, Any]:
    """As for Microsoft 365, but in the clear on loopback."""
    return smtp_settings(
        server.port,
        **{
            "auth": "oauth2",
            "auth_without_tls": True,
            "username": "orders@shop.example",
            "token_url": f"http://127.0.0.1:{tokens.port}/token",
            "client_id": "app",
            "client_secret_ref": "known://client",
            "scope": "https://outlook.office365.com/.default",
            "connections": 1,
            **more,
        },
    )


def said(server: PlayedSmtp) -> list[tuple[str, str]]:
    """What the server was told to let us in: the way, and the words."""
    found = [line.split(" ") for line in server.heard if line.startswith("AUTH ")]
    return [(way, base64.b64decode(words).decode()) for _, way, words in found]


async def test_a_login_by_xoauth2() -> None:
    """The client asks for a token in its own name, once, and every connection shows it."""
    async with (
        played_smtp({"EHLO": XOAUTH2, "AUTH": IN}) as server,
        played_http(token("t0ken")) as tokens,
        opened("smtp", settings(server, tokens, messages_per_connection=1), client="hunter2") as adapter,
    ):
        outcomes = await adapter.send(messages(3))

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 3
    assert said(server) == [("XOAUTH2", "user=orders@shop.example\x01auth=Bearer t0ken\x01\x01")] * 3
    ((head, body),) = tokens.heard
    assert head.startswith("POST /token ")
    assert parse_qs(body.decode()) == {
        "grant_type": ["client_credentials"],
        "client_id": ["app"],
        "client_secret": ["hunter2"],
        "scope": ["https://outlook.office365.com/.default"],
    }


async def test_a_login_by_oauthbearer_with_a_refresh_token() -> None:
    """The standard's form, and a person's consent, as Google gives it."""
    async with (
        played_smtp({"EHLO": BEARER, "AUTH": IN}) as server,
        played_http(token("t0ken")) as tokens,
        opened(
            "smtp",
            settings(server, tokens, refresh_token_ref="known://refresh", username="a=b,c@x.test"),
            client="hunter2",
            refresh="1//refresh",
        ) as adapter,
    ):
        (outcome,) = await adapter.send([MESSAGE])

    assert isinstance(outcome, Accepted)
    port = server.port
    words = f"n,a=a=3Db=2Cc@x.test,\x01host=127.0.0.1\x01port={port}\x01auth=Bearer t0ken\x01\x01"
    assert said(server) == [("OAUTHBEARER", words)]
    asked = parse_qs(tokens.heard[0][1].decode())
    assert (asked["grant_type"], asked["refresh_token"]) == (["refresh_token"], ["1//refresh"])


async def test_a_token_that_the_server_does_not_take_any_more_is_renewed_once() -> None:
    """Revoked before its time: one more is asked for, on another connection, and nothing is lost."""
    parts: dict[str, bytes | list[bytes]] = {
        "EHLO": XOAUTH2,
        "AUTH": [IN, DETAILS, IN],
        # The empty line behind the details.
        "": OUT,
    }
    async with (
        played_smtp(parts) as server,
        played_http(token("first"), token("second")) as tokens,
        opened("smtp", settings(server, tokens, messages_per_connection=1), client="x") as adapter,
    ):
        outcomes = [*await adapter.send([MESSAGE]), *await adapter.send([MESSAGE])]

    assert [type(outcome) for outcome in outcomes] == [Accepted, Accepted]
    assert [words.partition("Bearer ")[2].strip("\x01") for _, words in said(server)] == [
        "first",
        "first",
        "second",
    ]


@pytest.mark.parametrize(
    ("auth", "tokens", "code", "checked"),
    [
        (OUT, token("t"), "5.7.3", Refused),
        (b"454 4.7.0 Temporary authentication failure\r\n", token("t"), "454", TryLater),
        (IN, answer("401 Unauthorized", b'{"error": "invalid_client"}'), "token", Refused),
        (IN, answer("400 Bad Request", b'{"error": "invalid_grant"}'), "token", Refused),
        (IN, answer("503 Oops"), "token", TryLater),
    ],
)
async def test_without_a_token_that_is_taken_nothing_is_sent(
    auth: bytes, tokens: bytes, code: str, checked: type[Outcome]
) -> None:
    """Later, when somebody has mended it; the check says whether somebody has to."""
    async with (
        played_smtp({"EHLO": XOAUTH2, "AUTH": auth}) as server,
        played_http(tokens) as token_server,
        opened("smtp", settings(server, token_server), client="hunter2") as adapter,
    ):
        outcomes = await adapter.send(messages(2))
        found = await adapter.check()

    assert [(type(one), one.code) for one in outcomes if isinstance(one, TryLater)] == [(TryLater, code)] * 2
    assert type(found) is checked
    assert "hunter2" not in repr((outcomes, found))
    assert server.messages == []


async def test_a_server_without_oauth() -> None:
    async with (
        played_smtp({"EHLO": b"250-mx\r\n250 AUTH PLAIN LOGIN\r\n"}) as server,
        played_http(token("t")) as tokens,
        opened("smtp", settings(server, tokens), client="x") as adapter,
    ):
        (outcome,) = await adapter.send([MESSAGE])

    assert isinstance(outcome, TryLater)
    assert (outcome.code, outcome.reason) == (
        "auth",
        "the server offers no login by OAuth 2 (XOAUTH2, OAUTHBEARER)",
    )


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"auth": "oauth2"}, "username"),
        ({"auth": "oauth2", "username": "u"}, "token_url"),
        ({"auth": "oauth2", "username": "u", "token_url": "https://x.test/t"}, "client_id"),
        ({"auth": "oauth2", "username": "u", "token_url": "https://x.test/t", "client_id": "c"}, "client_secret"),
        ({"auth": "oauth2", "username": "u", "token_url": "https://x.test/t", "client_id": "c", "client_secret": "s"}, "scope"),
        ({"auth": "oauth2", "username": "u", "token_url": "https://x.test/t", "client_id": "c", "refresh_token": "r"}, "security"),
        ({"auth": "oauth2", "username": "u", "password": "p", "token_url": "https://x.test/t", "client_id": "c"}, "password"),
        ({"token_url": "https://x.test/t"}, "token_url"),
        ({"client_cert": "x", "client_key": "y"}, "client_cert"),
        ({"client_cert": "x", "security": "tls"}, "client_key"),
        ({"client_key": "x", "security": "tls"}, "client_cert"),
        ({"client_cert": "x", "client_key": "y", "security": "tls"}, "client_cert"),
    ],
)  # fmt: skip
async def test_settings_that_do_not_go_together(more: dict[str, Any], field: str) -> None:
    """Refused by the name of the setting that is missing, or too much."""
    with pytest.raises(BadValueError) as refused:
        async with opened("smtp", smtp_settings(25, **more)):
            pass

    assert refused.value.field == field


async def test_a_server_that_wants_a_client_certificate(tmp_path: Path) -> None:
    """With it all is well; without it nothing is sent."""
    made = make_certificate(tmp_path / "server")
    mine = make_certificate(tmp_path / "client", name="tidings.shop.example")
    context = made.server_context()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(mine.cert_file)
    account = {"security": "starttls", "host": "localhost", "ca_file": str(made.cert_file)}
    shown = {**account, "client_cert_ref": "known://cert", "client_key_ref": "known://key"}
    secrets = {"cert": mine.cert_file.read_text(), "key": mine.key_file.read_text()}
    hello = b"250-mx\r\n250-STARTTLS\r\n250 PIPELINING\r\n"
    async with played_smtp({"EHLO": hello, "STARTTLS": b"220 go\r\n"}, tls=context) as server:
        async with opened("smtp", smtp_settings(server.port, **shown), **secrets) as adapter:
            (with_it,) = await adapter.send([MESSAGE])
        client = server.client
        async with opened("smtp", smtp_settings(server.port, **account)) as adapter:
            (without,) = await adapter.send([MESSAGE])

    assert isinstance(with_it, Accepted)
    assert "tidings.shop.example" in repr(client)
    assert isinstance(without, TryLater)


# --- what is about the account


STARTTLS_FIRST = b"530 5.7.0 Must issue a STARTTLS command first\r\n"
LOGIN_FIRST = b"530 5.7.57 SMTP; Client was not authenticated to send anonymous mail during MAIL FROM\r\n"


@pytest.mark.parametrize(
    ("phase", "reply", "code"),
    [
        ("MAIL", STARTTLS_FIRST, "tls_required"),
        ("MAIL", b"530 5.7.0 Authentication required\r\n", "login_required"),
        ("MAIL", b"530-5.5.1 Authentication Required. Learn more at\r\n530 5.5.1 example.test\r\n", "login_required"),
        ("MAIL", LOGIN_FIRST, "login_required"),
        ("MAIL", b"535 5.7.8 Error: authentication failed\r\n", "login_required"),
        ("MAIL", b"538 5.7.11 Encryption required\r\n", "tls_required"),
        ("MAIL", b"550 5.7.60 SMTP; Client does not have permissions to send as this sender\r\n", "sender_not_allowed"),
        (".", b"554 5.2.252 SendAsDenied; orders@shop.example not allowed to send as x\r\n", "sender_not_allowed"),
        (".", b"550 5.7.708 Service unavailable. Access denied, traffic not accepted from this IP\r\n", "account_blocked"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("pipelining", [True, False])
async def test_what_is_wrong_with_the_account_is_no_refusal_of_the_mail(
    phase: str, reply: bytes, code: str, pipelining: bool
) -> None:
    """It is tried later, under a code that says what to set."""
    after = {"RCPT": b"503 5.5.1 no\r\n", "DATA": b"503 5.5.1 no\r\n"} if phase == "MAIL" else {}
    hello = USUAL["EHLO"] if pipelining else b"250 mx\r\n"
    async with (
        played_smtp({"EHLO": hello, phase: reply, **after}) as server,
        opened("smtp", smtp_settings(server.port)) as adapter,
    ):
        (outcome,) = await adapter.send([MESSAGE])
        checked = await adapter.check()

    assert isinstance(outcome, TryLater)
    assert outcome.code == code
    assert "orders@" not in repr(outcome.reason)
    # What is said to a mail that is announced, a check hears too.
    assert type(checked) is (Refused if phase == "MAIL" else Accepted)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (STARTTLS_FIRST, Refused),
        (b"250 2.1.0 Ok\r\n", Accepted),
        # Some take no mail from nobody; that says nothing about ours.
        (b"550 5.1.7 invalid sender\r\n", Accepted),
        (CLOSE, TryLater),
    ],
)
async def test_a_check_announces_a_mail_and_takes_it_back(reply: bytes, kind: type[Outcome]) -> None:
    async with (
        played_smtp({"MAIL": reply}) as server,
        opened("smtp", smtp_settings(server.port)) as adapter,
    ):
        checked = await adapter.check()

    assert type(checked) is kind
    taken_back = ["RSET"] if reply.startswith(b"250") else []
    assert [line for line in server.heard[1:] if line != "QUIT"] == ["MAIL FROM:<>", *taken_back]
