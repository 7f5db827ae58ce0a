"""A server that drops, stalls and lies at every point of the conversation, and what may be said of the message."""

import asyncio
from dataclasses import replace

import pytest

from tests.support.played_smtp import CLOSE, HANG, played_smtp
from tests.support.vendors import MESSAGE, messages, opened, smtp_settings
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned

GARBAGE = b"\xff\x00nonsense\r\n"
NO_PIPELINING = b"250-mx.played.test\r\n250 SIZE 10485760\r\n"


@pytest.mark.parametrize("pipelining", [True, False])
@pytest.mark.parametrize("fault", [CLOSE, HANG, GARBAGE, b"299\r\n" * 40])
@pytest.mark.parametrize("phase", ["BANNER", "EHLO", "MAIL", "RCPT", "DATA", "."])
async def test_only_the_final_dot_makes_it_uncertain(phase: str, fault: bytes, pipelining: bool) -> None:
    """Before the content went out nothing was sent, and that is what is told; after it, only the server knows."""
    parts: dict[str, bytes | list[bytes]] = {} if pipelining else {"EHLO": NO_PIPELINING}
    async with played_smtp({**parts, phase: fault}) as played:
        settings = smtp_settings(played.port, timeout_seconds=0.25, connect_seconds=0.25)
        async with opened("smtp", settings) as adapter:
            (outcome,) = await adapter.send([MESSAGE])

    lied = phase == "." and fault.startswith(b"299")
    expected = Accepted if lied else Unlearned if phase == "." else TryLater
    assert type(outcome) is expected
    assert len(played.messages) == (1 if phase == "." else 0)


@pytest.mark.parametrize("pipelining", [True, False])
@pytest.mark.parametrize(
    ("parts", "kind", "code"),
    [
        ({"MAIL": b"550 5.7.1 sender not allowed\r\n", "RCPT": b"503 5.5.1 no\r\n", "DATA": b"503 5.5.1 no\r\n"}, Refused, "5.7.1"),
        ({"MAIL": b"451 4.3.0 wait\r\n", "RCPT": b"503 5.5.1 no\r\n", "DATA": b"503 5.5.1 no\r\n"}, TryLater, "4.3.0"),
        ({"RCPT": b"550 5.1.1 unknown\r\n", "DATA": b"554 5.5.1 no recipients\r\n"}, Refused, "5.1.1"),
        ({"RCPT": b"450 4.2.1 greylisted\r\n", "DATA": b"554 5.5.1 no recipients\r\n"}, TryLater, "4.2.1"),
        ({"DATA": b"451 4.3.1 disk full\r\n"}, TryLater, "4.3.1"),
        ({".": b"554 5.7.1 looks like spam\r\n"}, Refused, "5.7.1"),
        ({".": b"452 4.3.1 disk full\r\n"}, TryLater, "4.3.1"),
        ({".": b"421 4.3.2 going down\r\n" + CLOSE}, TryLater, "4.3.2"),
        ({"RCPT": b"421 4.7.0 enough\r\n" + CLOSE}, TryLater, "4.7.0"),
    ],
)  # fmt: skip
async def test_refusals_at_every_point(
    parts: dict[str, bytes | list[bytes]], kind: type[Outcome], code: str, pipelining: bool
) -> None:
    """4xx is later, 5xx is no, wherever it is said; the first word counts."""
    hello: dict[str, bytes | list[bytes]] = {} if pipelining else {"EHLO": NO_PIPELINING}
    async with (
        played_smtp({**parts, **hello}) as played,
        opened("smtp", smtp_settings(played.port)) as adapter,
    ):
        (outcome,) = await adapter.send([MESSAGE])

    assert type(outcome) is kind
    assert isinstance(outcome, Refused | TryLater)
    assert outcome.code == code
    assert played.connections == 1


