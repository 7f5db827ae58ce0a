"""A mail that comes back: the return path names its attempt, the address is suppressed, and explain says why."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from tests.integration.erasure.somebody import erase
from tests.support.bounce_mails import auto_reply, bring, converse, delivery_status, feedback
from tests.support.dovecot import dovecot
from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, Sender
from tests.support.real_mta import Mta, exim, postfix
from tidings.bootstrap.observers import BounceMetrics
from tidings.router.bounces.receive_bounce import BounceReceiver
from tidings.router.bounces.server import BounceServer, BounceServerLimits
from tidings.router.callbacks.forget import BodyEraser

T = TypeVar("T")

pytestmark = pytest.mark.xdist_group("pipeline-bounces")


@pytest.fixture(autouse=True, scope="module")
def _return_path(world: PipelineWorld) -> None:
    """Every mail of this file has a return path of its own."""
    path = world.folder / "secrets" / "smtp.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"bounce_address": "bounces@mail.acme.test"}))


@asynccontextmanager
async def _listening(world: PipelineWorld, protocol: Any = "smtp") -> AsyncIterator[int]:
    desk = world.system.callbacks.bounces
    server = BounceServer(desk, protocol=protocol, host="127.0.0.1", port=0, name="tidings.test")
    async with server.listening() as port:
        yield port


async def _sent(sender: Sender) -> tuple[str, str, str]:
    """A notification that was sent: its id, whom it went to, and the envelope's sender."""
    to = f"laila-{unused()}@example.test"
    accepted = await sender.send(to)
    await sender.world.settle()
    [mail] = sender.world.sandbox.store.find(to=to)
    assert await sender.status(accepted["id"]) == "delivered"
    return accepted["id"], to, mail.sender


async def _settle(world: PipelineWorld) -> None:
    await world.system.callbacks.job.drain()
    for relay in world.relays:
        await relay.drain()
    await world.system.consumers.receipts.drain()
    await world.settle()


async def _suppressed(sender: Sender) -> list[str]:
    query = "SELECT reason FROM notification.suppressions WHERE released_at IS NULL"
    return [row["reason"] for row in await sender.rows(query)]


async def test_a_bounce_suppresses_its_address_and_is_explained(world: PipelineWorld) -> None:
    async with world.sender() as sender, _listening(world) as port:
        sent, to, path = await _sent(sender)
        assert path.startswith("bounces+")
        assert path.endswith("@mail.acme.test")
        for _ in range(2):
            # The same bounce twice is one outcome; the address in the report is not looked at.
            assert await bring(port, path, delivery_status(path)) == {}
        await _settle(world)
        assert await sender.status(sent) == "bounced"
        assert await _suppressed(sender) == ["invalid_address"]
        explained = await sender.explain(sent)
        assert "5.1.1" in json.dumps(explained)
        assert to not in json.dumps(explained)
        # The attempt keeps the name that the server gave the mail.
        [attempt] = await sender.rows("SELECT provider_message_id FROM chan.delivery_attempts")
        assert attempt["provider_message_id"] is not None
        events = await sender.rows("SELECT status, provider_code FROM chan.delivery_attempt_events")
        assert [(one["status"], one["provider_code"]) for one in events] == [("failed_perm", "5.1.1")]


async def test_only_return_paths_that_we_wrote_are_taken(world: PipelineWorld) -> None:
    async with world.sender() as sender, _listening(world) as port:
        _, to, path = await _sent(sender)
        forged = path.replace("+", "+a" if path[8] != "a" else "+b", 1)
        forged = forged[:9] + forged[10:]
        for address in (
            forged,
            "bounces@mail.acme.test",
            to,
            "postmaster@mail.acme.test",
            "x@elsewhere.example",
        ):
            refused = await bring(port, address, delivery_status(address))
            assert refused[address][0] == 550
        await _settle(world)
        assert await _suppressed(sender) == []


