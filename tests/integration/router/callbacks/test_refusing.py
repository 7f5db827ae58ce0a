"""What is not the vendor's is refused, kept as evidence within bounds, and applied to nothing."""

import asyncio
import json
from datetime import timedelta

import pytest

from tests.integration.router.callbacks.conftest import SECRET, CallbackWorld, event, events, place_of
from tests.support.statements import counting
from tidings.contracts.callback_forms import MOST_BYTES
from tidings.kernel.ids import TenantId
from tidings.kernel.secrets import Secret, SecretStoreError
from tidings.kernel.signed_webhooks.signature import signed_headers
from tidings.router.callbacks import raw_bodies
from tidings.router.callbacks.raw_bodies import PLATFORM_PURPOSE


async def test_a_body_changed_by_one_byte_is_refused(world: CallbackWorld, tenant_id: TenantId) -> None:
    attempt = await world.attempt(tenant_id, await world.account(None))
    body = events(event(attempt.message_id, "delivered"))
    headers = world.signed(body)

    answer = await world.post(attempt.account_id, body + b" ", headers=headers)
    await world.job().drain()

    assert answer.status_code == 401
    assert answer.json()["code"] == "bad_signature"
    [kept] = await world.requests()
    assert (kept["status"], kept["reason"], kept["signature_valid"]) == ("rejected", "mismatch", False)
    assert await world.events() == []
    assert await world.receipts(tenant_id) == []


@pytest.mark.parametrize(("minutes", "status"), [(-6, 401), (-4, 200), (4, 200), (6, 401)])
async def test_the_window_of_time(world: CallbackWorld, minutes: int, status: int) -> None:
    """An old request is not taken again, and one from the future neither."""
    account = await world.account(None)
    body = events(event("m-1"))

    answer = await world.post(
        account, body, headers=world.signed(body, at=world.clock.now() + timedelta(minutes=minutes))
    )

    assert answer.status_code == status


async def test_the_time_is_part_of_what_is_signed(world: CallbackWorld) -> None:
    """A captured request can't be made young again."""
    account = await world.account(None)
    body = events(event("m-1"))
    headers = world.signed(body, at=world.clock.now() - timedelta(hours=1))

    answer = await world.post(
        account, body, headers={**headers, "webhook-timestamp": str(int(world.clock.now().timestamp()))}
    )

    assert answer.status_code == 401


@pytest.mark.parametrize("missing", ["webhook-id", "webhook-timestamp", "webhook-signature"])
async def test_unsigned(world: CallbackWorld, missing: str) -> None:
    account = await world.account(None)
    body = events(event("m-1"))
    headers = world.signed(body)
    del headers[missing]

    answer = await world.post(account, body, headers=headers)

    assert answer.status_code == 401
    assert missing in answer.json()["detail"]


