"""The SMTP adapter against real mail servers: Debian's Exim, with STARTTLS and a login, and Debian's Postfix, alone on loopback."""

import email
import email.policy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.certificates import Certificate, make_certificate
from tests.support.free_port import free_port
from tests.support.real_mta import Mta
from tests.support.real_mta import exim as real_exim
from tests.support.real_mta import postfix as real_postfix
from tests.support.vendors import MESSAGE, messages, opened
from tidings.contracts.messages import Accepted, Address, Attachment, Refused, TryLater


@dataclass(frozen=True)
class Exim(Mta):
    """A running server that wants a login."""

    certificate: Certificate

    def settings(self, **more: Any) -> dict[str, Any]:
        return {
            "host": "localhost",
            "port": self.port,
            "security": "starttls",
            "ca_file": str(self.certificate.cert_file),
            "username": "tidings",
            "password_ref": "known://password",
            "connections": 4,
            **more,
        }


@pytest.fixture(scope="module")
def exim() -> Iterator[Exim]:
    dropping = """
  drop message = 5.1.1 no such user, goodbye
       local_parts = dropped
"""
    with real_exim(rcpt=dropping) as (server, certificate):
        yield Exim(server.port, server.folder, certificate)


@dataclass(frozen=True)
class Postfix(Mta):
    """A running server that wants no login."""

    #: Where it takes nothing without TLS.
    tls_port: int


@pytest.fixture(scope="module")
def postfix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postfix]:
    access = "inline:{{dropped@example.test = 521 5.7.1 Go away}}"
    made = make_certificate(tmp_path_factory.mktemp("postfix"))
    tls_port = free_port()
    with real_postfix(
        main={
            "smtpd_recipient_restrictions": f"check_recipient_access {access}, permit_mynetworks, reject",
            "smtpd_tls_chain_files": "{folder}/chain.pem",
        },
        services=[f"127.0.0.1:{tls_port} inet n - n - - smtpd -o smtpd_tls_security_level=encrypt"],
        files={"chain.pem": made.key_file.read_text() + made.cert_file.read_text()},
    ) as server:
        yield Postfix(server.port, server.folder, tls_port)


async def test_a_whole_mail_arrives_as_it_was_meant(exim: Exim) -> None:
    """Over STARTTLS, after a login, in another script, with a picture and a file."""
    exim.empty()
    message = replace(
        MESSAGE,
        to="laila@example.test",
        to_name="لیلا",
        sender=Address(value="orders@shop.example", name="دکان سبز"),
        subject="سفارش شما A-1001 تأیید شد؛ تشکر از خرید شما و به امید دیدار",
        text="سلام لیلا\n.\n..\nتمام",
        html='<p dir="rtl">سلام <img src="cid:logo"></p>',
        attachments=(
            Attachment(filename="logo.png", media_type="image/png", content=b"\x89PNG", inline_cid="logo"),
            Attachment(filename="بل سفارش.pdf", media_type="application/pdf", content=b"%PDF" * 5000),
        ),
        list_unsubscribe="https://shop.example/u/1",
    )

    async with opened("smtp", exim.settings(), password="hunter2") as adapter:
        (outcome,) = await adapter.send([message])
    (data,) = await exim.mails(1)

    assert isinstance(outcome, Accepted)
    assert outcome.provider_message_id
    got = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(got, email.message.EmailMessage)
    assert got["Subject"] == message.subject
    assert got["From"].addresses[0].display_name == "دکان سبز"
    assert got["Message-ID"] == f"<{message.message_id}@shop.example>"
    assert "with esmtpsa" in got["Received"]
    text, html = got.get_body(("plain",)), got.get_body(("html",))
    assert text is not None
    assert html is not None
    assert text.get_content().replace("\r\n", "\n") == message.text
    assert html.get_content() == message.html
    (file,) = got.iter_attachments()
    assert file.get_filename() == "بل سفارش.pdf"
    assert file.get_content() == b"%PDF" * 5000


async def test_a_set_arrives_whole_and_once(exim: Exim) -> None:
    """Over four pipelined connections."""
    exim.empty()

    async with opened("smtp", exim.settings(), password="hunter2") as adapter:
        outcomes = await adapter.send(messages(80))
    mails = await exim.mails(80)

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 80
    found = {email.message_from_bytes(data)["Message-ID"] for data in mails}
    assert len(mails) == len(found) == 80


async def test_an_address_in_another_script(exim: Exim) -> None:
    """The server offers SMTPUTF8, and the mail arrives."""
    exim.empty()

    async with opened("smtp", exim.settings(), password="hunter2") as adapter:
        (outcome,) = await adapter.send([replace(MESSAGE, to="لیلا@example.test", to_name=None)])

    assert isinstance(outcome, Accepted)
    (data,) = await exim.mails(1)
    assert "To: <لیلا@example.test>".encode() in data


