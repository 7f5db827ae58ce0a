"""Hooks take in what the vendor signed, once, and answer when it is durable."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from tests.integration.router.callbacks.conftest import SECRET, CallbackWorld, event, events, place_of
from tidings.contracts.callback_forms import RawCallback, ReadEvent
from tidings.kernel.blobs.store import BlobStore, open_blobs
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import TooBusyError
from tidings.router.adapters.http.callbacks import GenericForm
from tidings.router.callbacks import raw_bodies, store
from tidings.router.callbacks.errors import HookUnavailableError
from tidings.router.callbacks.intake import CallbackGroupCommit, IncomingCallback
from tidings.router.callbacks.raw_bodies import PLATFORM_PURPOSE
from tidings.router.callbacks.store import NewEvent
from tidings.router.conversations.keep_inbound import InboundKeeper
from tidings.router.executions.model import moment
from tidings.router.ids import INBOUND_WEBHOOK, INBOUND_WEBHOOK_EVENT


async def test_a_signed_receipt_is_kept_and_answered(world: CallbackWorld, tenant_id: TenantId) -> None:
    """Row, event and raw body are there when the vendor reads 200."""
    account = await world.account(None)
    body = events(event("m-1", "delivered", code="0", reason="handset said yes"))

    answer = await world.post(account, body)

    assert answer.status_code == 200
    assert answer.json() == {"accepted": 1, "repeated": 0}
    [request] = await world.requests()
    assert (request["status"], request["signature_valid"], request["adapter"]) == ("received", True, account)
    async with world.db.platform() as tx:
        key = await world.keyring.platform_key(tx, PLATFORM_PURPOSE)
    assert await raw_bodies.read(world.system.kernel.blobs, key, place_of(request)) == body
    [kept] = await world.events()
    assert (kept["status"], kept["tenant_id"]) == ("queued", None)
    assert world.wakeup.called


async def test_raw_bodies_and_details_are_sealed(world: CallbackWorld) -> None:
    """Whoever reads the disk or the table reads nothing of what was said."""
    account = await world.account(None)

    await world.post(
        account, events(event("m-1", "failed", code="unmistakable-code", reason="unmistakable words"))
    )

    files = [path for path in (world.folder / "blobs").rglob("*") if path.is_file()]
    assert files
    assert not any(b"unmistakable" in path.read_bytes() for path in files)
    async with world.db.platform() as tx:
        payload = await tx.connection.fetchval("SELECT payload_ciphertext FROM chan.webhook_inbound_events")
    assert payload is not None
    assert b"unmistakable" not in payload


async def test_what_is_told_again_changes_nothing(world: CallbackWorld) -> None:
    """The same request, and the same event in another request."""
    account = await world.account(None)
    body = events(event("m-1", "delivered", id="e-1"))
    headers = world.signed(body)

    first = await world.post(account, body, headers=headers)
    await world.later(seconds=1)
    replay = await world.post(account, body, headers=headers)
    await world.later(seconds=1)
    other_words = events(event("m-1", "delivered", id="e-1", reason="again"), event("m-1", "read", id="e-2"))
    mixed = await world.post(account, other_words)

    assert first.json() == {"accepted": 1, "repeated": 0}
    assert replay.json() == {"accepted": 0, "repeated": 1}
    assert mixed.json() == {"accepted": 1, "repeated": 1}
    assert len(await world.events()) == 2
    assert [(r["status"], r["reason"]) for r in await world.requests()] == [
        ("received", None),
        ("applied", "repeated"),
        ("received", None),
    ]


async def test_the_time_tells_events_apart_where_there_is_one(world: CallbackWorld) -> None:
    """Vendors make up new ids for the same news; the same time is the same news."""
    account = await world.account(None)
    at = "2026-11-15T12:00:00Z"

    first = await world.post(account, events(event("m-1", occurred_at=at, id="a")))
    same = await world.post(account, events(event("m-1", occurred_at="2026-11-15T13:00:00+01:00", id="b")))
    later = await world.post(account, events(event("m-1", occurred_at="2026-11-15T12:00:01Z", id="a")))

    assert [a.json()["accepted"] for a in (first, same, later)] == [1, 0, 1]


async def test_a_repeat_within_one_request_counts_once(world: CallbackWorld) -> None:
    account = await world.account(None)

    answer = await world.post(account, events(event("m-1", id="e"), event("m-1", id="e")))

    assert answer.json() == {"accepted": 1, "repeated": 1}


async def test_the_same_event_at_two_accounts_is_two_events(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    """Two accounts of one vendor may count their messages from 1."""
    mine, shared = await world.account(tenant_id), await world.account(None)
    body = events(event("1", id="1"))

    answers = [await world.post(account, body) for account in (mine, shared)]

    assert [a.json()["accepted"] for a in answers] == [1, 1]


async def test_many_at_once_share_transactions_and_objects(world: CallbackWorld) -> None:
    """A hundred vendors' requests at once: all kept, in few objects, none twice."""
    account = await world.account(None)
    bodies = [events(event(f"m-{n}", id=f"e-{n % 60}", occurred_at=None)) for n in range(100)]

    answers = await asyncio.gather(*(world.post(account, body) for body in bodies))

    assert sum(a.json()["accepted"] for a in answers) == 100
    requests = await world.requests()
    async with world.db.platform() as tx:
        key = await world.keyring.platform_key(tx, PLATFORM_PURPOSE)
    kept = {await raw_bodies.read(world.system.kernel.blobs, key, place_of(r)) for r in requests}
    assert kept == set(bodies)
    assert len({r["raw_body_ref"].partition("#")[0] for r in requests}) < 100


