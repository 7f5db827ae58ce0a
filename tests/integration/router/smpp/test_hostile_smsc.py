"""SMSCs that hang, talk nonsense, leave in the middle: what is certain is told as certain, and the link comes back."""

import asyncio
import contextlib
import socket
import struct
from dataclasses import replace

import pytest

from tests.support.played_smpp import CLOSE, HANG, SLOW, TAKEN, Part, pdu, played_smpp
from tests.support.smpp import SMS, Ears, bound, smpp_settings, sms
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.router.adapters.smpp.reassembly import MOST_BYTES, Assemblies
from tidings.router.adapters.smpp.session import NotWrittenError, SmppSession
from tidings.router.adapters.smpp.text_encoding import PartHeader

LONG = replace(SMS, text="x" * 400)
NOT_TAKEN = Part(status=0x0B)
THROTTLED = Part(status=0x58)


def _kinds(outcomes: object) -> list[type[Outcome]]:
    return [type(one) for one in outcomes]  # type: ignore[attr-defined]


async def test_one_that_hangs_after_the_bind_is_left() -> None:
    """Nobody knows what became of its messages; a silent link is given up, and another one opened."""
    async with played_smpp({"submit_sm": HANG}) as smsc:
        settings = smpp_settings(smsc.port, timeout_seconds=0.1, enquire_seconds=0.05)
        async with bound(settings, Ears()) as adapter:
            outcomes = await adapter.send(sms(3))
            await smsc.until("bind_transceiver", 2)

    assert _kinds(outcomes) == [Unlearned] * 3


async def test_one_that_never_answers_the_bind_has_got_nothing() -> None:
    """Then all may go later."""
    async with (
        played_smpp({"bind": HANG}) as smsc,
        bound(smpp_settings(smsc.port, connect_seconds=0.1)) as adapter,
    ):
        outcomes = await adapter.send(sms(2))

    assert _kinds(outcomes) == [TryLater] * 2
    assert smsc.named("submit_sm") == []


async def test_waiting_for_a_bind_costs_a_message_its_time() -> None:
    """It has not begun, and goes later; nobody waits for the bind's own patience."""
    async with (
        played_smpp({"bind": HANG}) as smsc,
        bound(smpp_settings(smsc.port, connect_seconds=60.0)) as adapter,
    ):
        async with asyncio.timeout(10):
            outcomes = await adapter.send(sms(2), within=0.05)

    assert [(type(one), getattr(one, "code", "")) for one in outcomes] == [(TryLater, "connection")] * 2


async def test_one_that_stops_reading_gets_no_more() -> None:
    """While what was written is still in our hands there is no room, and whoever asks knows that nothing went out."""
    rooms: list[int] = []
    async with played_smpp() as smsc:
        _, session = await asyncio.get_running_loop().create_connection(
            lambda: SmppSession(window=3, enquire_seconds=30, timeout_seconds=5, on_delivery=lambda *_: None),
            "127.0.0.1",
            smsc.port,
        )
        session.on_room = lambda: rooms.append(session.room)
        session.pause_writing()
        full = session.room
        with pytest.raises(NotWrittenError):
            await session.ask(0x04, b"", seconds=5)
        session.resume_writing()
        await session.unbind(seconds=5)

    assert full == 0
    assert rooms[0] == 3
    assert [one.name for one in smsc.heard] == ["unbind"]


async def test_one_that_only_talks_is_left() -> None:
    """Our answers that it does not read would fill our memory."""
    flood = pdu(0x00000015, 1) * 1000

    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(flood)
                await writer.drain()

    small = socket.socket()
    small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    small.bind(("127.0.0.1", 0))
    server = await asyncio.start_server(talk, sock=small, limit=4096)
    ours = socket.socket()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    ours.connect(small.getsockname())
    ours.setblocking(False)
    async with server:
        _, session = await asyncio.get_running_loop().create_connection(
            lambda: SmppSession(window=3, enquire_seconds=30, timeout_seconds=5, on_delivery=lambda *_: None),
            sock=ours,
        )
        async with asyncio.timeout(10):
            await session.ended

    assert session.gone == "the SMSC does not read what we answer"


