"""Live inboxes: ten thousand WebSockets on one process over loopback, one message to each, and all of them back at once.

One process serves the API, one works, and this one is all the clients: three processes that share the machine. Messages are
sent at a steady pace below what the machine can send, so that the time from a request to its frame is that of the way and not of
a queue. Memory is what the serving process holds more than before, by the sockets that it has.

The limit of the same run is a server that only echoes (`bench.bare_sockets`), with the same clients and the same number of
sockets. `python -m bench.inbox 500` takes fewer.
"""

import asyncio
import base64
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, cast
from urllib.parse import urlsplit

import httpx2
import psutil
import uvloop

from bench.bare_sockets import BareServer, bare_server
from bench.house import House, Resident
from tidings.contracts.ids import RECIPIENT

SOCKETS: Final = 10_000
#: Messages a second, and in how many requests.
PACE: Final = 200
_REQUESTS_A_SECOND: Final = 5
_AT_ONCE: Final = 500
_DEADLINE: Final = 300.0
_KEY: Final = "bench_inbox"
_VERSION: Final[dict[str, Any]] = {
    "semver": "1.0.0",
    "category": "transactional",
    "variables_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    "locales": {
        "en": {"format": "json", "body": '{"title": "Order {{n}}", "body": "It is on its way to you."}'}
    },
    "preview_samples": {"usual": {"n": 1}},
}
_ROOM: Final = {
    "TIDINGS_MAX_CONNECTIONS": "15000",
    "TIDINGS_MAX_CONNECTIONS_PER_ADDRESS": "15000",
    "TIDINGS_MAX_INBOX_STREAMS": "12000",
    "TIDINGS_MAX_INBOX_STREAMS_PER_TENANT": "12000",
}


