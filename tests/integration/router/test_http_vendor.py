"""The generic HTTP adapter against played vendors: what goes out, and what is never done."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.played_http import CLOSE, SLOW, answer, played_http
from tests.support.vendors import MESSAGE, KnownSecrets, http_settings, messages, opened
from tidings.contracts.adapters import Cancels
from tidings.contracts.messages import Accepted, Refused, TryLater, Unlearned
from tidings.kernel.clock import SystemClock
from tidings.router.adapters.registry import AdapterContext, open_adapter

OK = answer("200 OK", b'{"id": "v-1"}')


async def test_the_request_is_what_the_settings_describe() -> None:
    """URL, headers with a secret, body, and our message id as the idempotency key."""
    settings = {
        "method": "PUT",
        "headers": {"Authorization": "Bearer {{secret.token}}", "X-Tenant": "{{tenant_id}}"},
        "body": {
            "recipient": {"email": "{{to}}"},
            "content": ["{{subject}}", "{{html}}"],
            "ref": "r-{{message_id}}",
        },
        "secrets": {"token_ref": "known://t"},
        "idempotency_header": "X-Once",
    }
    async with played_http(OK) as played:
        url = f"http://127.0.0.1:{played.port}/v1/{{{{channel}}}}/send"
        async with opened(
            "http", http_settings(played.port, **{**settings, "url": url}), t="hunter2"
        ) as adapter:
            (outcome,) = await adapter.send([replace(MESSAGE, subject='"}, {"evil": "1')])

    head, body = played.heard[0]
    assert outcome == Accepted(provider_message_id="v-1")
    assert head.startswith("PUT /v1/email/send HTTP/1.1\r\n")
    for line in (
        "Authorization: Bearer hunter2",
        f"X-Tenant: {MESSAGE.tenant_id}",
        f"X-Once: {MESSAGE.message_id}",
    ):
        assert line in head.split("\r\n")
    assert json.loads(body) == {
        "recipient": {"email": MESSAGE.to},
        "content": ['"}, {"evil": "1', MESSAGE.html],
        "ref": f"r-{MESSAGE.message_id}",
    }


async def test_without_a_body_template_everything_useful_is_sent() -> None:
    """Enough for a vendor of one's own."""
    async with played_http(OK) as played, opened("http", http_settings(played.port)) as adapter:
        await adapter.send([replace(MESSAGE, channel="sms", to="+93701234567", metadata={"a": [1]})])

    body = json.loads(played.heard[0][1])
    assert body["to"] == "+93701234567"
    assert body["channel"] == "sms"
    assert body["metadata"] == {"a": [1]}


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"])
async def test_no_redirect_leads_elsewhere(status: str) -> None:
    """Neither a message nor a credential follows one to another host."""
    async with played_http(OK) as elsewhere:
        moved = answer(status, headers=f"Location: http://127.0.0.1:{elsewhere.port}/steal\r\n")
        async with played_http(moved) as played, opened("http", http_settings(played.port)) as adapter:
            (outcome,) = await adapter.send([MESSAGE])

    assert isinstance(outcome, TryLater)
    assert elsewhere.heard == []


async def test_a_redirect_within_the_host_keeps_the_request() -> None:
    """307 and 308 mean the same request at another path; and not for ever."""
    moved = answer("308 Permanent", headers="Location: /v2/send\r\n")
    async with played_http(moved, OK) as played, opened("http", http_settings(played.port)) as adapter:
        (outcome,) = await adapter.send([MESSAGE])
    async with played_http(moved) as circle, opened("http", http_settings(circle.port)) as adapter:
        (endless,) = await adapter.send([MESSAGE])

    assert isinstance(outcome, Accepted)
    assert played.heard[1][0].startswith("POST /v2/send ")
    assert played.heard[0][1] == played.heard[1][1]
    assert isinstance(endless, TryLater)
    assert len(circle.heard) == 3


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_the_guard_is_asked_about_the_address_itself(host: str) -> None:
    """A name that leads to a forbidden address is not connected to, nor is the address."""
    asked: list[str] = []

    def guard(address: str) -> bool:
        asked.append(address)
        return False

    async with played_http(OK) as played:
        adapter = await open_adapter(
            "http",
            http_settings(played.port, url=f"http://{host}:{played.port}/"),
            KnownSecrets(),
            surroundings=AdapterContext(clock=SystemClock(), guard=guard),
        )
        (outcome,) = await adapter.send([MESSAGE])
        await adapter.close()

    assert isinstance(outcome, TryLater)
    assert "127.0.0.1" in asked
    assert played.heard == []


async def test_a_large_answer_is_not_read_to_its_end() -> None:
    """A vendor can't fill our memory."""
    flood = b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n" + b"x" * 5_000_000 + CLOSE
    async with played_http(flood) as played, opened("http", http_settings(played.port)) as adapter:
        (outcome,) = await adapter.send([MESSAGE])

    assert isinstance(outcome, Unlearned)


