"""The mailbox of bounces: settings that are refused, servers that are not there, not ours to reach, or hostile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support.clock import ManualClock
from tests.support.vendors import opened
from tidings.contracts.messages import Refused, TryLater
from tidings.kernel.ca_bundle import trusting
from tidings.kernel.clock import SystemClock
from tidings.kernel.egress import anywhere, public_only
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId
from tidings.kernel.secrets import Secret
from tidings.router.accounts.model import StoredAccount
from tidings.router.adapters.mail.imap_mailbox import (
    MailboxAddress,
    MailboxError,
    open_mailbox,
    read_mailbox_url,
)
from tidings.router.bounces.mailboxes import BounceMailboxes
from tidings.sandbox import Sandbox


def _place(url: str, *, guard: Any = anywhere) -> MailboxAddress:
    return read_mailbox_url(url, "hunter2", context=lambda: trusting(None), in_the_clear=True, guard=guard)


@asynccontextmanager
async def _server(*answers: bytes) -> AsyncIterator[int]:
    """Greets, and answers each command with the next of these; `{tag}` is the command's."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"* OK ready\r\n")
        for answer in (b"* CAPABILITY IMAP4rev1\r\n{tag} OK done\r\n", *answers):
            tag = (await reader.readline()).partition(b" ")[0]
            writer.write(answer.replace(b"{tag}", tag))
        await reader.read()
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize(
    ("url", "password", "field"),
    [
        ("https://user@mx.example/INBOX", "p", "bounce_imap_url"),
        ("imaps://mx.example/INBOX", "p", "bounce_imap_url"),
        ("imaps://user@/INBOX", "p", "bounce_imap_url"),
        ("imaps://user@mx.example:port/", "p", "bounce_imap_url"),
        ("imaps://user:secret@mx.example/", "p", "bounce_imap_url"),
        ("imaps://user@mx.example/%0d%0aA1 LOGOUT", "p", "bounce_imap_url"),
        ("imap://user@mx.example/", "p", "bounce_imap_url"),
        ("imaps://user@mx.example/", None, "bounce_imap_password"),
    ],
)
def test_a_url_that_names_no_mailbox_is_refused(url: str, password: str | None, field: str) -> None:
    with pytest.raises(BadValueError) as refused:
        read_mailbox_url(url, password, context=lambda: trusting(None), in_the_clear=False, guard=anywhere)
    assert refused.value.field == field
    assert "secret" not in str(refused.value)


def test_what_a_url_names() -> None:
    place = _place("imap://bounces%40shop.example@mx.example/Bounces/In")
    assert (place.username, place.host, place.port, place.folder) == (
        "bounces@shop.example", "mx.example", 143, "Bounces/In",
    )  # fmt: skip
    assert "hunter2" not in repr(place)


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([b"{tag} NO no\r\n"], "auth"),
        ([b"{tag} OK in\r\n", b"{tag} NO no such folder\r\n"], "folder"),
        ([b"\x00\xff nonsense\r\n"], "answer"),
        ([b"* BAD {99999999999}\r\n"], "answer"),
        ([b"{tag} OK in\r\n", b"* X " + b"x" * 2_000_000 + b"\r\n"], "answer"),
        ([b"{tag} OK in\r\n", b"* 1 EXISTS\r\n" * 300_000 + b"{tag} OK selected\r\n"], "answer"),
    ],
    ids=["login", "folder", "nonsense", "too much", "too long a line", "without end"],
)
async def test_a_server_that_can_not_be_read(answers: list[bytes], code: str) -> None:
    async with _server(*answers) as port:
        with pytest.raises(MailboxError) as failed:
            async with open_mailbox(_place(f"imap://user@127.0.0.1:{port}/")):
                pass
    assert failed.value.code == code


async def test_an_account_of_odd_settings_is_nobody_elses_trouble() -> None:
    """Also where what is wrong with it is nothing that anybody has thought of."""
    heard: list[tuple[str, str]] = []

    class Odd:
        async def resolve(self, ref: str, **_: Any) -> Secret:
            raise RecursionError(ref)

    mailboxes = BounceMailboxes(
        cast("Any", None),
        cast("Any", SimpleNamespace(observer=SimpleNamespace(mail=lambda *told: heard.append(told)))),
        secrets=Odd(),
        leases=cast("Any", None),
        clock=ManualClock(),
    )
    account = StoredAccount(
        id="adcfg_1",
        platform=False,
        vendor="smtp",
        handle=None,
        secret_ref="sealed://smtp",
        per_second=None,
        per_day=None,
    )

    assert await mailboxes.read(account, TenantId("tnt_1")) == 0
    assert heard == [("imap", "failed")]


@pytest.mark.parametrize("said", [[], [b"{tag} OK in\r\n"]], ids=["at the login", "after it"])
async def test_servers_that_say_nothing_are_let_go(said: list[bytes]) -> None:
    """More of them than there are threads; the one that answers is read all the same."""

    async def read(port: int) -> int:
        async with open_mailbox(_place(f"imap://user@127.0.0.1:{port}/")) as mailbox:
            return mailbox.validity

    async def hang(port: int) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await read(port)

    good = [
        b"{tag} OK in\r\n",
        b"* OK [UIDVALIDITY 7] ok\r\n{tag} OK selected\r\n",
        b"* BYE\r\n{tag} OK bye\r\n",
    ]
    async with _server(*said) as silent, _server(*good) as port:
        await asyncio.gather(*(hang(silent) for _ in range(8)))
        async with asyncio.timeout(20):
            assert await read(port) == 7


async def test_nobody_is_led_into_our_network() -> None:
    async with _server() as port:
        with pytest.raises(MailboxError) as refused:
            async with open_mailbox(_place(f"imap://user@127.0.0.1:{port}/", guard=public_only)):
                pass
    assert refused.value.code == "address"


@pytest.mark.parametrize(
    ("answers", "kind"),
    [([b"{tag} NO no\r\n"], Refused), ([b"nonsense\r\n"], TryLater)],
)
async def test_a_check_of_the_account_opens_the_mailbox(
    answers: list[bytes], kind: type[Refused | TryLater]
) -> None:
    async with Sandbox(ManualClock(SystemClock().now()), seed=1) as sandbox, _server(*answers) as port:
        settings = {
            "host": sandbox.host,
            "port": sandbox.smtp_port,
            "security": "none",
            "auth_without_tls": True,
            "return_path_domain": "bounces.shop.example",
            "bounce_imap_url": f"imap://user@127.0.0.1:{port}/",
            "bounce_imap_password": "hunter2",
        }
        async with opened("smtp", settings) as adapter:
            outcome = await adapter.check()
    assert isinstance(outcome, Refused | TryLater)
    assert isinstance(outcome, kind)
    assert "the mailbox of bounces" in outcome.reason
    assert outcome.code == "bounce_mailbox"


async def test_a_mailbox_needs_a_return_path() -> None:
    settings = {"host": "mx.example", "bounce_imap_url": "imaps://u@mx.example/", "bounce_imap_password": "p"}
    with pytest.raises(BadValueError) as refused:
        async with opened("smtp", settings):
            pass
    assert refused.value.field == "bounce_imap_url"