async def test_lmtp_answers_for_each_recipient(world: PipelineWorld) -> None:
    async with world.sender() as sender, _listening(world, "lmtp") as port:
        one, _, path = await _sent(sender)
        two, _, other = await _sent(sender)
        said = [
            b"LHLO mx",
            b"MAIL FROM:<>",
            *(b"RCPT TO:<%s>" % a.encode() for a in (path, "x@y.test", other)),
        ]
        mail = delivery_status(path, status="5.2.1", diagnostic=None)
        answers = await converse(port, b"\r\n".join([*said, b"DATA", mail + b".", b"QUIT", b""]))
        #                    LHLO   MAIL   RCPT   RCPT   RCPT   DATA   one each      QUIT
        assert answers == ["220", "250", "250", "250", "550", "250", "354", "250", "250", "221"]
        await _settle(world)
        assert [await sender.status(id_) for id_ in (one, two)] == ["bounced", "bounced"]
        assert await _suppressed(sender) == ["hard_bounce", "hard_bounce"]


async def test_delays_and_absences_are_no_bounces(world: PipelineWorld) -> None:
    async with world.sender() as sender, _listening(world) as port:
        sent, _, path = await _sent(sender)
        await bring(port, path, delivery_status(path, action="delayed", status="4.4.1", diagnostic=None))
        await bring(port, path, auto_reply(path), sender="laila@example.test")
        await bring(port, path, feedback(path, kind="not-spam"))
        await _settle(world)
        assert await sender.status(sent) == "delivered"
        assert await _suppressed(sender) == []
        events = await sender.rows("SELECT status, provider_code FROM chan.delivery_attempt_events")
        assert [(one["status"], one["provider_code"]) for one in events] == [("sent", "4.4.1")]


async def test_a_complaint_suppresses(world: PipelineWorld) -> None:
    async with world.sender() as sender, _listening(world) as port:
        _, _, path = await _sent(sender)
        assert await bring(port, path, feedback(path)) == {}
        await _settle(world)
        assert await _suppressed(sender) == ["complaint"]


async def test_what_can_not_be_read_is_kept_and_shown(world: PipelineWorld) -> None:
    async with world.sender() as sender, _listening(world) as port:
        sent, _, path = await _sent(sender)
        mail = f"To: {path}\r\nSubject: Re: Your order\r\n\r\nWhat is this? laila@example.test\r\n".encode()
        assert await bring(port, path, mail) == {}
        await _settle(world)
        assert await sender.status(sent) == "delivered"
        assert await _suppressed(sender) == []
        async with world.db.platform() as tx:
            rows = await tx.connection.fetch(
                "SELECT id, status, reason FROM chan.webhook_inbound WHERE reason = 'unreadable'"
            )
        assert [(row["status"], row["reason"]) for row in rows] == [("dlq", "unreadable")]
        events = await sender.rows("SELECT status, provider_code FROM chan.delivery_attempt_events")
        assert [(one["status"], one["provider_code"]) for one in events] == [("unknown", "unreadable_mail")]
        assert world.system.router.metrics.bounce_mails.labels("smtp", "unreadable")._value.get() == 1


async def test_a_mail_ends_at_its_dot_however_it_comes(world: PipelineWorld) -> None:
    async with world.sender() as sender, _listening(world) as port:
        sent, _, path = await _sent(sender)
        before = b"EHLO mx\r\nMAIL FROM:<>\r\nRCPT TO:<%s>\r\nDATA\r\n" % path.encode()
        mail = delivery_status(path, diagnostic="smtp; 550 no\r\n..such user\r\n...")
        pieces = [bytes([byte]) for byte in b"\r\n.\r\nQUIT\r\n"]
        answers = await converse(port, before, mail.removesuffix(b"\r\n"), *pieces, pause=0.001)
        assert answers == ["220", "250", "250", "250", "354", "250", "221"]
        # A mail that is larger than what is kept of it: the report stands before what it quotes.
        large = delivery_status(path, status="5.2.2", diagnostic=None) + b"x" * 70 * 1024 * 20 + b"\r\n"
        answers = await converse(port, before, large, b".\r\nQUIT\r\n")
        assert answers == ["220", "250", "250", "250", "354", "250", "221"]
        await _settle(world)
        events = await sender.rows("SELECT provider_code FROM chan.delivery_attempt_events ORDER BY 1")
        assert [one["provider_code"] for one in events] == ["5.1.1", "5.2.2"]
        assert await sender.status(sent) == "bounced"