@pytest.mark.parametrize("pipelining", [True, False])
@pytest.mark.parametrize(
    ("parts", "kind", "code"),
    [
        # Exim's `drop`.
        ({"RCPT": b"550 5.1.1 no such user, goodbye\r\n" + CLOSE}, Refused, "5.1.1"),
        # Postfix' `521`, and limits against harvesting.
        ({"RCPT": b"521 5.7.1 Go away\r\n" + CLOSE}, Refused, "5.7.1"),
        ({"RCPT": b"450 4.7.1 too many unknown users\r\n" + CLOSE}, TryLater, "4.7.1"),
        ({"MAIL": b"550 5.7.1 sender not allowed\r\n" + CLOSE}, Refused, "5.7.1"),
        ({"DATA": b"554 5.5.1 no\r\n" + CLOSE}, Refused, "5.5.1"),
        # The refusal is followed by something else than its proper end.
        ({"RCPT": b"550 5.1.1 unknown\r\n", "DATA": b"421 4.7.0 too many errors\r\n" + CLOSE}, Refused, "5.1.1"),
        ({"RCPT": b"550 5.1.1 unknown\r\n", "DATA": GARBAGE}, Refused, "5.1.1"),
        ({"RCPT": b"550 5.1.1 unknown\r\n", "DATA": HANG}, Refused, "5.1.1"),
        ({"RCPT": b"550 5.1.1 unknown\r\n", ".": CLOSE}, Refused, "5.1.1"),
    ],
)  # fmt: skip
async def test_a_refusal_that_ends_the_connection_is_a_refusal(
    parts: dict[str, bytes | list[bytes]], kind: type[Outcome], code: str, pipelining: bool
) -> None:
    """What was read before the hang-up counts, and is not asked for again."""
    hello: dict[str, bytes | list[bytes]] = {} if pipelining else {"EHLO": NO_PIPELINING}
    async with (
        played_smtp({**parts, **hello}) as played,
        opened("smtp", smtp_settings(played.port, timeout_seconds=0.25)) as adapter,
    ):
        (outcome,) = await adapter.send([MESSAGE])

    assert type(outcome) is kind
    assert isinstance(outcome, Refused | TryLater)
    assert outcome.code == code
    assert played.connections == 1


@pytest.mark.parametrize("pipelining", [True, False])
async def test_a_refusal_leaves_the_next_message_alone(pipelining: bool) -> None:
    """On the same connection, after RSET."""
    parts: dict[str, bytes | list[bytes]] = {
        "RCPT": [b"250 Ok\r\n", b"550 5.1.1 unknown\r\n", b"250 Ok\r\n"],
        "DATA": [b"354 go\r\n", b"554 no\r\n", b"354 go\r\n"] if pipelining else b"354 go\r\n",
    }
    if not pipelining:
        parts["EHLO"] = NO_PIPELINING
    async with (
        played_smtp(parts) as played,
        opened("smtp", smtp_settings(played.port, connections=1)) as adapter,
    ):
        outcomes = await adapter.send(messages(4))

    assert [type(outcome) for outcome in outcomes] == [Accepted, Refused, Accepted, Accepted]
    assert played.connections == 1
    assert played.heard.count("RSET") == 1
    assert len(played.messages) == 3


async def test_with_pipelining_the_next_envelope_travels_along() -> None:
    """Each message has its own transaction, and content goes only to those who were let in."""
    async with played_smtp() as played, opened("smtp", smtp_settings(played.port, connections=1)) as adapter:
        outcomes = await adapter.send(messages(20))

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 20
    assert [line.partition(" ")[0] for line in played.heard[1:61]] == ["MAIL", "RCPT", "DATA"] * 20
    for i, data in enumerate(played.messages):
        assert f"laila.unmistakable.{i}@example.test".encode() in data


async def test_a_connection_lost_between_two_messages() -> None:
    """The one with its dot sent is uncertain; the one announced behind it goes out over another connection."""
    parts: dict[str, bytes | list[bytes]] = {".": [CLOSE, b"250 2.0.0 Ok\r\n"]}
    async with (
        played_smtp(parts) as played,
        opened("smtp", smtp_settings(played.port, connections=1)) as adapter,
    ):
        outcomes = await adapter.send(messages(3))

    assert [type(outcome).__name__ for outcome in outcomes] == ["Unlearned", "Accepted", "Accepted"]
    assert played.connections == 2
    assert len(played.messages) == 3