class _Client(asyncio.Protocol):
    """One socket: as little as keeps ten thousand of them from being what is measured."""

    def __init__(self, path: str, token: str) -> None:
        self._path = path
        self._token = token
        self._data = b""
        self._transport: asyncio.Transport | None = None
        self.after: int | None = None
        self.items = 0
        self.told_at = 0.0
        self.greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast("asyncio.Transport", transport)
        key = base64.b64encode(os.urandom(16)).decode()
        transport.write(
            f"GET {self._path} HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
            f"Sec-WebSocket-Protocol: tidings.inbox, {self._token}\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        self._data += data
        if self._data.startswith(b"HTTP/"):
            head, found, rest = self._data.partition(b"\r\n\r\n")
            if not found:
                return
            assert head.startswith(b"HTTP/1.1 101"), head
            self._data = rest
        while (frame := self._next_frame()) is not None:
            self._take(*frame)

    def say(self, payload: bytes) -> None:
        """One frame."""
        assert self._transport is not None
        self._transport.write(bytes([0x81, 0x80 | len(payload)]) + bytes(4) + payload)

    def hang_up(self) -> None:
        assert self._transport is not None
        self._transport.abort()

    def _next_frame(self) -> tuple[int, bytes] | None:
        if len(self._data) < 2:
            return None
        size, start = self._data[1] & 127, 2
        if size == 126:
            size, start = int.from_bytes(self._data[2:4]), 4
        if len(self._data) < start + size:
            return None
        kind, payload = self._data[0] & 15, self._data[start : start + size]
        self._data = self._data[start + size :]
        return kind, payload

    def _take(self, kind: int, payload: bytes) -> None:
        if kind == 9:
            mask = os.urandom(4)
            masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
            assert self._transport is not None
            self._transport.write(bytes([0x8A, 0x80 | len(payload)]) + mask + masked)
            return
        assert kind == 1, (kind, payload)
        if payload.startswith(b'{"type":"heartbeat"'):
            return
        message = json.loads(payload)
        self.after = message["id"]
        if message["type"] == "item":
            self.items += 1
            self.told_at = time.perf_counter()
        elif message["type"] == "counts" and not self.greeted.done():
            self.greeted.set_result(None)


def measure(sockets: int = SOCKETS) -> dict[str, float]:
    """Milliseconds, MB and seconds, and their ratios to the limit. Call it in the main thread."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with bare_server() as bare:
        limit = uvloop.run(_measure_limit(bare, sockets))
    with House(workers=1, vendors={}, extra=_ROOM) as house:
        resident = house.resident("inboxes")
        house.publish(resident, _KEY, "inapp", _VERSION)
        ours = uvloop.run(_measure(house, resident, sockets))
    return (
        ours
        | {f"inbox_limit_{name}": value for name, value in limit.items()}
        | {f"inbox_times_limit_{name}": ours[f"inbox_{name}"] / value for name, value in limit.items()}
    )


async def _measure_limit(bare: BareServer, sockets: int) -> dict[str, float]:
    """What a server that does nothing else needs for the same."""
    process = psutil.Process(bare.pid)
    before = process.memory_info().rss
    nobody = ["tdi_none"] * sockets
    clients = await _connect(bare.base_url, nobody, [0] * sockets)
    held = process.memory_info().rss - before
    sent_at, begin = [], time.perf_counter()
    for number, one in enumerate(clients):
        await asyncio.sleep(max(0.0, begin + number / PACE - time.perf_counter()))
        sent_at.append(time.perf_counter())
        one.say(b'{"type":"item","id":1}')
    await _until_told(clients, 1)
    delays = sorted(one.told_at - at for one, at in zip(clients, sent_at, strict=True))
    for one in clients:
        one.hang_up()
    await asyncio.sleep(1)
    begin = time.perf_counter()
    clients = await _connect(bare.base_url, nobody, [0] * sockets)
    storm = time.perf_counter() - begin
    for one in clients:
        one.hang_up()
    return {
        "mb_per_1000_sockets": held / 1e6 / (sockets / 1000),
        "accept_to_frame_ms_p50": statistics.median(delays) * 1000,
        "accept_to_frame_ms_p99": delays[int(len(delays) * 0.99)] * 1000,
        "storm_seconds_until_all_have_caught_up": storm,
    }


async def _measure(house: House, resident: Resident, sockets: int) -> dict[str, float]:
    headers = {"Authorization": f"Bearer {resident.api_key}"}
    async with httpx2.AsyncClient(base_url=house.base_url, headers=headers, timeout=120) as client:
        # Everybody has an inbox with an item in it.
        people: list[str] = []
        for first in range(0, sockets, _AT_ONCE):
            people += await _send(client, range(first, min(first + _AT_ONCE, sockets)), sockets)
        tokens = await _tokens(house, resident, people)
        api = psutil.Process(house.api.pid)
        before = api.memory_info().rss
        clients = await _connect(house.base_url, tokens, [0] * sockets)
        await _until_told(clients, 1)
        held = api.memory_info().rss - before
        delays = await _one_to_each(client, clients)
        storm, missed = await _storm(house, client, clients, tokens)
        for one in clients:
            one.hang_up()
    delays.sort()
    return {
        "inbox_sockets": float(sockets),
        "inbox_mb_per_1000_sockets": held / 1e6 / (sockets / 1000),
        "inbox_accept_to_frame_ms_p50": statistics.median(delays) * 1000,
        "inbox_accept_to_frame_ms_p99": delays[int(len(delays) * 0.99)] * 1000,
        "inbox_storm_seconds_until_all_have_caught_up": storm,
        "inbox_storm_sockets_per_s": sockets / storm,
        "inbox_storm_items_lost_or_repeated": float(missed),
    }


async def _send(client: httpx2.AsyncClient, numbers: Sequence[int], sockets: int) -> list[str]:
    wanted = [
        {
            "recipient": {"identity": {"type": "guest", "id": f"g-{n % sockets}"}, "locale": "en"},
            "template": _KEY,
            "channel": "inapp",
            "variables": {"n": n},
        }
        for n in numbers
    ]
    answer = await client.post("/api/v1/notifications/bulk", json={"notifications": wanted})
    answer.raise_for_status()
    return [one["recipient_id"] for one in answer.json()["results"]]


async def _tokens(house: House, resident: Resident, people: Sequence[str]) -> list[str]:
    async with house.system() as system:
        until = system.clock.now() + timedelta(hours=2)
        return [
            (
                await system.inbox.tokens.make(
                    resident.tenant_id, RECIPIENT.parse(one), is_test=False, until=until
                )
            ).text
            for one in people
        ]


async def _connect(base_url: str, tokens: Sequence[str], afters: Sequence[int]) -> list[_Client]:
    """All of them, some hundreds of handshakes at a time, as the backlog of a listener has room for."""
    loop, room = asyncio.get_running_loop(), asyncio.Semaphore(_AT_ONCE)
    to = urlsplit(base_url)
    host, port = str(to.hostname), int(to.port or 0)

    async def one(token: str, after: int) -> _Client:
        async with room:
            path = f"/api/v1/inbox/ws?after={after}"
            _, client = await loop.create_connection(lambda: _Client(path, token), host, port)
            await asyncio.wait_for(client.greeted, _DEADLINE)
            return client

    return list(await asyncio.gather(*map(one, tokens, afters)))


async def _until_told(clients: Sequence[_Client], items: int) -> None:
    async with asyncio.timeout(_DEADLINE):
        while any(one.items < items for one in clients):
            await asyncio.sleep(0.02)


async def _one_to_each(client: httpx2.AsyncClient, clients: Sequence[_Client]) -> list[float]:
    """Seconds from the request to the frame, of each."""
    share = PACE // _REQUESTS_A_SECOND
    sent_at: list[float] = []
    asking: list[asyncio.Task[list[str]]] = []
    begin = time.perf_counter()
    sockets = len(clients)
    for number, first in enumerate(range(0, sockets, share)):
        await asyncio.sleep(max(0.0, begin + number / _REQUESTS_A_SECOND - time.perf_counter()))
        those = range(sockets + first, sockets + min(first + share, sockets))
        sent_at += [time.perf_counter()] * len(those)
        asking.append(asyncio.create_task(_send(client, those, sockets)))
    await asyncio.gather(*asking)
    await _until_told(clients, 2)
    return [one.told_at - at for one, at in zip(clients, sent_at, strict=True)]


async def _storm(
    house: House, client: httpx2.AsyncClient, clients: list[_Client], tokens: Sequence[str]
) -> tuple[float, int]:
    """All are cut off, a message comes for each, and all come back at the same moment with the last that they know."""
    afters = [one.after or 0 for one in clients]
    for one in clients:
        one.hang_up()
    sockets = len(tokens)
    for first in range(0, sockets, _AT_ONCE):
        those = range(2 * sockets + first, 2 * sockets + min(first + _AT_ONCE, sockets))
        await _send(client, those, sockets)
    async with house.system() as system, asyncio.timeout(_DEADLINE):
        while True:
            async with system.db.worker() as tx:
                if not await tx.connection.fetchval("SELECT count(*) FROM notification.dispatch_queue"):
                    break
            await asyncio.sleep(0.2)
    await asyncio.sleep(3)
    begin = time.perf_counter()
    clients[:] = await _connect(house.base_url, tokens, afters)
    await _until_told(clients, 1)
    return time.perf_counter() - begin, sum(one.items != 1 for one in clients)


def main() -> None:
    """Measure and show."""
    for name, value in measure(int(sys.argv[1]) if len(sys.argv) > 1 else SOCKETS).items():
        print(f"{name:48} {value:>12,.2f}")


if __name__ == "__main__":
    main()