@pytest.mark.parametrize(
    ("said", "answers"),
    [
        (b"x" * 5000, ["220", "500"]),
        (b"EHLO mx\r\nMAIL FROM:<>\r\nDATA\r\nQUIT\r\n", ["220", "250", "250", "503", "221"]),
        (b"MAIL FROM:<>\r\nRCPT TO:<a@b>\r\nLHLO mx\r\nQUIT\r\n", ["220", "503", "503", "500", "221"]),
        (b"EHLO mx\r\nMAIL FROM:a@b\r\nAUTH PLAIN\r\nEXPN x\r\n", ["220", "250", "501", "502", "502"]),
        (b"what\r\n" * 30, ["220", *["502"] * 20, "421"]),
        (b"EHLO mx\r\n\x00\xff\xfe\r\nNOOP\r\nRSET\r\n", ["220", "250", "502", "250", "250"]),
        (b"NOOP\r\n" * 120, ["220", *["250"] * 100, "421"]),
    ],
    ids=["long line", "nobody to give it to", "out of order", "unknown", "enough", "no text", "no mail"],
)
async def test_who_speaks_badly_is_told_so(world: PipelineWorld, said: bytes, answers: list[str]) -> None:
    async with _listening(world) as port:
        assert await converse(port, said) == answers


async def test_nothing_is_acknowledged_that_is_not_kept(world: PipelineWorld) -> None:
    """The store of raw bodies is away: the other server is asked to come again."""
    async with world.sender() as sender, _listening(world) as port:
        sent, _, path = await _sent(sender)
        blobs = world.folder / "blobs"
        blobs.rename(world.folder / "away")
        blobs.write_text("no folder")
        try:
            refused = await bring(port, path, delivery_status(path))
        finally:
            blobs.unlink()
            (world.folder / "away").rename(blobs)
        assert refused[""][0] == 451
        await _settle(world)
        assert await sender.status(sent) == "delivered"
        assert await bring(port, path, delivery_status(path)) == {}
        await _settle(world)
        assert await sender.status(sent) == "bounced"


async def test_one_return_path_is_heard_so_often(world: PipelineWorld) -> None:
    """Who has a token has a mail of ours; a flood of reports fills nothing."""
    async with world.sender() as sender, _listening(world) as port:
        _, _, path = await _sent(sender)
        answers = [await bring(port, path, delivery_status(path)) for _ in range(12)]
        assert [bool(one) for one in answers] == [False] * 10 + [True] * 2
        assert answers[-1][""][0] == 451


async def test_a_feedback_loop_has_an_address_of_its_own(world: PipelineWorld) -> None:
    """Which is taken without a token; the report has to name the message."""
    system = world.system
    desk = BounceReceiver(
        system.db,
        system.router.return_tokens,
        system.callbacks.intake,
        clock=system.clock,
        observer=BounceMetrics(system.router.metrics),
        addresses=["FBL@acme.test"],
    )
    server = BounceServer(desk, protocol="smtp", host="127.0.0.1", port=0, name="tidings.test")
    async with world.sender() as sender, server.listening() as port:
        _, _, path = await _sent(sender)
        refused = await bring(port, "fbl@acme.test", feedback("fbl@acme.test"))
        assert refused[""][0] == 554
        assert await bring(port, "fbl@acme.test", feedback("fbl@acme.test", original_mail_from=path)) == {}
        await _settle(world)
        assert await _suppressed(sender) == ["complaint"]


async def test_a_server_keeps_to_its_limits(world: PipelineWorld) -> None:
    """Of connections, of silence, and of time when it is told to stop."""
    limits = BounceServerLimits(connections=2, command_seconds=0.3)
    server = BounceServer(
        world.system.callbacks.bounces, protocol="smtp", host="127.0.0.1", port=0, name="t", limits=limits
    )
    async with server.listening() as port:
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        for reader, _ in silent:
            assert (await reader.readline()).startswith(b"220")
        assert await converse(port) == ["421"]
        for reader, _ in silent:
            assert (await reader.read()).startswith(b"421")
    server = BounceServer(world.system.callbacks.bounces, protocol="smtp", host="127.0.0.1", port=0, name="t")
    async with server.listening() as port:
        silent.append(await asyncio.open_connection("127.0.0.1", port))
        assert (await silent[-1][0].readline()).startswith(b"220")
    assert (await silent[-1][0].read()).startswith(b"421")
    for _, writer in silent:
        writer.close()


