"""What every vendor's adapter promises, asked of each with recorded replies."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import structlog

from tests.support import played_http as http
from tests.support import played_smtp as smtp
from tests.support.vendors import MESSAGE, PRIVATE, http_settings, messages, opened, smtp_settings
from tidings.contracts.adapters import Cancels
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.router.adapters.registry import ADAPTERS

#: What is played → what has to come of it, for all.
EXPECTED: Mapping[str, type[Outcome]] = {
    "accepted": Accepted,
    "refused": Refused,
    "throttled": TryLater,
    "unavailable": TryLater,
    "hangs": Unlearned,
    "garbage": Unlearned,
    "closed": Unlearned,
    "closed half-way": Unlearned,
    "unreachable": TryLater,
}

# Replies as servers gave them; addresses in them are the message's own, as real servers quote them.
_SMTP: Mapping[str, Mapping[str, bytes | list[bytes]]] = {
    "accepted": {},
    # Postfix 3.7: it quotes the address.
    "refused": {
        "RCPT": b"550 5.1.1 <laila.unmistakable@example.test>: Recipient address rejected: User unknown\r\n",
        "DATA": b"554 5.5.1 Error: no valid recipients\r\n",
    },
    # Google, on several lines.
    "throttled": {
        "MAIL": b"421-4.7.0 Our system has detected an unusual rate of mail.\r\n421 4.7.0 Try again later.\r\n"
        + smtp.CLOSE
    },
    # Exchange Online.
    "unavailable": {".": b"451 4.7.500 Server busy. Please try again later from [192.0.2.1].\r\n"},
    "hangs": {".": smtp.HANG},
    "garbage": {".": b"\x00\xffHTTP/1.1 400 Bad Request\r\n\r\n"},
    "closed": {".": smtp.CLOSE},
    "closed half-way": {".": b"250 2.0" + smtp.CLOSE},
}
_HTTP: Mapping[str, bytes] = {
    "accepted": http.answer("202 Accepted", b'{"id": "vendor-17", "status": "queued"}'),
    "refused": http.answer(
        "400 Bad Request",
        b'{"error": {"code": 21211, "message": "laila.unmistakable@example.test is not a valid recipient"}}',
    ),
    "throttled": http.answer("429 Too Many Requests", b"{}", headers="Retry-After: 7\r\n"),
    "unavailable": http.answer("503 Service Unavailable", b"<html>down</html>"),
    "hangs": http.HANG,
    "garbage": b"\x00\xff220 mx.example.test ESMTP\r\n\r\n" + http.CLOSE,
    "closed": http.CLOSE,
    "closed half-way": b'HTTP/1.1 202 Accepted\r\nContent-Length: 90\r\n\r\n{"id": "ven' + http.CLOSE,
}


@asynccontextmanager
async def _unreachable() -> AsyncIterator[int]:
    """A port that nobody listens on, and that nobody else gets meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@asynccontextmanager
async def _play_smtp(case: str) -> AsyncIterator[dict[str, Any]]:
    patience = {"timeout_seconds": 0.3} if case == "hangs" else {}
    if case == "unreachable":
        async with _unreachable() as port:
            yield smtp_settings(port)
        return
    parts = {name: list(part) if isinstance(part, list) else part for name, part in _SMTP[case].items()}
    async with smtp.played_smtp(parts) as played:
        yield smtp_settings(played.port, **patience)


@asynccontextmanager
async def _play_http(case: str) -> AsyncIterator[dict[str, Any]]:
    patience = {"timeout_seconds": 0.3} if case == "hangs" else {}
    if case == "unreachable":
        async with _unreachable() as port:
            yield _http_settings(port)
        return
    async with http.played_http(_HTTP[case]) as played:
        yield _http_settings(played.port, **patience)


def _http_settings(port: int, **more: Any) -> dict[str, Any]:
    return http_settings(
        port,
        error_code_path="error.code",
        error_reason_path="error.message",
        receipts=True,
        callback_secret="hunter2",
        cancel_url=f"http://127.0.0.1:{port}/send/{{{{provider_message_id}}}}",
        **more,
    )


@asynccontextmanager
async def _take_turns(
    name: str, *turns: str, seconds: float = 60
) -> AsyncIterator[tuple[dict[str, Any], Callable[[], int]]]:
    """A vendor that does these one after the other, the last one for good, over one connection; and how many it was asked."""
    if name == "smtp":
        dots = {"accepted": smtp.USUAL["."], "slow": smtp.SLOW + smtp.USUAL["."], "hangs": smtp.HANG}
        async with smtp.played_smtp({".": [dots[turn] for turn in turns]}) as played:
            yield (
                smtp_settings(played.port, connections=1, timeout_seconds=seconds),
                lambda: len(played.messages),
            )
        return
    answers = {
        "accepted": _HTTP["accepted"],
        "slow": http.SLOW + _HTTP["accepted"],
        "hangs": http.HANG,
    }
    async with http.played_http(*(answers[turn] for turn in turns)) as vendor:
        yield (
            _http_settings(vendor.port, connections=1, timeout_seconds=seconds),
            lambda: len(vendor.heard),
        )


