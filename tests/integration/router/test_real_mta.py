"""The SMTP adapter against a real mail server: Debian's Exim, alone on loopback, with STARTTLS and a login.

Install it with `apt-get install exim4-daemon-light`; the tests say loudly that they were skipped where it is absent.
"""

import asyncio
import email
import email.policy
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.certificates import Certificate, make_certificate
from tests.support.vendors import MESSAGE, messages, opened
from tidings.contracts.messages import Accepted, Address, Attachment, Refused, TryLater

EXIM = shutil.which("exim4") or ("/usr/sbin/exim4" if Path("/usr/sbin/exim4").exists() else None)
USER = "Debian-exim"

pytestmark = pytest.mark.skipif(
    EXIM is None or os.geteuid() != 0,
    reason="NOT TESTED AGAINST A REAL MAIL SERVER: needs exim4 (apt-get install exim4-daemon-light) and root to start it",
)

CONFIGURATION = """
primary_hostname = mx.example.test
domainlist local_domains = example.test
spool_directory = {folder}/spool
log_file_path = {folder}/log/%slog
pid_file_path = {folder}/exim.pid
daemon_smtp_ports = {port}
local_interfaces = 127.0.0.1
tls_advertise_hosts = *
tls_certificate = {folder}/tls/cert.pem
tls_privatekey = {folder}/tls/key.pem
auth_advertise_hosts = ${{if eq{{$tls_in_cipher}}{{}}{{}}{{*}}}}
smtputf8_advertise_hosts = *
acl_smtp_rcpt = rcpt
acl_smtp_data = data
host_lookup =
rfc1413_hosts =
message_size_limit = 2M
smtp_accept_max = 50
smtp_accept_queue_per_connection = 0

begin acl
rcpt:
  deny  message = 5.1.1 no such user
        local_parts = nobody
  defer message = 4.2.1 come back later
        local_parts = later
  accept authenticated = *
         domains = +local_domains
  deny  message = 5.7.1 log in first
data:
  accept

begin routers
all:
  driver = accept
  domains = +local_domains
  transport = box

begin transports
box:
  driver = appendfile
  directory = {folder}/mail
  maildir_format
  create_directory
  user = {user}
  group = {user}

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = ${{if and{{{{eq{{$auth2}}{{tidings}}}}{{eq{{$auth3}}{{hunter2}}}}}}}}
  server_set_id = $auth2
"""


@dataclass(frozen=True)
class Exim:
    """A running server, and where it puts mail."""

    port: int
    folder: Path
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

    async def mails(self, count: int) -> list[bytes]:
        """What was delivered, once there are so many; delivering happens after accepting."""
        box = self.folder / "mail" / "new"
        async with asyncio.timeout(60):
            while not box.exists() or len(list(box.iterdir())) < count:
                await asyncio.sleep(0.05)
        return [file.read_bytes() for file in box.iterdir()]

    def empty(self) -> None:
        shutil.rmtree(self.folder / "mail", ignore_errors=True)


@pytest.fixture(scope="module")
def exim() -> Iterator[Exim]:
    owner = pwd.getpwnam(USER)
    folder = Path(tempfile.mkdtemp(prefix="tidings-exim-"))
    certificate = make_certificate(folder / "tls")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for path in (folder, folder / "spool", folder / "log", folder / "tls"):
        path.mkdir(exist_ok=True)
        os.chown(path, owner.pw_uid, owner.pw_gid)
    for path in (certificate.cert_file, certificate.key_file):
        os.chown(path, owner.pw_uid, owner.pw_gid)
    configuration = folder / "exim.conf"
    configuration.write_text(CONFIGURATION.format(folder=folder, port=port, user=USER))
    configuration.chmod(0o644)
    assert EXIM is not None
    process = subprocess.Popen(
        [EXIM, "-C", str(configuration), "-bdf", "-q5m"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        _wait_until_listening(process, port)
        yield Exim(port, folder, certificate)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_until_listening(process: "subprocess.Popen[bytes]", port: int) -> None:
    for _ in range(400):
        with socket.socket() as probe:
            probe.settimeout(0.05)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        try:
            _, errors = process.communicate(timeout=0.05)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail(f"exim4 did not start: {errors.decode()}")
    pytest.fail("exim4 does not listen")


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
        outcomes = await adapter.send(messages(200))
    mails = await exim.mails(200)

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 200
    found = {email.message_from_bytes(data)["Message-ID"] for data in mails}
    assert len(mails) == len(found) == 200


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