async def test_one_address_gets_a_part_of_the_connections(world: PipelineWorld) -> None:
    """Of the port that strangers reach; over LMTP one mail server brings everything."""
    limits = BounceServerLimits(connections=5, connections_from_one=1)
    said: dict[str, list[bytes]] = {}
    for protocol in ("smtp", "lmtp"):
        server = BounceServer(
            world.system.callbacks.bounces,
            protocol=protocol,
            host="127.0.0.1",
            port=0,
            name="t",
            limits=limits,
        )
        async with server.listening() as port:
            opened = [
                await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
                for address in ("127.0.0.1", "127.0.0.1", "127.0.0.2")
            ]
            said[protocol] = [(await reader.readline())[:3] for reader, _ in opened]
            for _, writer in opened:
                writer.close()

    assert said == {"smtp": [b"220", b"421", b"220"], "lmtp": [b"220"] * 3}


async def test_a_bounce_may_come_before_its_attempt_is_written(world: PipelineWorld) -> None:
    """A server on the same machine is quicker than our own record."""
    async with world.sender() as sender, _listening(world) as port:
        tokens = world.system.router.return_tokens
        _, _, path = await _sent(sender)
        token = tokens.read(path)
        assert token is not None
        async with world.db.worker() as tx:
            account = await tx.connection.fetchval(
                "SELECT id FROM chan.channel_adapter_configs WHERE right(id, 8) = $1", token.account_mark
            )
        nothing_yet = tokens.write(account, "attempt_01JCQ8ZK6T9Y4M2V7N5B3D1F0H")
        assert await bring(port, f"{nothing_yet}@x.test", delivery_status("x@x.test")) == {}
        await _settle(world)
        async with world.db.platform() as tx:
            status = await tx.connection.fetchval(
                "SELECT status FROM chan.webhook_inbound_events WHERE vendor_message_id LIKE 'attempt%F0H'"
            )
        assert status == "late_correlate"


async def test_an_erased_person_takes_along_what_came_back(world: PipelineWorld) -> None:
    query = (
        "SELECT request.body_key IS NOT NULL AS readable FROM chan.webhook_inbound AS request "
        "JOIN chan.webhook_inbound_events AS event ON event.webhook_inbound_id = request.id "
        "WHERE event.vendor_message_id = $1"
    )
    readable = []
    async with world.sender() as sender, _listening(world) as port:
        sent, _, path = await _sent(sender)
        # Heard, and not yet looked at when they are erased.
        await bring(port, path, delivery_status(path))
        token = world.system.router.return_tokens.read(path)
        assert token is not None
        [row] = await sender.rows("SELECT recipient_id FROM notification.notifications WHERE id = $1", sent)
        for step in (erase(sender, row["recipient_id"]), BodyEraser(world.db, world.clock).sweep(100)):
            async with world.db.platform() as tx:
                readable.append(await tx.connection.fetchval(query, token.attempt_id))
            await step
        async with world.db.platform() as tx:
            readable.append(await tx.connection.fetchval(query, token.attempt_id))
    assert readable == [True, True, False]


@asynccontextmanager
async def _over(world: PipelineWorld, **settings: Any) -> AsyncIterator[None]:
    """Mail goes through another server meanwhile."""
    path = world.folder / "secrets" / "smtp.json"
    before = path.read_text()
    path.write_text(json.dumps({"bounce_address": "bounces@mail.acme.test", "idle_seconds": 0.2} | settings))
    await world.advance(minutes=2)
    try:
        yield
    finally:
        path.write_text(before)
        await world.advance(minutes=2)


@asynccontextmanager
async def _running(server: AbstractContextManager[T]) -> AsyncIterator[T]:
    """Beside this loop: a server that ends says goodbye to us first."""
    made = await asyncio.to_thread(server.__enter__)
    try:
        yield made
    finally:
        await asyncio.to_thread(server.__exit__, None, None, None)


async def _until_bounced(sender: Sender, notification_id: str, server: Mta) -> None:
    try:
        async with asyncio.timeout(60):
            while await sender.status(notification_id) != "bounced":
                await asyncio.sleep(0.1)
                await _settle(sender.world)
    except TimeoutError:
        pytest.fail(server.log())