Play = Callable[[str], AbstractAsyncContextManager[dict[str, Any]]]
PLAYERS: Mapping[str, Play] = {"smtp": _play_smtp, "http": _play_http}


def test_every_adapter_is_played() -> None:
    """A new line in the registry needs its recorded replies here."""
    assert set(PLAYERS) == set(ADAPTERS)


@pytest.fixture(params=sorted(ADAPTERS))
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.mark.parametrize("case", EXPECTED)
async def test_each_reply_has_its_outcome(name: str, case: str) -> None:
    """One message, one outcome, of the right kind."""
    async with PLAYERS[name](case) as settings, opened(name, settings) as adapter:
        outcomes = await adapter.send([MESSAGE])

    assert [type(outcome) for outcome in outcomes] == [EXPECTED[case]]


@pytest.mark.parametrize("case", EXPECTED)
async def test_a_set_has_as_many_outcomes_as_messages(name: str, case: str) -> None:
    """Whatever the vendor does to them, none is forgotten, and nothing is raised."""
    async with PLAYERS[name](case) as settings, opened(name, settings) as adapter:
        outcomes = await adapter.send(messages(7))

    assert len(outcomes) == 7
    allowed = {EXPECTED[case], TryLater} if EXPECTED[case] is Unlearned else {EXPECTED[case]}
    assert {type(outcome) for outcome in outcomes} <= allowed


@pytest.mark.parametrize("case", EXPECTED)
async def test_nothing_private_comes_back(name: str, case: str) -> None:
    """No outcome and no log line holds an address, a word of the message or a secret."""
    with structlog.testing.capture_logs() as logs:
        async with PLAYERS[name](case) as settings, opened(name, settings) as adapter:
            outcomes = await adapter.send([MESSAGE])

    told = f"{outcomes!r} {logs!r} {MESSAGE!r}".lower()
    assert [word for word in PRIVATE if word in told] == []


async def test_nothing_to_send_is_nothing_sent(name: str) -> None:
    """An empty set does not even connect."""
    async with PLAYERS[name]("unreachable") as settings, opened(name, settings) as adapter:
        assert list(await adapter.send([])) == []


async def test_the_vendors_own_id_is_kept(name: str) -> None:
    """An accepted message has the id under which the vendor knows it."""
    async with PLAYERS[name]("accepted") as settings, opened(name, settings) as adapter:
        (outcome,) = await adapter.send([MESSAGE])

    assert isinstance(outcome, Accepted)
    assert outcome.provider_message_id in {"4XyZabCdEf", "vendor-17"}


async def test_a_refusal_says_why(name: str) -> None:
    """The vendor's code and words are kept, without the address that they quote."""
    async with PLAYERS[name]("refused") as settings, opened(name, settings) as adapter:
        (outcome,) = await adapter.send([MESSAGE])

    assert isinstance(outcome, Refused)
    assert outcome.permanent
    assert outcome.code in {"5.1.1", "21211"}
    assert "rejected" in outcome.reason or "not a valid recipient" in outcome.reason


async def test_a_vendor_that_names_a_time_is_heard(name: str) -> None:
    """`Retry-After` is passed on where the protocol has it."""
    async with PLAYERS[name]("throttled") as settings, opened(name, settings) as adapter:
        (outcome,) = await adapter.send([MESSAGE])

    assert isinstance(outcome, TryLater)
    assert outcome.after == (timedelta(seconds=7) if name == "http" else None)


async def test_one_bad_message_harms_no_other(name: str) -> None:
    """What can't be said to the vendor is refused by itself; the rest of the set goes out."""
    bad = replace(MESSAGE, to="nobody\r\nRCPT TO:<everybody@example.test>", metadata={"x": object()})
    async with PLAYERS[name]("accepted") as settings, opened(name, settings) as adapter:
        outcomes = await adapter.send([MESSAGE, bad, MESSAGE])

    assert [type(outcome) for outcome in outcomes] == [Accepted, Refused, Accepted]


async def test_a_closed_adapter_gives_back(name: str) -> None:
    """After `close` nothing is sent and nothing raised."""
    async with PLAYERS[name]("accepted") as settings, opened(name, settings) as adapter:
        await adapter.close()
        outcomes = await adapter.send([MESSAGE])

    assert [type(outcome) for outcome in outcomes] == [TryLater]


