"""A host that a stranger named and that never answers is in nobody's way."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from tests.support import played_http as http
from tests.support.vendors import MESSAGE
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, TryLater, Unlearned
from tidings.kernel.egress import anywhere
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.isolated_resolver import IsolatedResolver
from tidings.kernel.http_client.pool import HttpRequest
from tidings.router.adapters.http_client.sender import HttpSender, UntrustedHostLimits

SILENT, PROMPT = replace(MESSAGE, to="silent"), replace(MESSAGE, to="prompt")


@asynccontextmanager
async def sender(strangers: UntrustedHostLimits | None) -> AsyncIterator[tuple[HttpSender, dict[str, int]]]:
    """One with a single slot, before a host that answers and one that does not."""
    async with http.played_http(http.HANG) as silent, http.played_http(http.answer("200 OK")) as prompt:
        made = HttpSender(
            guard=anywhere, connections=1, timeout_seconds=0.3, batch_seconds=0.2, untrusted=strangers
        )
        yield made, {"silent": silent.port, "prompt": prompt.port}
        await made.close()


async def sent(
    made: HttpSender, ports: dict[str, int], *messages: OutboundMessage, learned: list[Outcome] | None = None
) -> list[type[Outcome]]:
    def ask(message: OutboundMessage) -> HttpRequest:
        return HttpRequest(url=f"http://127.0.0.1:{ports[message.to]}/", body=b"{}")

    def read(answer: HttpAnswer, _: OutboundMessage) -> Outcome:
        return Accepted(provider_message_id=str(answer.status))

    outcomes = await made.send(messages, ask=ask, read=read, learned=learned)
    return [type(outcome) for outcome in outcomes]


async def test_who_is_silent_gives_the_slot_back() -> None:
    """Those behind it begin while it still waits."""
    async with sender(UntrustedHostLimits(hold_seconds=0.02)) as (made, ports):
        found = await sent(made, ports, SILENT, SILENT, PROMPT, PROMPT)

    assert found == [Unlearned, Unlearned, Accepted, Accepted]


@pytest.mark.parametrize("strangers", [None, UntrustedHostLimits(hold_seconds=0.02, most_beside=0)])
async def test_without_room_beside_the_slot_is_held(strangers: UntrustedHostLimits | None) -> None:
    async with sender(strangers) as (made, ports):
        found = await sent(made, ports, SILENT, PROMPT)

    assert found == [Unlearned, TryLater]


async def test_room_beside_is_free_again() -> None:
    async with sender(UntrustedHostLimits(hold_seconds=0.02, most_beside=1)) as (made, ports):
        found = [await sent(made, ports, SILENT, PROMPT) for _ in range(2)]

    assert found == [[Unlearned, Accepted]] * 2


async def test_what_waits_beside_ends_with_its_set() -> None:
    """Whoever cancels the set finds what was learned, and nothing goes on behind their back."""
    learned: list[Outcome] = []
    async with sender(UntrustedHostLimits(hold_seconds=0.02)) as (made, ports):
        call = asyncio.create_task(sent(made, ports, SILENT, PROMPT, learned=learned))
        while len(learned) < 2 or not isinstance(learned[1], Accepted):
            await asyncio.sleep(0.005)
        before = asyncio.all_tasks()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

        assert isinstance(learned[0], Unlearned)
        assert not any(task in before and "turn" in repr(task.get_coro()) for task in asyncio.all_tasks())


async def test_names_are_looked_up_apart() -> None:
    names = IsolatedResolver()
    found = await names.resolve("localhost", 443)
    with pytest.raises(socket.gaierror):
        await names.resolve("nobody.invalid", 443)
    await names.close()

    assert {(one["host"], one["port"]) for one in found} <= {("127.0.0.1", 443), ("::1", 443)}
    assert found