async def test_bounces_are_read_from_a_mailbox(world: PipelineWorld) -> None:
    """Dovecot's: what was kept is seen afterwards, and what is somebody else's stays as it was."""
    async with world.sender() as sender, dovecot() as server:
        mailbox = {
            "bounce_imap_url": f"imaps://bounces@localhost:{server.port}/INBOX",
            "bounce_imap_password": "hunter2",
            "ca_file": str(server.certificate.cert_file),
        }
        sandbox = {"host": world.sandbox.host, "port": world.sandbox.smtp_port, "security": "none"}
        async with _over(world, **sandbox, **mailbox):
            sent, _, path = await _sent(sender)
            server.deliver("bounces", "bounce", delivery_status(path))
            server.deliver(
                "bounces", "letter", b"From: a@b.test\r\nTo: bounces@mail.acme.test\r\n\r\nHello\r\n"
            )
            server.deliver("bounces", "absence", auto_reply(path))
            reading = world.system.callbacks.bounce_mailboxes
            assert [await reading.turn(), await reading.turn()] == [2, 0]
            await _settle(world)
            # Later, so that the bounce is heard first: a mailbox has no order but that.
            server.deliver("bounces", "feedback", feedback("fbl@acme.test", original_mail_from=path))
            assert [await reading.turn(), await reading.turn()] == [1, 0]
            assert server.seen("bounces") == {
                "bounce": True,
                "letter": False,
                "absence": True,
                "feedback": True,
            }
            # Another process begins anew, and finds nothing new; while somebody reads, nobody else does.
            async with world.another_worker() as other:
                held = await world.system.kernel.hot_state.leases.acquire(
                    None, await _lease_of(world), "somebody", timedelta(minutes=1)
                )
                server.deliver("bounces", "again", delivery_status(path))
                assert held is not None
                assert await other.callbacks.bounce_mailboxes.turn() == 0
                await world.system.kernel.hot_state.leases.release(held)
                assert await other.callbacks.bounce_mailboxes.turn() == 1
        await _settle(world)
        assert await sender.status(sent) == "bounced"
        assert await _suppressed(sender) == ["invalid_address"]
        events = await sender.rows("SELECT status FROM chan.delivery_attempt_events ORDER BY 1")
        assert [one["status"] for one in events] == ["complaint", "failed_perm"]


async def _lease_of(world: PipelineWorld) -> str:
    async with world.db.platform() as tx:
        account = await tx.connection.fetchval(
            "SELECT id FROM chan.channel_adapter_configs WHERE provider = 'smtp' AND tenant_id IS NULL"
        )
    return f"bounce_mailbox:{account}"


async def test_a_mail_that_postfix_bounces_suppresses_its_address(world: PipelineWorld) -> None:
    """Postfix takes it, the next server refuses the person, and Postfix sends its report to the return path, over LMTP."""
    async with world.sender() as sender, _listening(world) as refusing, _listening(world, "lmtp") as port:
        ways = f"example.test=smtp:[127.0.0.1]:{refusing}, mail.acme.test=lmtp:inet:127.0.0.1:{port}"
        bouncing = postfix(
            main={"transport_maps": f"inline:{{{ways}}}", "recipient_delimiter": "+"},
            services=["lmtp unix - - n - - lmtp"],
        )
        async with (
            _running(bouncing) as server,
            _over(world, host="127.0.0.1", port=server.port, security="none"),
        ):
            sent = (await sender.send("laila.gone@example.test"))["id"]
            await world.settle()
            await _until_bounced(sender, sent, server)
        assert await _suppressed(sender) == ["invalid_address"]
        explained = await sender.explain(sent)
        assert explained["summary"].startswith("It was sent, and came back on")
        assert "laila.gone" not in json.dumps(explained)
        assert "5.1.1" in json.dumps(explained)


async def test_a_mail_that_exim_bounces_suppresses_its_address(world: PipelineWorld) -> None:
    """The same with Exim, which brings its report over SMTP."""
    async with world.sender() as sender, _listening(world) as port:
        routers = """
onwards:
  driver = manualroute
  domains = example.test : mail.acme.test
  route_list = * 127.0.0.1
  self = send
  transport = onwards
"""
        transports = f"""
onwards:
  driver = smtp
  port = {port}
  allow_localhost
  hosts_override
"""
        async with _running(exim(routers=routers, transports=transports)) as (server, certificate):
            login = {"username": "tidings", "password": "hunter2", "ca_file": str(certificate.cert_file)}
            async with _over(world, host="localhost", port=server.port, **login):
                sent = (await sender.send("laila.gone@example.test"))["id"]
                await world.settle()
                await _until_bounced(sender, sent, server)
        assert await _suppressed(sender) == ["invalid_address"]
        assert "5.1.1" in json.dumps(await sender.explain(sent))