async def test_the_same_events_in_two_processes_at_once(world: CallbackWorld) -> None:
    """Two API processes are told the same, in opposite order: neither waits for ever, each event is new to one."""
    account = await world.account(None)
    now = moment(world.clock)
    both_began = asyncio.Barrier(2)

    async def process(told: Sequence[dict[str, Any]]) -> int:
        request_id = INBOUND_WEBHOOK.new(now)
        new = [
            NewEvent(
                id=INBOUND_WEBHOOK_EVENT.new(now),
                request_id=request_id,
                account_id=account,
                read=read,
                payload=None,
            )
            for read in GenericForm()
            .read(RawCallback(headers={}, body=events(*told), received_at=now), {})
            .events
        ]
        async with world.db.platform() as tx:
            await both_began.wait()
            taken = await store.insert_callbacks(tx, vendor="http", requests=[], events=new, now=now)
        return taken.get(request_id, 0)

    for r in range(3):
        said = [event(f"m-{r}-{n:04}", id="e") for n in range(1000)]
        taken = await asyncio.gather(process(said), process(said[::-1]))

        assert sum(taken) == 1000


async def test_an_empty_list_proves_the_setup_and_leaves_nothing(world: CallbackWorld) -> None:
    account = await world.account(None)

    answer = await world.post(account, events())

    assert answer.json() == {"accepted": 0, "repeated": 0}
    assert await world.requests() == []


async def test_a_word_that_nobody_knows_is_kept_as_unknown(world: CallbackWorld, tenant_id: TenantId) -> None:
    """A vendor's new word must not lose the news, nor change anything by a guess."""
    attempt = await world.attempt(tenant_id, await world.account(None))

    answer = await world.tell(attempt, "teleported")
    await world.job().drain()

    assert answer.json()["accepted"] == 1
    assert [r["status"] for r in await world.receipts(tenant_id)] == ["unknown"]


async def test_when_the_store_of_bodies_is_away_nothing_is_taken(world: CallbackWorld) -> None:
    """503: the vendor comes again, and then it is new."""
    account = await world.account(None)
    body = events(event("m-1", id="e-1"))
    working = world.system.kernel.blobs
    world.system.kernel.blobs = open_blobs(f"file://{world.folder}/away")
    (world.folder / "away").rmdir()
    (world.folder / "away").write_text("no folder")
    refused = await world.post(account, body)
    world.system.kernel.blobs = working
    taken = await world.post(account, body)

    assert refused.status_code == 503
    assert refused.json()["code"] == "hook_unavailable"
    assert taken.json() == {"accepted": 1, "repeated": 0}
    assert len(await world.requests()) == 1


