"""Connections to the sandbox that say nothing end by themselves, and only so many are held."""

import asyncio
from collections.abc import Callable

import pytest

from tests.support.clock import ManualClock
from tidings.sandbox.connection_limits import ConnectionLimits
from tidings.sandbox.faults import Faults
from tidings.sandbox.http_messages import HeldResponse, SandboxRequest, SandboxResponse
from tidings.sandbox.http_server import HttpSandbox
from tidings.sandbox.receipts import ReceiptLog
from tidings.sandbox.scripts import ReceiptScripts
from tidings.sandbox.smpp_server import SmppSandbox
from tidings.sandbox.smtp_server import SmtpSandbox
from tidings.sandbox.store import Store

Server = HttpSandbox | SmtpSandbox | SmppSandbox


def _fine(_: SandboxRequest) -> SandboxResponse:
    return SandboxResponse(status=200, body=b"fine")


def http(welcome: ConnectionLimits) -> Server:
    return HttpSandbox(_fine, welcome=welcome)


def smtp(welcome: ConnectionLimits) -> Server:
    return SmtpSandbox(Store(ManualClock(), run="t"), Faults(ManualClock()), welcome=welcome)


def smpp(welcome: ConnectionLimits) -> Server:
    clock = ManualClock()
    return SmppSandbox(
        Store(clock, run="t"),
        Faults(clock),
        ReceiptScripts(),
        ledger=ReceiptLog(most=10),
        clock=clock,
        welcome=welcome,
    )


EVERY_PORT = pytest.mark.parametrize("make", [http, smtp, smpp])


@EVERY_PORT
async def test_a_connection_that_says_nothing_is_ended(make: Callable[[ConnectionLimits], Server]) -> None:
    server = make(ConnectionLimits(silence=0.05))
    port = await server.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(20):
            await _until_ended(reader)
    finally:
        writer.close()
        await server.stop()


@EVERY_PORT
async def test_a_flood_of_idle_connections_finds_no_more_room(
    make: Callable[[ConnectionLimits], Server],
) -> None:
    server = make(ConnectionLimits(most=5))
    port = await server.start("127.0.0.1", 0)
    held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
    # A server takes them in turn: whoever comes last was counted after all the others.
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(20):
            await _until_ended(reader)
        assert all(not one.at_eof() for one, _ in held)
    finally:
        for _, one in [*held, (reader, writer)]:
            one.close()
        await server.stop()


async def test_whoever_waits_for_an_answer_is_not_silent() -> None:
    server = HttpSandbox(
        lambda _: SandboxResponse(status=200, body=b"late", hold=HeldResponse(kind="slow", seconds=0.3)),
        welcome=ConnectionLimits(silence=0.05),
    )
    port = await server.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        async with asyncio.timeout(20):
            assert await reader.readuntil(b"late")
    finally:
        writer.close()
        await server.stop()


async def _until_ended(reader: asyncio.StreamReader) -> None:
    try:
        while await reader.read(1000):
            pass
    except ConnectionResetError:
        pass
