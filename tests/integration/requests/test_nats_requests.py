"""Request and reply over a real NATS server: sealed, in parts, shared by those who serve; nothing waits for what never comes."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator

import nats
import pytest
from nats.aio.msg import Msg

from tests.support.kms import MemoryKms
from tests.support.nats import NatsServer, running_nats
from tidings.kernel.clock import SystemClock
from tidings.kernel.errors import DegradedError, TidingsError
from tidings.kernel.nats_bus.address import parse_address
from tidings.kernel.nats_bus.connection import NatsConnection
from tidings.kernel.nats_requests import NatsRequests
from tidings.kernel.requests import NoReplyError, RequestFailedError, RequestHandler, RequestTooLargeError

SUBJECT = "notify.echo"
pytestmark = pytest.mark.xdist_group("nats-requests")


@pytest.fixture(scope="module")
def server() -> Iterator[NatsServer]:
    with running_nats() as running:
        yield running


@pytest.fixture(scope="module")
def kms() -> MemoryKms:
    """Of all processes."""
    return MemoryKms()


@contextlib.asynccontextmanager
async def running(
    server: NatsServer, kms: MemoryKms, handler: RequestHandler | None = None, *, installation: str = "one"
) -> AsyncIterator[NatsRequests]:
    """A process that asks, and that answers where it has a handler."""

    async def name() -> str:
        return installation

    connection = NatsConnection(parse_address(server.url()))
    requests = NatsRequests(connection, kms, installation=name, monotonic=SystemClock().monotonic)
    if handler is not None:
        requests.serve(SUBJECT, handler)
    stop = asyncio.Event()
    task = asyncio.create_task(requests.run(stop))
    try:
        await asyncio.wait_for(requests.connected.wait(), 10)
        yield requests
    finally:
        stop.set()
        await task
        await connection.close()


async def echo(payload: bytes) -> bytes:
    return b"heard " + payload


async def test_another_installation_with_the_same_keys_is_neither_heard_nor_answered(
    server: NatsServer, kms: MemoryKms
) -> None:
    """A copy of a database on the same broker must not end the messages of the first."""
    async with (
        running(server, kms, echo, installation="copy"),
        running(server, kms, installation="one") as asking,
    ):
        with pytest.raises(NoReplyError):
            await asking.call(SUBJECT, b"you", timeout=5)
        async with running(server, kms, echo, installation="one"), asyncio.timeout(20):
            heard = b""
            while not heard:
                # The broker may still remember for a moment that nobody served it.
                with contextlib.suppress(NoReplyError):
                    heard = await asking.call(SUBJECT, b"you", timeout=5)
            assert heard == b"heard you"


async def test_one_of_those_who_serve_answers(server: NatsServer, kms: MemoryKms) -> None:
    heard: list[str] = []

    def named(name: str) -> RequestHandler:
        async def handle(payload: bytes) -> bytes:
            heard.append(name)
            return await echo(payload)

        return handle

    async with (
        running(server, kms, named("one")),
        running(server, kms, named("two")),
        running(server, kms) as asking,
    ):
        answers = await asyncio.gather(
            *(asking.call(SUBJECT, str(n).encode(), timeout=10) for n in range(100))
        )
    assert answers == [f"heard {n}".encode() for n in range(100)]
    assert len(heard) == 100
    assert set(heard) == {"one", "two"}


async def test_a_reply_larger_than_a_message_comes_in_parts(server: NatsServer, kms: MemoryKms) -> None:
    large = os.urandom(3 * 1024 * 1024 + 17)

    async def handle(_: bytes) -> bytes:
        return large

    async with running(server, kms, handle), running(server, kms) as asking:
        assert await asking.call(SUBJECT, b"", timeout=20) == large
        with pytest.raises(RequestTooLargeError):
            await asking.call(SUBJECT, large, timeout=20)


async def test_the_broker_carries_nothing_that_it_can_read(server: NatsServer, kms: MemoryKms) -> None:
    carried: list[bytes] = []
    spy = await nats.connect(server.url().reveal())
    try:

        async def note(message: Msg) -> None:
            carried.append(message.data)

        await spy.subscribe(">", cb=note)
        await spy.flush()
        async with running(server, kms, echo), running(server, kms) as asking:
            assert (
                await asking.call(SUBJECT, b"laila@example.test", timeout=10) == b"heard laila@example.test"
            )
        await spy.flush()
    finally:
        await spy.close()
    assert len([one for one in carried if one]) == 2
    assert not any(b"laila" in one or b"example.test" in one for one in carried)


async def test_where_no_process_serves_it_is_known_at_once(server: NatsServer, kms: MemoryKms) -> None:
    async with running(server, kms) as asking:
        with pytest.raises(NoReplyError):
            # Longer than the test may take: the broker says it.
            await asyncio.wait_for(asking.call(SUBJECT, b"", timeout=600), 20)


async def test_a_late_reply_is_dropped_and_the_next_call_has_its_own(
    server: NatsServer, kms: MemoryKms
) -> None:
    let_go = asyncio.Event()

    async def handle(payload: bytes) -> bytes:
        if payload == b"slow":
            await let_go.wait()
        return payload

    async with running(server, kms, handle), running(server, kms) as asking:
        with pytest.raises(NoReplyError):
            await asking.call(SUBJECT, b"slow", timeout=0.05)
        let_go.set()
        assert await asking.call(SUBJECT, b"next", timeout=10) == b"next"


async def test_a_failure_is_told_by_its_code_alone(server: NatsServer, kms: MemoryKms) -> None:
    async def handle(_: bytes) -> bytes:
        raise ValueError("laila@example.test")

    async with running(server, kms, handle), running(server, kms) as asking:
        with pytest.raises(RequestFailedError) as told:
            await asking.call(SUBJECT, b"", timeout=10)
    assert told.value.reason == "ValueError"
    assert "laila" not in str(told.value)


async def test_a_process_with_other_keys_is_not_answered(server: NatsServer, kms: MemoryKms) -> None:
    heard: list[bytes] = []

    async def handle(payload: bytes) -> bytes:
        heard.append(payload)
        return payload

    async with running(server, kms, handle), running(server, MemoryKms()) as stranger:
        with pytest.raises(TidingsError):
            await stranger.call(SUBJECT, b"who are you", timeout=0.3)
    assert heard == []


async def test_a_broker_that_dies_is_told_at_once_and_found_again(kms: MemoryKms) -> None:
    begun, never = asyncio.Event(), asyncio.Event()

    async def handle(payload: bytes) -> bytes:
        if payload == b"hang":
            begun.set()
            await never.wait()
        return payload

    with running_nats() as server:
        async with running(server, kms, handle) as serving, running(server, kms) as asking:
            hanging = asyncio.create_task(asking.call(SUBJECT, b"hang", timeout=600))
            await begun.wait()
            server.kill()
            with pytest.raises(NoReplyError):
                await asyncio.wait_for(hanging, 20)
            with pytest.raises(NoReplyError):
                await asking.call(SUBJECT, b"away", timeout=600)
            with pytest.raises(DegradedError):
                await asking.check()
            # It may not have noticed yet, and would then count as connected.
            while serving.connected.is_set():
                await asyncio.sleep(0.01)
            server.start()
            await asyncio.wait_for(asyncio.gather(serving.connected.wait(), asking.connected.wait()), 30)
            assert await asking.call(SUBJECT, b"back", timeout=10) == b"back"
            await asking.check()