async def test_an_answer_in_pieces_is_read_whole() -> None:
    """The network cuts where it likes."""

    async def answer_in_pieces(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in (b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n", b'{"id":', b' "v-1"}'):
            writer.write(piece)
            await writer.drain()
            # Long enough for the other side to have read it: so that it is a piece of its own.
            await asyncio.sleep(0.05)
        writer.close()

    server = await asyncio.start_server(answer_in_pieces, "127.0.0.1", 0)
    async with server, opened("http", http_settings(server.sockets[0].getsockname()[1])) as adapter:
        (outcome,) = await adapter.send([MESSAGE])

    assert outcome == Accepted(provider_message_id="v-1")


async def test_outcomes_keep_their_order() -> None:
    """Whichever answer comes first."""
    replies = [answer("200 OK", b'{"id": "v"}'), answer("400 No", b"{}")] * 10
    async with (
        played_http(*replies, OK) as played,
        opened("http", http_settings(played.port, connections=1)) as adapter,
    ):
        outcomes = await adapter.send(messages(20))

    assert [type(outcome) for outcome in outcomes] == [Accepted, Refused] * 10


@pytest.mark.parametrize(("settings", "idempotent"), [({}, False), ({"idempotent": True}, True)])
async def test_who_drops_repeats_says_so(settings: dict[str, Any], idempotent: bool) -> None:
    """Only then is an unlearned message repeated without a second thought."""
    async with opened("http", http_settings(1, **settings)) as adapter:
        assert adapter.capabilities.idempotent is idempotent


async def test_a_message_is_called_back_by_the_vendors_own_id() -> None:
    """With the account's credentials, and an id that can't leave its place; each has its own answer."""
    settings = {
        "headers": {"Authorization": "Bearer {{secret.token}}", "X-Ref": "{{message_id}}"},
        "secrets": {"token_ref": "known://t"},
        "connections": 1,
    }
    replies = [answer("204 No Content"), answer("409 Conflict", b"{}"), answer("404 Not Found", b"{}")]
    async with played_http(*replies) as played:
        url = f"http://127.0.0.1:{played.port}/messages/{{{{provider_message_id}}}}"
        async with opened(
            "http", http_settings(played.port, cancel_url=url, **settings), t="hunter2"
        ) as adapter:
            assert isinstance(adapter, Cancels)
            answers = await adapter.cancel(["v-1", "v/2?x", "v-3"])

    heads = [head for head, _ in played.heard]
    assert list(answers) == [True, False, False]
    assert [head.split(" HTTP")[0] for head in heads] == [
        "DELETE /messages/v-1",
        "DELETE /messages/v%2F2%3Fx",
        "DELETE /messages/v-3",
    ]
    assert all("authorization: bearer hunter2" in head.lower() for head in heads)


async def test_nothing_is_called_back_where_the_settings_do_not_say_how() -> None:
    """And nobody is asked."""
    async with played_http(OK) as played, opened("http", http_settings(played.port)) as adapter:
        assert isinstance(adapter, Cancels)
        answers = await adapter.cancel(["v-1", "v-2"])
        can = adapter.capabilities.cancel

    assert (can, list(answers), played.heard) == (False, [False, False], [])


async def test_sets_that_share_connections_do_not_use_up_each_others_time() -> None:
    """A request's clock begins when it has a connection, whoever had it before."""
    async with played_http(SLOW + OK) as played:
        settings = http_settings(played.port, connections=1, timeout_seconds=1.0)
        async with opened("http", settings) as adapter:
            sets = await asyncio.gather(adapter.send(messages(13)), adapter.send(messages(12), within=0.9))

    assert [type(outcome) for some in sets for outcome in some] == [Accepted] * 25
    assert len(played.heard) == 25


async def test_a_vendor_that_was_not_reached_in_time_was_not_asked() -> None:
    """One that takes connections and never greets: nothing was sent, and that is certain."""

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        settings = http_settings(port, url=f"https://127.0.0.1:{port}/", timeout_seconds=60)
        async with opened("http", settings) as adapter, asyncio.timeout(20):
            (outcome,) = await adapter.send([MESSAGE], within=0.3)

    assert isinstance(outcome, TryLater)
    assert outcome.code == "connection"


async def test_a_redirect_brings_no_new_time() -> None:
    """All hops have one clock."""
    moved = SLOW + answer("308 Permanent", headers="Location: /on\r\n")
    async with played_http(moved) as played, opened("http", http_settings(played.port)) as adapter:
        (endless,) = await adapter.send([MESSAGE])
        (over,) = await adapter.send([MESSAGE], within=0.15)

    assert isinstance(endless, TryLater)
    assert isinstance(over, Unlearned)