async def test_a_signature_of_another_account_opens_nothing(
    world: CallbackWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    mine = await world.account(tenant_id, secret="my-secret-of-some-length")
    theirs = await world.account(other_tenant, secret="their-secret-of-some-length")
    body = events(event("m-1"))

    answer = await world.post(theirs, body, headers=world.signed(body, secret="my-secret-of-some-length"))

    assert answer.status_code == 401
    assert mine != theirs


@pytest.mark.parametrize("what", ["unknown id", "no id", "other vendor", "no secret"])
async def test_where_nothing_listens(world: CallbackWorld, what: str) -> None:
    """404 for all of them, and nothing is kept."""
    account = await world.account(None, secret=None if what == "no secret" else SECRET)
    body = events(event("m-1"))
    vendor = "smtp" if what == "other vendor" else "http"
    asked = {"unknown id": account[:-3] + "ZZZ", "no id": "adcfg_'; --"}.get(what, account)

    answer = await world.post(asked, body, vendor=vendor)

    assert answer.status_code == 404
    assert answer.json()["code"] == "no_hook"
    assert await world.requests() == []


async def test_what_an_account_that_is_off_says_still_counts(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    """Nothing new goes through it; what went before has its receipt."""
    attempt = await world.attempt(tenant_id, await world.account(None))
    async with world.db.platform() as tx:
        await tx.connection.execute("UPDATE chan.channel_adapter_configs SET active = false")
    await world.later(seconds=2)
    body = events(event(attempt.message_id, "delivered"))

    answer = await world.post(attempt.account_id, body, headers=world.signed(body))
    await world.job().drain()

    assert answer.status_code == 200
    assert len(await world.receipts(tenant_id)) == 1


async def test_a_secret_that_was_changed_counts_at_once(world: CallbackWorld) -> None:
    """The vendor signs with the new one before we would have read it again."""
    account = await world.account(None)
    body = events(event("m-1"))
    assert (await world.post(account, body)).status_code == 200
    world.write_secret(None, "http-platform", "a-new-secret-of-some-length")

    await world.later(seconds=2)
    new = await world.post(account, body, headers=world.signed(body, secret="a-new-secret-of-some-length"))
    old = await world.post(account, body, headers=world.signed(body))

    assert new.status_code == 200
    assert old.status_code == 401


async def test_the_old_secret_is_good_for_a_minute_at_most(world: CallbackWorld) -> None:
    account = await world.account(None)
    body = events(event("m-1"))
    assert (await world.post(account, body)).status_code == 200
    world.write_secret(None, "http-platform", "a-new-secret-of-some-length")

    await world.later(seconds=61)
    old = await world.post(account, body, headers=world.signed(body))

    assert old.status_code == 401


async def test_a_flood_of_forgeries_fills_nothing(world: CallbackWorld) -> None:
    """Ten a minute are kept, all are counted, and the secret is not read for each."""
    account = await world.account(None)
    forged = events(event("m-1"))
    headers = world.signed(forged, secret="a-guess-of-some-length")
    reads = 0
    resolve = world.secrets.resolve

    async def counting(*args, **kwargs):  # type: ignore[no-untyped-def]
        nonlocal reads
        reads += 1
        return await resolve(*args, **kwargs)

    world.secrets.resolve = counting  # type: ignore[method-assign]
    answers = [await world.post(account, forged, headers=headers) for _ in range(40)]
    kept_at_first = len(await world.requests())
    await world.later(seconds=61)
    body = events(event("m-2"))
    good = await world.post(account, body)

    assert {a.status_code for a in answers} == {401}
    assert kept_at_first == 10
    assert world.counted("callbacks_refused_total", vendor="http", reason="mismatch") == 40
    assert reads <= 2
    assert good.status_code == 200


async def test_of_a_forged_body_only_the_beginning_is_kept(world: CallbackWorld) -> None:
    account = await world.account(None)
    forged = b"x" * 500_000

    await world.post(account, forged, headers=world.signed(forged, secret="a-guess-of-some-length"))

    [kept] = await world.requests()
    async with world.db.platform() as tx:
        key = await world.keyring.platform_key(tx, PLATFORM_PURPOSE)
    assert await raw_bodies.read(world.system.kernel.blobs, key, place_of(kept)) == forged[: 16 * 1024]


async def test_the_largest_body_and_one_byte_more(world: CallbackWorld) -> None:
    account = await world.account(None)
    head = events(event("m-1"))
    largest = head + b" " * (MOST_BYTES - len(head))
    larger = largest + b" "

    taken = await world.post(account, largest)
    refused = await world.post(account, larger)

    assert taken.status_code == 200
    assert refused.status_code == 413


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None]
)
async def test_another_kind_of_body(world: CallbackWorld, content_type: str | None) -> None:
    account = await world.account(None)
    body = events(event("m-1"))
    headers = world.signed(body)
    del headers["content-type"]
    if content_type:
        headers["content-type"] = content_type

    answer = await world.post(account, body, headers=headers)

    assert answer.status_code == 415
    assert await world.requests() == []


async def test_a_packed_body(world: CallbackWorld) -> None:
    """A small body that becomes a large one is not unpacked."""
    account = await world.account(None)
    body = events(event("m-1"))

    answer = await world.post(account, body, headers={**world.signed(body), "content-encoding": "gzip"})

    assert answer.status_code == 415


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"[" * 100_000, ""),
        (b'{"events":' + b'{"a":' * 50_000, ""),
        (b'{"events": [' + b"[" * 600 + b"]" * 600 + b"]}", "events[0]"),
        (b"", ""),
        (b"null", ""),
        (b'{"events": null}', "events"),
        (b'{"events": [{"id": "e", "message_id": "m"}]}', "events[0].status"),
        (b'{"events": [{"id": "e", "message_id": "", "status": "sent"}]}', "events[0].message_id"),
        (b'{"events": [{"id": "e", "message_id": "m", "status": "sent"}], "events": []}', "events"),
        (b'{"events": [{"id": "e\\u0000", "message_id": "m", "status": "sent"}]}', "events[0].id"),
        (b'{"events": [{"id": "e", "message_id": "m", "status": "sent", "occurred_at": "today"}]}', "events[0].occurred_at"),
        (b'{"events": [{"id": "e", "message_id": "m", "status": "sent", "cost": {"micros": -1, "currency": "USD"}}]}', "events[0].cost.micros"),
        (b'{"events": [{"id": "e", "message_id": "m", "status": "sent", "cost": {"micros": 1e400, "currency": "USD"}}]}', ""),
        (b'{"events": [{"id": "\\ud800", "message_id": "m", "status": "sent"}]}', ""),
        (b'\xff\xfe{"events": []}', ""),
    ],
)  # fmt: skip
async def test_signed_and_not_understood(world: CallbackWorld, body: bytes, field: str) -> None:
    """400 that names the field; kept whole, because a vendor that words it otherwise now has to be noticed."""
    account = await world.account(None)

    answer = await world.post(account, body)

    assert answer.status_code == 400, answer.text
    if field:
        assert field in json.dumps(answer.json()["errors"])
    [kept] = await world.requests()
    assert (kept["status"], kept["reason"], kept["signature_valid"]) == ("dlq", "unreadable", True)
    assert await world.events() == []