async def test_a_mixed_set(exim: Exim) -> None:
    """Refused, deferred, too large, elsewhere and fine, in one set and on the same connection."""
    exim.empty()
    people = [
        "laila@example.test",
        "nobody@example.test",
        "later@example.test",
        "x@elsewhere.test",
        "sara@example.test",
    ]
    wanted = [replace(message, to=to) for message, to in zip(messages(5), people, strict=True)]
    wanted.append(replace(MESSAGE, text="x" * 3_000_000))

    async with opened("smtp", exim.settings(connections=1), password="hunter2") as adapter:
        outcomes = await adapter.send(wanted)

    kinds = [type(outcome) for outcome in outcomes]
    assert kinds == [Accepted, Refused, TryLater, Refused, Accepted, Refused]
    codes = [outcome.code for outcome in outcomes if isinstance(outcome, Refused | TryLater)]
    assert codes == ["5.1.1", "4.2.1", "5.7.1", "5.3.4"]
    assert "nobody@" not in repr(outcomes)
    assert len(await exim.mails(2)) == 2


async def test_a_wrong_password_sends_nothing(exim: Exim) -> None:
    """Later, when somebody has mended it."""
    exim.empty()

    async with opened("smtp", exim.settings(), password="wrong") as adapter:
        outcomes = await adapter.send(messages(3))

    assert [type(outcome) for outcome in outcomes] == [TryLater] * 3
    assert "did not accept the user name and password" in repr(outcomes)


async def test_exim_refuses_and_hangs_up(exim: Exim) -> None:
    """Its `drop`: the refusal is the outcome, and the others arrive over another connection."""
    exim.empty()
    wanted = [replace(m, to="dropped@example.test") if i % 3 == 0 else m for i, m in enumerate(messages(9))]

    async with opened("smtp", exim.settings(connections=1), password="hunter2") as adapter:
        outcomes = await adapter.send(wanted)

    assert [type(outcome) for outcome in outcomes] == [Refused, Accepted, Accepted] * 3
    assert {outcome.code for outcome in outcomes if isinstance(outcome, Refused)} == {"5.1.1"}
    assert len(await exim.mails(6)) == 6


async def test_postfix_refuses_and_hangs_up(postfix: Postfix) -> None:
    """Its `521` in an access table, the same."""
    postfix.empty()
    wanted = [replace(m, to="dropped@example.test") if i % 3 == 0 else m for i, m in enumerate(messages(9))]
    settings = {"host": "127.0.0.1", "port": postfix.port, "security": "none", "connections": 1}

    async with opened("smtp", settings) as adapter:
        outcomes = await adapter.send(wanted)

    assert [type(outcome) for outcome in outcomes] == [Refused, Accepted, Accepted] * 3
    assert {outcome.code for outcome in outcomes if isinstance(outcome, Refused)} == {"5.7.1"}
    assert len(await postfix.mails(6)) == 6


async def test_a_client_certificate_is_shown_to_exim(tmp_path: Path) -> None:
    """It wants one: with it the mail arrives, and without it the reason says what is missing."""
    mine = make_certificate(tmp_path, name="tidings.shop.example")
    wanted = "tls_verify_hosts = *\ntls_verify_certificates = {folder}/clients.pem"
    with real_exim(main=wanted, files={"clients.pem": mine.cert_file.read_text()}) as (server, certificate):
        account = Exim(server.port, server.folder, certificate).settings(connections=1)
        shown = {**account, "client_cert_ref": "known://cert", "client_key_ref": "known://key"}
        secrets = {
            "password": "hunter2",
            "cert": mine.cert_file.read_text(),
            "key": mine.key_file.read_text(),
        }
        async with opened("smtp", shown, **secrets) as adapter:
            (with_it,) = await adapter.send([MESSAGE])
        async with opened("smtp", account, password="hunter2") as adapter:
            (without,) = await adapter.send([MESSAGE])

    assert isinstance(with_it, Accepted)
    assert isinstance(without, TryLater)
    assert (without.code, without.reason) == (
        "tls",
        "the server ended TLS: it may want a client certificate, or another one",
    )


async def test_a_quoted_local_part_arrives(postfix: Postfix) -> None:
    """As it was written, with a blank and a bracket in it."""
    postfix.empty()
    settings = {"host": "127.0.0.1", "port": postfix.port, "security": "none"}
    async with opened("smtp", settings) as adapter:
        (outcome,) = await adapter.send([replace(MESSAGE, to='"front> desk"@example.test')])

    assert isinstance(outcome, Accepted)
    (data,) = await postfix.mails(1)
    assert email.message_from_bytes(data)["Delivered-To"] == '"front> desk"@example.test'


async def test_postfix_wants_tls_first(postfix: Postfix) -> None:
    """530 is about the account: nothing is refused for good, and a check finds it."""
    settings = {"host": "127.0.0.1", "port": postfix.tls_port, "security": "none"}
    async with opened("smtp", settings) as adapter:
        (outcome,) = await adapter.send([MESSAGE])
        checked = await adapter.check()

    assert isinstance(outcome, TryLater)
    assert outcome.code == "tls_required"
    assert isinstance(checked, Refused)
    assert checked.reason == "the server takes mail over TLS only: set security to starttls or tls"