async def test_parts_without_end_take_so_much_room_and_no_more() -> None:
    """The oldest is told as it is, whether many messages wait or one part comes again and again."""
    told: list[int] = []
    waiting: Assemblies[None] = Assemblies(seconds=60, give_up=lambda one: told.append(one.size))
    for reference in range(100):
        piece = PartHeader(reference=reference, total=2, number=1)
        waiting.add("+1", "2", piece, content=b"x" * 65_000, data_coding=0, kept=None)
    for _ in range(10_000):
        waiting.add(
            "+3", "2", PartHeader(reference=1, total=2, number=1), content=b"x", data_coding=0, kept=None
        )
    left = waiting.take_all()

    assert told
    assert sum(one.size for one in left) <= MOST_BYTES
    assert sum(told) + sum(one.size for one in left) == 100 * 65_500 + 10_000 * 501


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        pytest.param(Part(body=TAKEN.body, shift=7), Unlearned, id="another's sequence number"),
        pytest.param(Part(command=0x80000021, body=TAKEN.body), Unlearned, id="another command's answer"),
        pytest.param(Part(raw=struct.pack(">IIII", 0xFFFFFFFF, 0x80000004, 0, 2)), Unlearned, id="4 GB"),
        pytest.param(Part(raw=struct.pack(">IIII", 3, 0x80000004, 0, 2)), Unlearned, id="three bytes"),
        pytest.param(Part(command=0x80000000, status=3, shift=-2), Unlearned, id="nack of nothing"),
        pytest.param(Part(command=0x80000000, status=3), TryLater, id="nack of this one"),
        pytest.param(Part(body=b"\xff\x01\xfe\0"), Unlearned, id="an id of garbage"),
        pytest.param(Part(body=b""), Accepted, id="no id"),
        pytest.param(Part(status=0x04), TryLater, id="not bound, it says"),
        pytest.param(Part(status=0x0401), TryLater, id="a status of its own"),
    ],
)
async def test_odd_answers(part: Part, kind: type[Outcome]) -> None:
    """One outcome, the right one; and the next message goes through."""
    async with (
        played_smpp({"submit_sm": [part, TAKEN]}) as smsc,
        bound(smpp_settings(smsc.port, timeout_seconds=0.3)) as adapter,
    ):
        (outcome,) = await adapter.send([SMS])
        (after,) = await adapter.send([SMS])

    assert type(outcome) is kind
    assert type(after) is Accepted


async def test_one_that_unbinds_in_the_middle_is_answered_and_asked_no_more() -> None:
    """What it had is unlearned; what it had not goes over the next bind."""
    # The SMSC's unbind instead of an answer to the first of three, and then it is gone.
    leaves = Part(raw=pdu(0x00000006, 9), closes=True)
    async with played_smpp({"submit_sm": [leaves, TAKEN]}) as smsc:
        async with bound(smpp_settings(smsc.port, window=1)) as adapter:
            outcomes = await adapter.send(sms(3))
        binds = len(smsc.named("bind_transceiver"))

    assert _kinds(outcomes) == [Unlearned, Accepted, Accepted]
    assert binds == 2


async def test_answers_behind_an_unbind_still_count() -> None:
    """The SMSC finishes what it has before it goes."""
    answer = pdu(0x80000004, 2, b"a-1\0")
    async with (
        played_smpp({"submit_sm": Part(raw=pdu(0x00000006, 9) + answer)}) as smsc,
        bound(smpp_settings(smsc.port)) as adapter,
    ):
        (outcome,) = await adapter.send([SMS])
        (bye,) = await smsc.until("unbind_resp")

    assert outcome == Accepted(provider_message_id="a-1", sender="12345")
    assert (bye.status, bye.sequence) == (0, 9)