async def test_too_many_events(world: CallbackWorld) -> None:
    account = await world.account(None)

    answer = await world.post(account, events(*(event(f"m-{n}") for n in range(1001))))

    assert answer.status_code == 400


async def test_the_longest_names(world: CallbackWorld, tenant_id: TenantId) -> None:
    """Ids as long as they may be, in letters of four bytes, still find their attempt."""
    account = await world.account(None)
    name = "𐍈" * 1000
    attempt = await world.attempt(tenant_id, account, message_id=name[:200])

    body = events(event(name, "𐍈" * 60, id=name), event(name, "delivered", id=name + ""))
    answer = await world.post(account, body)
    await world.job().drain()

    assert answer.json()["accepted"] == 2
    assert {r["attempt_id"] for r in await world.receipts(tenant_id)} == {attempt.id}


async def test_two_signature_headers_are_none(world: CallbackWorld) -> None:
    """Which of them another reader takes nobody knows."""
    account = await world.account(None)
    body = events(event("m-1"))
    good = world.signed(body)
    async with world.client() as client:
        answer = await client.post(
            f"/hooks/http/{account}",
            content=body,
            headers=[*good.items(), ("webhook-signature", "v1,AAAA")],
        )

    assert answer.status_code == 401


async def test_several_signatures_in_one_header(world: CallbackWorld) -> None:
    """A vendor that changes its secret signs with both."""
    account = await world.account(None)
    body = events(event("m-1"))
    timestamp = int(world.clock.now().timestamp())
    ours = signed_headers(SECRET, webhook_id="w", timestamp=timestamp, body=body)
    theirs = signed_headers("another-secret-of-theirs", webhook_id="w", timestamp=timestamp, body=body)
    both = f"{theirs['webhook-signature']} v1a,skipped {ours['webhook-signature']}"

    answer = await world.post(
        account, body, headers={**ours, "webhook-signature": both, "content-type": "application/json"}
    )

    assert answer.status_code == 200


async def test_refusals_hold_nothing_of_the_body_or_the_secret(
    world: CallbackWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    account = await world.account(None, secret="unmistakable-secret-of-some-length")
    body = events({"id": "e", "message_id": "m", "status": "sent", "reason": ["laila@example.test"]})

    bad = await world.post(account, body, headers=world.signed(body))
    unreadable = await world.post(
        account, body, headers=world.signed(body, secret="unmistakable-secret-of-some-length")
    )

    said = bad.text + unreadable.text + "".join(capsys.readouterr())
    assert (bad.status_code, unreadable.status_code) == (401, 400)
    assert "unmistakable" not in said
    assert "laila" not in said


ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def made_up_beside(account: str) -> list[str]:
    """Ids of accounts that there are not."""
    return [f"{account[:-2]}{a}{b}" for a in ALPHABET for b in ALPHABET if f"{a}{b}" != account[-2:]]


async def test_a_flood_of_made_up_accounts_is_refused_where_it_comes_from(world: CallbackWorld) -> None:
    """Those beyond a bound are told to come again; an account that there is is served all the same."""
    account = await world.account(None)
    body = events(event("m-1"))

    statuses = [(await world.post(one, body)).status_code for one in made_up_beside(account)[:130]]
    known = await world.post(account, events(event("m-2")))

    assert statuses[:120] == [404] * 120
    assert statuses[120:] == [429] * 10
    assert known.status_code == 200


async def test_a_flood_of_made_up_accounts_keeps_no_signed_callback_out(world: CallbackWorld) -> None:
    """Also of an account that was quiet so far, in the midst of it; and the flood costs a few statements, not one each."""
    quiet, other = await world.account(None), await world.account(None)
    body = events(event("m-1"))
    flood = made_up_beside(other)[:600]

    with counting(world.db) as asked:
        answers = await asyncio.gather(
            *(world.post(one, body) for one in flood[:300]),
            world.post(quiet, body),
            *(world.post(one, body) for one in flood[300:]),
        )

    assert answers[300].status_code == 200
    assert {answer.status_code for answer in answers[:300]} <= {404, 429}
    looked_up = [text for text in asked.texts if "channel_adapter_configs" in text]
    assert len(looked_up) < len(flood) / 3


async def test_while_the_secrets_cant_be_asked_for(world: CallbackWorld) -> None:
    """A secret that is known is good for a minute; then nobody can tell, and the vendor is to come again."""
    account = await world.account(None)
    body = events(event("m-1"))
    assert (await world.post(account, body)).status_code == 200

    async def away(*_: object, **__: object) -> Secret:
        raise SecretStoreError

    world.secrets.resolve = away  # type: ignore[method-assign]
    await world.later(seconds=45)
    known = await world.post(account, body, headers=world.signed(body))
    forged = await world.post(account, body, headers=world.signed(body, secret="a-guess-of-some-length"))
    await world.later(seconds=20)
    unknown = await world.post(account, body, headers=world.signed(body))

    assert known.status_code == 200
    assert forged.status_code == 503
    assert unknown.status_code == 503
    assert unknown.json()["code"] == "hook_unavailable"
