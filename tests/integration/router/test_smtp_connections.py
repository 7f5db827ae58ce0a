"""How connections are opened, shared, rested and replaced."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.bus import DEADLINE
from tests.support.certificates import make_certificate
from tests.support.played_smtp import CLOSE, HANG, SLOW, USUAL, played_smtp
from tests.support.vendors import MESSAGE, KnownSecrets, messages, opened, smtp_settings
from tidings.contracts.adapters import Adapter
from tidings.contracts.messages import Accepted, OutboundMessage, TryLater
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TENANT
from tidings.router.adapters.registry import AdapterContext, open_adapter
from tidings.router.adapters.shared_pools import SharedPools
from tidings.router.adapters.smtp.adapter import SmtpAdapter
from tidings.router.adapters.smtp.client import SmtpConnection
from tidings.router.adapters.smtp.pool import MailOnWire, SmtpPool
from tidings.router.adapters.smtp.window import ConnectionWindow

HELLO = b"250-mx\r\n250-STARTTLS\r\n250-AUTH PLAIN LOGIN\r\n250 PIPELINING\r\n"
AUTH = {"AUTH": b"235 2.7.0 ok\r\n", "STARTTLS": b"220 go\r\n", "EHLO": HELLO}


async def test_one_message_opens_one_connection_and_keeps_it() -> None:
    """The next one uses it again."""
    async with played_smtp() as played, opened("smtp", smtp_settings(played.port)) as adapter:
        for _ in range(5):
            await adapter.send([MESSAGE])

    assert played.connections == 1
    assert len(played.messages) == 5


async def test_a_set_opens_as_many_as_allowed() -> None:
    """And no more."""
    async with played_smtp() as played, opened("smtp", smtp_settings(played.port, connections=3)) as adapter:
        await asyncio.gather(*(adapter.send(messages(20)) for _ in range(4)))

    assert played.connections <= 3
    assert len(played.messages) == 80


async def test_what_is_urgent_goes_before_those_that_wait() -> None:
    """A set of hundreds in the line costs it no more than the messages that are under way."""
    async with played_smtp() as played, opened("smtp", smtp_settings(played.port, connections=1)) as adapter:
        many = asyncio.create_task(adapter.send(messages(300)))
        while not played.messages:
            await asyncio.sleep(0)
        await adapter.send(messages(1, urgent=True, subject="Urgent"))
        before = next(place for place, mail in enumerate(played.messages) if b"Subject: Urgent" in mail)
        await many

    assert before < 150
    assert len(played.messages) == 301


async def test_tenants_of_one_server_take_turns() -> None:
    """A mail beside three hundred of another tenant waits for its turn, and not for all of them."""
    async with played_smtp() as played, opened("smtp", smtp_settings(played.port, connections=1)) as adapter:
        flood = asyncio.create_task(adapter.send(messages(300)))
        while not played.messages:
            await asyncio.sleep(0)
        other = TENANT.new(SystemClock().now())
        await adapter.send(messages(1, tenant_id=other, subject="Trickle"))
        before = next(place for place, mail in enumerate(played.messages) if b"Subject: Trickle" in mail)
        await flood

    assert before < 150
    assert len(played.messages) == 301


async def test_a_tenant_whose_mails_take_long_leaves_half_of_the_connections() -> None:
    """While others wait: turns count messages, not time, and all connections would end up with the slow one."""
    never = asyncio.Event()

    async def connect() -> SmtpConnection:
        await never.wait()
        raise AssertionError

    def build(message: OutboundMessage) -> MailOnWire:
        return MailOnWire(sender="us", to=message.to, data=b"mail", needs_utf8=False)

    pool = SmtpPool(connect, connections=4, idle_seconds=1, batch_seconds=60, goodbye_seconds=0.1)
    other = TENANT.new(SystemClock().now())
    sends = [
        asyncio.create_task(pool.send(some, build)) for some in (messages(5), messages(3, tenant_id=other))
    ]
    await asyncio.sleep(0)
    taken = []
    for _ in range(6):
        job = pool._take()
        assert job is not None
        taken.append(job.message.tenant_id)
        if job.message.tenant_id == other:
            job.settle(Accepted())
    for send in sends:
        send.cancel()
    await asyncio.gather(*sends, return_exceptions=True)
    await pool.close()

    slow = MESSAGE.tenant_id
    assert taken == [slow, other, slow, other, other, slow]


async def test_accounts_of_one_server_and_login_share_connections() -> None:
    """Each with its own sender; the connections end with the last account that uses them."""
    pools = SharedPools()
    async with played_smtp() as played:
        settings = smtp_settings(played.port, connections=1)
        senders = [f"bounces-{number}@example.test" for number in range(3)]
        async with AsyncExitStack() as stack:
            adapters = [
                await stack.enter_async_context(
                    opened("smtp", {**settings, "envelope_sender": sender}, pools)
                )
                for sender in senders
            ]
            for adapter in adapters:
                await adapter.send([MESSAGE])
            await adapters[0].close()
            assert [type(one) for one in await adapters[0].send([MESSAGE])] == [TryLater]
            assert [type(one) for one in await adapters[1].send([MESSAGE])] == [Accepted]
    assert played.connections == 1
    said = [line for line in played.heard if line.startswith("MAIL FROM")]
    assert [sender in line for sender, line in zip([*senders, senders[1]], said, strict=True)] == [True] * 4


async def test_accounts_with_another_login_or_guard_share_nothing() -> None:
    """All that a connection depends on is compared; a password is."""
    pools, parts = SharedPools(), {"AUTH": b"235 2.7.0 ok\r\n", "EHLO": HELLO}
    async with played_smtp(parts) as played, AsyncExitStack() as stack:
        settings = smtp_settings(played.port, connections=1)
        for password in ("one", "two"):
            login = {"username": "house", "password": password, "auth_without_tls": True}
            adapter = await stack.enter_async_context(opened("smtp", {**settings, **login}, pools))
            await adapter.send([MESSAGE])
        adapter = await stack.enter_async_context(opened("smtp", settings, pools))
        await adapter.send([MESSAGE])
    assert played.connections == 3


@pytest.mark.parametrize(
    "parts",
    [{"RCPT hanging": HANG}, {".": [USUAL["."], HANG, USUAL["."]]}],
    ids=["over the recipient", "over the content"],
)
async def test_who_hangs_does_not_hold_up_the_others_of_an_account(
    parts: dict[str, bytes | list[bytes]],
) -> None:
    """A server that was quick gets few connections; one that it then leaves without an answer is not all there is."""
    async with played_smtp(parts) as played:
        settings = smtp_settings(played.port, connections=4, timeout_seconds=DEADLINE)
        async with opened("smtp", settings) as adapter:
            await adapter.send([MESSAGE])
            window = window_of(adapter)
            window.size = 1
            hanging = asyncio.create_task(adapter.send([replace(MESSAGE, to="hanging@example.test")]))
            while not any("hanging" in line for line in played.heard):
                await asyncio.sleep(0.001)
            async with asyncio.timeout(DEADLINE / 2):
                outcomes = await adapter.send(messages(100))
            hanging.cancel()
            await asyncio.gather(hanging, return_exceptions=True)
            await played.stop()

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 100
    assert window.size == 4


def window_of(adapter: Adapter) -> ConnectionWindow:
    assert isinstance(adapter, SmtpAdapter)
    window = adapter._pool._window
    assert window is not None
    return window


async def test_a_connection_has_its_number_of_messages() -> None:
    """Then it says goodbye and another takes over."""
    settings = {"connections": 1, "messages_per_connection": 4}
    async with played_smtp() as played, opened("smtp", smtp_settings(played.port, **settings)) as adapter:
        outcomes = await adapter.send(messages(10))

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 10
    assert played.connections == 3


async def test_an_idle_connection_says_goodbye() -> None:
    """It is not held for ever."""
    async with (
        played_smtp() as played,
        opened("smtp", smtp_settings(played.port, idle_seconds=0.05)) as adapter,
    ):
        await adapter.send([MESSAGE])
        async with asyncio.timeout(10):
            while "QUIT" not in played.heard:
                await asyncio.sleep(0.01)
        (outcome,) = await adapter.send([MESSAGE])

    assert isinstance(outcome, Accepted)
    assert played.connections == 2


@pytest.mark.parametrize("goodbye", [b"", b"421 4.4.2 idle for too long\r\n"])
async def test_a_connection_that_the_server_closed_is_replaced(goodbye: bytes) -> None:
    """Servers end idle connections, with a word or without; the next message does not suffer."""
    parts: dict[str, bytes | list[bytes]] = {".": [b"250 Ok\r\n" + goodbye + CLOSE, b"250 Ok\r\n"]}
    async with played_smtp(parts) as played, opened("smtp", smtp_settings(played.port)) as adapter:
        first = await adapter.send([MESSAGE])
        second = await adapter.send([MESSAGE])

    assert [type(outcome) for outcome in (*first, *second)] == [Accepted, Accepted]
    assert played.connections == 2


async def test_a_server_that_allows_fewer_connections() -> None:
    """Those that it lets in do the work of all."""
    parts: dict[str, bytes | list[bytes]] = {
        "BANNER": [b"220 mx\r\n", b"421 4.7.0 too many connections\r\n" + CLOSE]
    }
    async with (
        played_smtp(parts) as played,
        opened("smtp", smtp_settings(played.port, connections=4)) as adapter,
    ):
        outcomes = await adapter.send(messages(40))

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 40


async def test_a_dead_server_fails_a_set_at_once() -> None:
    """Not one message after the other."""
    parts: dict[str, bytes | list[bytes]] = {"BANNER": HANG}
    async with played_smtp(parts) as played:
        settings = smtp_settings(played.port, connections=2, connect_seconds=0.1)
        async with opened("smtp", settings) as adapter:
            outcomes = await adapter.send(messages(500))

    assert {type(outcome) for outcome in outcomes} == {TryLater}
    assert played.connections <= 2


async def test_a_set_has_an_end() -> None:
    """A server that hangs on every message does not keep the set for hours."""
    parts: dict[str, bytes | list[bytes]] = {"MAIL": HANG}
    async with played_smtp(parts) as played:
        settings = smtp_settings(played.port, connections=2, timeout_seconds=0.1, batch_seconds=0.2)
        async with opened("smtp", settings) as adapter:
            async with asyncio.timeout(adapter.longest_send.total_seconds()):
                outcomes = await adapter.send(messages(200))

    assert {type(outcome) for outcome in outcomes} == {TryLater}


async def test_closing_waits_for_what_is_under_way() -> None:
    """What waits in line is given back, what the server has is learned."""
    async with (
        played_smtp() as played,
        opened("smtp", smtp_settings(played.port, connections=1)) as adapter,
    ):
        call = asyncio.ensure_future(adapter.send(messages(300)))
        async with asyncio.timeout(10):
            while len(played.messages) < 3:
                await asyncio.sleep(0.001)
        await adapter.close()
        outcomes = await call

    accepted = [outcome for outcome in outcomes if isinstance(outcome, Accepted)]
    assert len(accepted) == len(played.messages)
    assert {type(outcome) for outcome in outcomes} <= {Accepted, TryLater}


# --- the time of one message


async def test_a_server_that_is_never_reached_has_no_more_time_than_a_message() -> None:
    """And whoever has longer waits on."""
    async with played_smtp({"BANNER": HANG}) as played:
        settings = smtp_settings(played.port, connections=2, connect_seconds=60, timeout_seconds=0.5)
        async with opened("smtp", settings) as adapter:
            patient = asyncio.ensure_future(adapter.send(messages(1)))
            async with asyncio.timeout(20):
                outcomes = await adapter.send(messages(5), within=0.2)
            waits = not patient.done()
        await patient

    assert {(type(o), getattr(o, "code", "")) for o in outcomes} == {(TryLater, "connection")}
    assert waits


async def test_a_server_that_is_reached_late_still_has_those_who_wait() -> None:
    """Connecting counts while nobody is connected; those who have the time are sent."""
    async with (
        played_smtp({"BANNER": SLOW + USUAL["BANNER"]}) as played,
        opened("smtp", smtp_settings(played.port, connections=1)) as adapter,
    ):
        outcomes = await adapter.send(messages(5), within=2.0)

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 5


@pytest.mark.parametrize("phase", ["MAIL", "RCPT", "DATA"])
async def test_what_used_up_its_time_is_not_begun_again(phase: str) -> None:
    """Over another connection it would have twice as much; nothing was sent, so it can be tried later."""
    async with played_smtp({phase: HANG}) as played:
        settings = smtp_settings(played.port, connections=1, timeout_seconds=60)
        async with opened("smtp", settings) as adapter, asyncio.timeout(20):
            outcomes = await adapter.send(messages(1), within=0.2)

    assert [type(outcome) for outcome in outcomes] == [TryLater]
    assert played.connections == 1


# --- TLS and login


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_starttls_and_login(tmp_path: Path, host: str) -> None:
    """The password goes over TLS, after the certificate was checked against the pinned file."""
    made = make_certificate(tmp_path)
    parts: dict[str, bytes | list[bytes]] = {**AUTH}
    settings = {
        "security": "starttls",
        "ca_file": str(made.cert_file),
        "username": "u",
        "password_ref": "known://p",
    }
    async with (
        played_smtp(parts, tls=made.server_context()) as played,
        opened("smtp", smtp_settings(played.port, **{**settings, "host": host}), p="hunter2") as adapter,
    ):
        (outcome,) = await adapter.send([MESSAGE])

    assert isinstance(outcome, Accepted)
    assert [line.partition(" ")[0] for line in played.heard[:4]] == ["EHLO", "STARTTLS", "EHLO", "AUTH"]


async def test_a_login_in_three_steps(tmp_path: Path) -> None:
    """AUTH LOGIN where PLAIN is not offered."""
    made = make_certificate(tmp_path)
    parts: dict[str, bytes | list[bytes]] = {
        "STARTTLS": b"220 go\r\n",
        "EHLO": b"250-mx\r\n250-STARTTLS\r\n250-AUTH LOGIN\r\n250 PIPELINING\r\n",
        "AUTH": b"334 VXNlcm5hbWU6\r\n",
        # The user name and the password in base64; the played server looks its parts up in capitals.
        "DQ==": b"334 UGFzc3dvcmQ6\r\n",
        "AHVUDGVYMG==": b"235 ok\r\n",
    }
    settings = {
        "security": "starttls",
        "ca_file": str(made.cert_file),
        "username": "u",
        "password_ref": "known://p",
    }
    async with (
        played_smtp(parts, tls=made.server_context()) as played,
        opened("smtp", smtp_settings(played.port, **settings), p="hunter2") as adapter,
    ):
        (outcome,) = await adapter.send([MESSAGE])

    assert isinstance(outcome, Accepted)


@pytest.mark.parametrize(
    ("parts", "pinned", "reason"),
    [
        ({"EHLO": b"250 mx\r\n"}, True, "does not offer STARTTLS"),
        ({"STARTTLS": b"454 4.7.0 not now\r\n"}, True, "does not begin TLS"),
        ({"STARTTLS": b"220 go\r\n250 injected\r\n"}, True, "ahead of TLS"),
        ({"AUTH": b"535 5.7.8 bad password hunter2 for u\r\n"}, True, "did not accept the user name"),
        ({}, False, "certificate"),
    ],
)
async def test_nothing_is_sent_where_safety_fails(
    tmp_path: Path, parts: dict[str, bytes], pinned: bool, reason: str
) -> None:
    """No TLS, a stranger's certificate, a wrong password: later, with the reason and without the password."""
    made = make_certificate(tmp_path)
    settings = {"security": "starttls", "username": "u", "password_ref": "known://p"}
    if pinned:
        settings["ca_file"] = str(made.cert_file)
    async with (
        played_smtp({**AUTH, **parts}, tls=made.server_context()) as played,
        opened("smtp", smtp_settings(played.port, **settings), p="hunter2") as adapter,
    ):
        (outcome,) = await adapter.send([MESSAGE])

    assert isinstance(outcome, TryLater)
    assert reason in outcome.reason
    assert "hunter2" not in repr(outcome)
    assert played.messages == []