def _intake(world: CallbackWorld, **limits: Any) -> CallbackGroupCommit:
    """One with other limits than the process' own."""
    kernel = world.system.kernel
    return CallbackGroupCommit(
        world.db,
        blobs=lambda: kernel.blobs,
        keyring=kernel.keyring,
        clock=world.clock,
        wakeup=world.wakeup,
        wrote=InboundKeeper(Wakeup()),
        **limits,
    )


async def test_a_store_of_bodies_that_hangs_holds_no_transaction(world: CallbackWorld) -> None:
    account = await world.account(None)
    incoming = IncomingCallback(
        account_id=account, signature_valid=False, status="rejected", reason="mismatch", body=b"x"
    )
    put = asyncio.Event()

    class Hanging:
        async def put(self, *_: object, **__: object) -> None:
            put.set()
            await asyncio.Event().wait()

    world.system.kernel.blobs = cast("BlobStore", Hanging())
    async with asyncio.timeout(20):
        with pytest.raises(HookUnavailableError):
            await _intake(world, put_seconds=0.05).take("http", incoming)

    assert put.is_set()
    assert await world.requests() == []


async def test_more_bytes_than_may_wait_are_turned_away(world: CallbackWorld) -> None:
    account = await world.account(None)
    intake = _intake(world, most_bytes_waiting=10_000)
    incoming = IncomingCallback(
        account_id=account, signature_valid=True, status="received", reason=None, body=b"x" * 3500
    )

    results = await asyncio.gather(
        *(intake.take("http", incoming) for _ in range(20)), return_exceptions=True
    )

    refused = [one for one in results if isinstance(one, TooBusyError)]
    assert len(refused) == 18
    assert len(await world.requests()) == 2
    await intake.take("http", incoming)


@pytest.mark.parametrize("frozen", [True, False])
async def test_nobody_asks_whether_the_tenant_is_frozen(
    world: CallbackWorld, tenant_id: TenantId, frozen: bool
) -> None:
    """What was sent while it was not is still told about."""
    account = await world.account(tenant_id)
    async with world.db.platform() as tx:
        await tx.connection.execute(
            "INSERT INTO notification.tenants_local (tenant_id, region, status, frozen_at) VALUES ($1, 'eu', $2, $3)",
            tenant_id,
            "active" if frozen else "suspended",
            world.clock.now() if frozen else None,
        )
    attempt = await world.attempt(tenant_id, account)

    answer = await world.tell(attempt)
    await world.job().drain()

    assert answer.status_code == 200
    assert len(await world.receipts(tenant_id)) == 1


async def test_a_secret_of_blanks_between_two_takes_both(world: CallbackWorld) -> None:
    """While one takes the place of the other."""
    account = await world.account(None, secret=f"{SECRET} another-secret-of-some-length")
    body = events(event("m-1"))

    old = await world.post(account, body, headers=world.signed(body))
    new = await world.post(account, body, headers=world.signed(body, secret="another-secret-of-some-length"))

    assert (old.status_code, new.status_code) == (200, 200)


async def test_letters_that_no_column_takes_hold_nothing_up(world: CallbackWorld) -> None:
    """A vendor that is not understood tells it again and again."""
    read = ReadEvent(
        vendor_message_id="m\x00-1",
        word="deliv\x00ered",
        status="delivered",
        occurred_at=None,
        discriminator="\x00",
    )

    taken = await world.intake.take(
        "twilio",
        IncomingCallback(
            account_id=await world.account(None),
            signature_valid=True,
            status="received",
            reason=None,
            body=b"\x00",
            events=[read],
        ),
    )

    assert (taken.accepted, taken.repeated) == (1, 0)
    assert [row["status"] for row in await world.events()] == ["queued"]
