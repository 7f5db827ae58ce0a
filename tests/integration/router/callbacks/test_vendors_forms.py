"""Every vendor's own callbacks at the hook: taken as they are signed; one byte changed, refused, kept, and not applied."""

import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.conformance.adapters.player import Example
from tests.conformance.adapters.players import PLAYERS
from tests.conformance.adapters.test_telling import changed
from tests.integration.router.callbacks.conftest import CallbackWorld
from tests.support.clock import ManualClock
from tidings.contracts.callback_forms import HookReply, RawCallback
from tidings.router.adapters.http.callbacks import GenericForm
from tidings.router.callbacks.errors import BadSignatureError
from tidings.router.callbacks.evidence import Evidence
from tidings.router.callbacks.hooks import CallbackHooks
from tidings.router.callbacks.intake import IntakeResult
from tidings.router.callbacks.receive_callback import CallbackEndpoint, HookCall

#: One of each vendor that tells something.
SIGNED = {
    name: next(e for e in player.examples if e.reading.events or e.reading.inbound)
    for name, player in PLAYERS.items()
    if player.examples
}


@pytest.fixture(params=sorted(SIGNED))
def vendor(request: pytest.FixtureRequest) -> str:
    """One vendor after the other."""
    return str(request.param)


async def test_a_signed_callback_is_taken_once(world: CallbackWorld, vendor: str) -> None:
    """Told again it changes nothing."""
    example = SIGNED[vendor]
    account_id = await _account(world, vendor, example)
    told = len(example.reading.events) + len(example.reading.inbound)

    answers = [await _take(world, vendor, account_id, example.request) for _ in range(2)]

    if isinstance(answers[0], HookReply):
        assert all(answer == answers[0] for answer in answers)
    else:
        assert answers == [IntakeResult(accepted=told, repeated=0), IntakeResult(accepted=0, repeated=told)]
    assert await _kept(world) == (len(example.reading.events), len(example.reading.inbound))
    assert {row["signature_valid"] for row in await world.requests()} == {True}


async def test_telegram_hears_that_a_button_was_heard(world: CallbackWorld) -> None:
    """In the answer to the very request, each time that it is told: until then the button turns."""
    example = next(e for e in PLAYERS["telegram_bot"].examples if e.reading.reply is not None)
    account_id = await _account(world, "telegram_bot", example)

    answers = [await _take(world, "telegram_bot", account_id, example.request) for _ in range(2)]

    assert answers == [example.reading.reply] * 2
    assert await _kept(world) == (0, 1)


async def test_one_byte_changed_is_refused_and_kept_as_evidence(world: CallbackWorld, vendor: str) -> None:
    """Wherever the vendor's proof reaches."""
    example = SIGNED[vendor]
    account_id = await _account(world, vendor, example)

    for place in example.covered:
        with pytest.raises(BadSignatureError):
            await _take(world, vendor, account_id, changed(example.request, place))

    assert await _kept(world) == (0, 0)
    rows = await world.requests()
    assert {(row["status"], row["signature_valid"]) for row in rows} == {("rejected", False)}
    assert len(rows) == len(example.covered)


async def _account(world: CallbackWorld, vendor: str, example: Example) -> str:
    account_id = await world.account(None, vendor, secret=None)
    file = world.folder / "secrets" / f"{vendor}-platform"
    file.write_text(json.dumps(dict(example.settings)))
    return account_id


async def _take(world: CallbackWorld, vendor: str, account_id: str, request: RawCallback) -> Any:
    """At a hook whose clock is that of the example; what it keeps is of today."""
    whole = urlsplit(request.url)
    desk = CallbackEndpoint(
        CallbackHooks(world.db, world.secrets, clock=world.clock),
        world.intake,
        public_url=f"{whole.scheme}://{whole.netloc}",
        usual=GenericForm(),
        clock=ManualClock(request.received_at),
        evidence=Evidence(clock=world.clock),
    )

    async def body() -> bytes:
        return request.body

    path = whole.path + (f"?{whole.query}" if whole.query else "")
    call = HookCall(method=request.method, path=path, headers=request.headers, read_body=body)
    return await desk.take(vendor, account_id, call)


async def _kept(world: CallbackWorld) -> tuple[int, int]:
    async with world.db.worker() as tx:
        events = await tx.connection.fetchval("SELECT count(*) FROM chan.webhook_inbound_events")
        inbound = await tx.connection.fetchval("SELECT count(*) FROM chan.inbound_messages")
    return events, inbound