async def test_a_certificate_for_another_host_is_not_trusted(tmp_path: Path) -> None:
    """Pinned or not, the name has to be right."""
    made = make_certificate(tmp_path, name="elsewhere.example", address="192.0.2.1")
    settings = {"security": "starttls", "ca_file": str(made.cert_file)}
    async with (
        played_smtp({**AUTH}, tls=made.server_context()) as played,
        opened("smtp", smtp_settings(played.port, **settings)) as adapter,
    ):
        (outcome,) = await adapter.send([MESSAGE])

    assert isinstance(outcome, TryLater)
    assert outcome.code == "tls"


async def test_an_address_that_is_not_allowed_is_not_connected_to() -> None:
    """The guard is asked about the address behind the name."""
    asked: list[str] = []

    def guard(address: str) -> bool:
        asked.append(address)
        return False

    async with played_smtp() as played:
        adapter = await open_adapter(
            "smtp",
            smtp_settings(played.port, host="localhost"),
            KnownSecrets(),
            surroundings=AdapterContext(clock=SystemClock(), guard=guard),
        )
        (outcome,) = await adapter.send([MESSAGE])
        await adapter.close()

    assert isinstance(outcome, TryLater)
    assert outcome.code == "address"
    assert "127.0.0.1" in asked
    assert played.connections == 0