async def test_a_cancelled_call_leaves_the_adapter_usable(name: str) -> None:
    """Who stops waiting stops only their own set."""
    async with PLAYERS[name]("accepted") as settings, opened(name, settings) as adapter:
        call = asyncio.ensure_future(adapter.send(messages(50)))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        outcomes = await adapter.send(messages(3))

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 3


async def test_many_callers_share_an_adapter(name: str) -> None:
    """Sets that are sent at the same time each get their own outcomes."""
    async with PLAYERS[name]("accepted") as settings, opened(name, settings) as adapter:
        sets = await asyncio.gather(*(adapter.send(messages(5)) for _ in range(8)))

    assert all([type(outcome) for outcome in outcomes] == [Accepted] * 5 for outcomes in sets)


async def test_the_longest_call_is_known(name: str) -> None:
    """Whoever holds a lease on the work can make it long enough."""
    async with PLAYERS[name]("accepted") as settings, opened(name, settings) as adapter:
        assert timedelta(0) < adapter.longest_send < timedelta(minutes=10)


async def test_a_message_has_the_time_it_is_given(name: str) -> None:
    """And not all of the account's; then the answer is unlearned."""
    async with _take_turns(name, "hangs") as (settings, asked), opened(name, settings) as adapter:
        async with asyncio.timeout(20):
            outcomes = await adapter.send([MESSAGE], within=0.3)

    assert [type(outcome) for outcome in outcomes] == [Unlearned]
    assert asked() == 1


async def test_waiting_for_ones_turn_costs_no_time(name: str) -> None:
    """The set takes more than twice as long as each of its messages has."""
    async with _take_turns(name, "slow") as (settings, asked), opened(name, settings) as adapter:
        outcomes = await adapter.send(messages(25), within=1.0)

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 25
    assert asked() == 25


async def test_a_set_that_is_cut_off_keeps_what_was_learned(name: str) -> None:
    """The answers that came; what was never begun can go again without a thought."""
    learned: list[Outcome] = [Unlearned(reason="nothing was told")] * 8
    turns = ["accepted"] * 3 + ["hangs"]
    # Closing waits for the one that hangs.
    async with _take_turns(name, *turns, seconds=3) as (settings, asked), opened(name, settings) as adapter:
        call = asyncio.ensure_future(adapter.send(messages(8), learned=learned))
        async with asyncio.timeout(20):
            while asked() < 4:
                await asyncio.sleep(0.001)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        kept = list(learned)

    assert [type(outcome) for outcome in kept[:3]] == [Accepted] * 3
    assert isinstance(kept[3], Unlearned)
    # The fifth may have been announced behind the fourth.
    assert [outcome.code for outcome in kept[5:] if isinstance(outcome, TryLater)] == ["late"] * 3
    assert asked() <= 5
    assert learned == kept


@pytest.mark.parametrize("case", EXPECTED)
async def test_a_check_answers_and_sends_nothing(name: str, case: str) -> None:
    """Whatever the vendor does to it: an answer, or None where it can't be asked."""
    async with PLAYERS[name](case) as settings, opened(name, settings) as adapter:
        async with asyncio.timeout(10):
            checked = await adapter.check()

    assert checked is None or isinstance(checked, Accepted | Refused | TryLater)


#: What the played accounts can do beside sending; a new line in the registry says it here.
TELLS = {"smtp": False, "http": True}
CALLS_BACK = {"smtp": False, "http": True}


async def test_it_says_what_it_can_do(name: str) -> None:
    """Whether receipts come, whether messages can be called back: so that nobody has to try."""
    async with PLAYERS[name]("accepted") as settings, opened(name, settings) as adapter:
        found = (adapter.capabilities.receipts, adapter.capabilities.cancel, isinstance(adapter, Cancels))

    assert found == (TELLS[name], CALLS_BACK[name], CALLS_BACK[name])


@pytest.mark.parametrize("name", [name for name, can in CALLS_BACK.items() if can])
@pytest.mark.parametrize("case", EXPECTED)
async def test_calling_back_is_certain_or_not_done(name: str, case: str) -> None:
    """Only a vendor that says yes has called a message back; one answer each, nothing raised, nothing private told."""
    with structlog.testing.capture_logs() as logs:
        async with PLAYERS[name](case) as settings, opened(name, settings) as adapter:
            assert isinstance(adapter, Cancels)
            async with asyncio.timeout(20):
                answers = await adapter.cancel(["vendor-17", "vendor-18", "vendor/../19"])
                nothing = await adapter.cancel([])
            await adapter.close()
            closed = await adapter.cancel(["vendor-17"])

    assert list(answers) == [case == "accepted"] * 3
    assert list(nothing) == []
    assert list(closed) == [False]
    assert [word for word in PRIVATE if word in f"{logs!r}".lower()] == []