async def test_a_server_that_takes_the_message_of_nobody() -> None:
    """RCPT refused and DATA accepted all the same: a lone dot ends it, and the connection goes on."""
    parts: dict[str, bytes | list[bytes]] = {
        "RCPT": [b"550 5.1.1 unknown\r\n", b"250 Ok\r\n"],
        "DATA": b"354 go\r\n",
        ".": [b"554 5.5.1 no recipients\r\n", b"250 2.0.0 Ok\r\n"],
    }
    async with (
        played_smtp(parts, reads_lone_dots=True) as played,
        opened("smtp", smtp_settings(played.port, connections=1)) as adapter,
    ):
        outcomes = await adapter.send(messages(2))

    assert [type(outcome) for outcome in outcomes] == [Refused, Accepted]
    assert played.messages[0] == b""


@pytest.mark.parametrize(
    ("hello", "message", "code"),
    [
        (b"250-mx\r\n250 SIZE 1000\r\n", replace(MESSAGE, text="x" * 2000), "5.3.4"),
        (b"250-mx\r\n250 PIPELINING\r\n", replace(MESSAGE, to="لیلا@example.test"), "5.6.7"),
    ],
)
async def test_what_a_server_can_not_take_is_not_offered(hello: bytes, message: object, code: str) -> None:
    """Too large, or an address that needs SMTPUTF8: a clear refusal, and not a byte of the message sent."""
    async with played_smtp({"EHLO": hello}) as played, opened("smtp", smtp_settings(played.port)) as adapter:
        (outcome,) = await adapter.send([message])  # type: ignore[list-item]

    assert isinstance(outcome, Refused)
    assert outcome.code == code
    assert not any(line.startswith("MAIL") for line in played.heard)


async def test_an_address_in_another_script() -> None:
    """SMTPUTF8 is asked for, and the address goes over the wire as it is."""
    async with played_smtp() as played, opened("smtp", smtp_settings(played.port)) as adapter:
        (outcome,) = await adapter.send([replace(MESSAGE, to="لیلا@example.test")])

    assert isinstance(outcome, Accepted)
    assert "RCPT TO:<لیلا@example.test>" in played.heard
    assert any(line.endswith("BODY=8BITMIME SMTPUTF8") for line in played.heard)


async def test_an_old_server_that_knows_no_ehlo() -> None:
    """HELO will do."""
    async with (
        played_smtp({"EHLO": b"502 5.5.1 what?\r\n"}) as played,
        opened("smtp", smtp_settings(played.port)) as adapter,
    ):
        (outcome,) = await adapter.send([MESSAGE])

    assert isinstance(outcome, Accepted)


async def test_bounces_go_where_they_are_wanted() -> None:
    """The envelope's sender may be another than the header's."""
    settings = {"envelope_sender": "bounces@shop.example"}
    async with played_smtp() as played, opened("smtp", smtp_settings(played.port, **settings)) as adapter:
        await adapter.send([MESSAGE])

    assert any(line.startswith("MAIL FROM:<bounces@shop.example>") for line in played.heard)
    assert b"orders@shop.example" in played.messages[0]


async def test_a_reply_without_end_is_not_read_for_ever() -> None:
    """Neither in one line nor in many."""
    for flood in (b"250-" + b"x" * 200_000, b"250-x\r\n" * 40_000):
        async with (
            played_smtp({"MAIL": flood}) as played,
            opened("smtp", smtp_settings(played.port)) as adapter,
        ):
            (outcome,) = await adapter.send([MESSAGE])

        assert isinstance(outcome, TryLater)


async def test_a_large_message_that_was_cut_off() -> None:
    """While a part of it is still in our hands its dot is too: it is certain that the server did not take it."""
    heard = asyncio.Event()

    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Goes as far as 354, then reads nothing and hangs up."""
        for reply in (b"220 mx\r\n", b"250 mx\r\n", b"250 ok\r\n", b"250 ok\r\n", b"354 go\r\n"):
            writer.write(reply)
            if reply != b"354 go\r\n":
                await reader.readline()
        await reader.read(1)
        heard.set()
        writer.transport.abort()

    server = await asyncio.start_server(deaf, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, opened("smtp", smtp_settings(port)) as adapter:
        (outcome,) = await adapter.send([replace(MESSAGE, text="x" * 30_000_000)])

    assert heard.is_set()
    assert type(outcome) is TryLater