@pytest.mark.parametrize(
    ("parts", "kind", "submits"),
    [
        pytest.param([NOT_TAKEN], Refused, 1, id="the first is refused"),
        pytest.param([THROTTLED], TryLater, 1, id="the first is too much"),
        pytest.param([TAKEN, THROTTLED, TAKEN], Accepted, 4, id="the second is too much once"),
        pytest.param([TAKEN, NOT_TAKEN], Unlearned, 2, id="the second is refused"),
        pytest.param([TAKEN, CLOSE], Unlearned, 2, id="the link is cut at the second"),
    ],
)
async def test_a_message_of_three_parts(parts: list[Part], kind: type[Outcome], submits: int) -> None:
    """Nothing was sent before the first part is taken; from then on it is all of it or nobody knows."""
    async with (
        played_smpp({"submit_sm": parts}) as smsc,
        bound(smpp_settings(smsc.port)) as adapter,
    ):
        (outcome,) = await adapter.send([LONG])

    assert type(outcome) is kind
    assert len(smsc.named("submit_sm")) == submits


async def test_a_part_that_goes_again_is_the_same_part() -> None:
    """So that a telephone which has it already shows the message once."""
    async with (
        played_smpp({"submit_sm": [TAKEN, THROTTLED, TAKEN]}) as smsc,
        bound(smpp_settings(smsc.port)) as adapter,
    ):
        await adapter.send([LONG])
    bodies = [one.body for one in smsc.named("submit_sm")]

    assert bodies[1] == bodies[2]
    assert len(set(bodies)) == 3


async def test_urgent_ones_go_before_those_that_wait() -> None:
    """Also where they come later, in a set of their own."""
    async with (
        played_smpp({"submit_sm": [SLOW, TAKEN]}) as smsc,
        bound(smpp_settings(smsc.port, window=1)) as adapter,
    ):
        under_way = asyncio.ensure_future(adapter.send(sms(1)))
        await smsc.until("submit_sm")
        waiting = asyncio.ensure_future(adapter.send([replace(SMS, text="usual")]))
        await asyncio.sleep(0)
        await adapter.send([replace(SMS, text="urgent", urgent=True)])
        await asyncio.gather(under_way, waiting)
    texts = [one.body.rpartition(b"\0")[2][1:] for one in smsc.named("submit_sm")]

    assert texts == [b"message 0", b"urgent", b"usual"]


async def test_what_is_under_way_ends_before_the_unbind() -> None:
    """And what waits is given back."""
    async with (
        played_smpp({"submit_sm": SLOW}) as smsc,
        bound(smpp_settings(smsc.port, window=1)) as adapter,
    ):
        call = asyncio.ensure_future(adapter.send(sms(2)))
        await smsc.until("submit_sm")
        await adapter.close()
        outcomes = await call

    assert _kinds(outcomes) == [Accepted, TryLater]
    assert [one.name for one in smsc.heard] == ["bind_transceiver", "submit_sm", "unbind"]


async def test_a_dead_link_is_noticed_by_those_who_only_listen() -> None:
    """Nothing is sent, and still it is bound again."""
    async with played_smpp({"enquire_link": HANG}) as smsc:
        settings = smpp_settings(smsc.port, timeout_seconds=0.05, enquire_seconds=0.02)
        async with bound(settings, Ears()):
            await smsc.until("bind_transceiver", 3)

    assert len(smsc.named("enquire_link")) >= 2


async def test_the_smscs_own_questions_are_answered() -> None:
    """Whether we are there; and what nobody knows is said to be unknown."""
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port), Ears()):
        await smsc.until("bind_transceiver")
        smsc.say(pdu(0x00000015, 77) + pdu(0x00000999, 78) + pdu(0x00000102, 79))
        (here,) = await smsc.until("enquire_link_resp")
        (unknown,) = await smsc.until("generic_nack")

    assert (here.sequence, here.status) == (77, 0)
    assert (unknown.sequence, unknown.status) == (78, 3)


async def test_a_storm_of_binds_does_not_come() -> None:
    """One that lets us in and throws us out again is asked ever more seldom."""
    async with (
        played_smpp({"bind": Part(body=b"\0", closes=True)}) as smsc,
        bound(smpp_settings(smsc.port, reconnect_seconds=30.0), Ears()),
    ):
        await asyncio.sleep(0.3)

    assert 1 <= smsc.connections <= 4
