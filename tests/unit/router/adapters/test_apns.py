"""Apple's push service: the exact request, its token, what is certain when a connection ends, and what answers mean."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from h2.errors import ErrorCodes
from joserfc import jwt
from joserfc.jwk import ECKey

from tests.support import played_http as http
from tests.support import played_http2 as http2
from tests.support.certificates import make_certificate
from tests.support.clock import ManualClock
from tests.support.push import ec_pem, rsa_pem
from tests.support.vendors import MESSAGE
from tidings.contracts.adapters import Adapter
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.egress import Guard, anywhere, public_only
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.apns.adapter import KIND, ApnsSettings
from tidings.router.adapters.apns.provider_token import ApnsToken
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.signing_keys import ec_key

DEVICE = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
TEXT = replace(MESSAGE, channel="push", to=DEVICE, html=None)
TAKEN = http2.Part()
NOW = 1_794_744_000


def several(count: int) -> list[OutboundMessage]:
    return [replace(TEXT, message_id=f"ntf_{i:06d}") for i in range(count)]


@asynccontextmanager
async def account(url: str, guard: Guard = anywhere, **more: Any) -> AsyncIterator[Adapter]:
    """An app whose vendor is there."""
    given = {
        "api_url": url,
        "private_key": ec_pem(),
        "key_id": "ABC123DEFG",
        "team_id": "DEF123GHIJ",
        "topic": "com.example.app",
        "timeout_seconds": 5.0,
        **more,
    }
    read = msgspec.convert(given, ApnsSettings)
    adapter = KIND.adapter(read, AdapterContext(clock=ManualClock(), guard=guard))
    try:
        yield adapter
    finally:
        await adapter.close()


@asynccontextmanager
async def played(
    *parts: http2.Part, streams: int | None = None, window: int | None = None, **more: Any
) -> AsyncIterator[tuple[Adapter, http2.PlayedHttp2]]:
    """An app whose vendor does this."""
    async with (
        http2.played_http2(*parts, streams=streams, window=window) as vendor,
        account(f"http://127.0.0.1:{vendor.port}", **more) as adapter,
    ):
        yield adapter, vendor


async def test_a_message_goes_out_as_apple_wants_it() -> None:
    """Under a name that is the same when it is repeated, and another for another device."""
    message = replace(TEXT, metadata={"order": "A-17"}, urgent=True)
    async with played(TAKEN) as (adapter, vendor):
        outcomes = await adapter.send([message])
        await adapter.send([message, replace(message, to=DEVICE[::-1])])

    headers = dict(vendor.heard[0].headers)
    names = [request.headers["apns-id"] for request in vendor.heard]
    token = jwt.decode(headers.pop("authorization").removeprefix("bearer "), ECKey.import_key(ec_pem()))
    assert outcomes == [Accepted(provider_message_id=names[0])]
    assert str(UUID(names[0])) == names[0] == names[1]
    assert names[2] != names[0]
    assert headers == {
        ":method": "POST",
        ":scheme": "http",
        ":authority": f"127.0.0.1:{vendor.port}",
        ":path": f"/3/device/{DEVICE}",
        "apns-id": names[0],
        "apns-topic": "com.example.app",
        "apns-push-type": "alert",
        "apns-priority": "10",
        "apns-expiration": str(NOW + 86400),
        "apns-collapse-id": "ntf_01JCQ8ZK6T9Y4M2V7N5B3D1F0G",
        "content-type": "application/json",
        "content-length": str(len(vendor.heard[0].body)),
        "user-agent": "tidings",
    }
    assert token.header == {"alg": "ES256", "kid": "ABC123DEFG", "typ": "JWT"}
    assert token.claims == {"iss": "DEF123GHIJ", "iat": NOW}
    assert msgspec.json.decode(vendor.heard[0].body) == {
        "aps": {
            "alert": {"title": "Your most private order", "body": "The secret of the tea"},
            "sound": "default",
        },
        "data": {"order": "A-17"},
    }
    assert vendor.connections == 1


async def test_what_is_not_urgent_waits_for_the_device() -> None:
    async with played(TAKEN, ttl_seconds=0) as (adapter, vendor):
        await adapter.send([replace(TEXT, subject=None, message_id="n" * 90)])

    headers = vendor.heard[0].headers
    assert (headers["apns-priority"], headers["apns-expiration"]) == ("5", "0")
    assert len(headers["apns-collapse-id"]) == 64
    assert msgspec.json.decode(vendor.heard[0].body)["aps"]["alert"] == {"body": "The secret of the tea"}


async def test_a_token_is_renewed_in_time_and_not_too_often() -> None:
    """Apple takes none that is older than an hour, and no second one within twenty minutes."""
    clock = ManualClock()
    token = ApnsToken(ec_key(ec_pem(), "key", "x"), key_id="ABC123DEFG", team_id="DEF123GHIJ", clock=clock)
    first = token.get()

    token.expired()
    assert token.get() == first
    await clock.advance(timedelta(minutes=39))
    assert token.get() == first
    await clock.advance(timedelta(minutes=1))
    second = token.get()
    assert second != first
    await clock.advance(timedelta(minutes=20))
    token.expired()
    assert token.get() != second


@pytest.mark.parametrize(
    ("status", "reason", "kind", "meaning"),
    [
        (400, "BadDeviceToken", Refused, "device_mismatch"),
        (400, "DeviceTokenNotForTopic", Refused, "topic_mismatch"),
        (410, "Unregistered", Refused, "invalid_address"),
        (410, "ExpiredToken", Refused, "invalid_address"),
        (400, "BadTopic", TryLater, "topic_refused"),
        (400, "BadMessageId", Refused, "bad_request"),
        (400, "IdleTimeout", TryLater, "unavailable"),
        (403, "ExpiredProviderToken", TryLater, "credentials"),
        (403, "InvalidProviderToken", TryLater, "credentials"),
        (404, "BadPath", Refused, "bad_request"),
        (413, "PayloadTooLarge", Refused, "content_too_large"),
        (429, "TooManyRequests", TryLater, "throttled"),
        (429, "TooManyProviderTokenUpdates", TryLater, "throttled"),
        (500, "InternalServerError", TryLater, "unavailable"),
        (503, "ServiceUnavailable", TryLater, "unavailable"),
        (503, "Shutdown", TryLater, "unavailable"),
        (400, "SomethingNew", Refused, None),
    ],
)
async def test_every_reason_has_its_meaning(
    status: int, reason: str, kind: type[Outcome], meaning: str | None
) -> None:
    """And a seed in the status map that agrees."""
    async with played(http2.Part(status=status, body=msgspec.json.encode({"reason": reason}))) as (
        adapter,
        _,
    ):
        (outcome,) = await adapter.send([TEXT])

    assert type(outcome) is kind
    assert getattr(outcome, "code", None) == reason
    seeds = {seed.code: seed for seed in KIND.statuses}
    assert (seeds[reason].reason if reason in seeds else None) == meaning
    if meaning is not None:
        assert (seeds[reason].canonical == "failed_temp") == (kind is TryLater)


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        # It was not looked at.
        (http2.Part(reset=ErrorCodes.REFUSED_STREAM), TryLater),
        (http2.Part(refused=True), TryLater),
        # It may have been.
        (http2.Part(reset=ErrorCodes.INTERNAL_ERROR), Unlearned),
        (http2.CLOSE, Unlearned),
        (http2.Part(closes=True, cut=True), Unlearned),
        (http2.Part(headers={"apns-id": ""}), Unlearned),
        (http2.Part(status=502), Unlearned),
        # Somebody else's page.
        (http2.Part(status=404, body=b"<html>"), TryLater),
        # The connection takes no more, and answers what it has.
        (http2.Part(parting=True), Accepted),
    ],
)
async def test_what_is_certain_is_told_as_certain(part: http2.Part, kind: type[Outcome]) -> None:
    """And the next message goes out, over a new connection where it has to."""
    async with played(part, TAKEN) as (adapter, vendor):
        (first,) = await adapter.send([TEXT])
        (second,) = await adapter.send([TEXT])

    assert type(first) is kind
    assert isinstance(second, Accepted)
    gone = part.closes or part.refused or part.parting
    assert [request.connection for request in vendor.heard] == [1, 2 if gone else 1]


async def test_a_parting_is_about_those_behind_the_last() -> None:
    """Of three at once the vendor names the second as its last: that one is answered behind it, the third may go again."""
    slow, parting = http2.Part(after=0.05), http2.Part(refused=True)
    async with played(slow, slow, parting, TAKEN) as (adapter, vendor):
        outcomes = await adapter.send(several(3))
        (again,) = await adapter.send([TEXT])

    assert [type(outcome) for outcome in outcomes] == [Accepted, Accepted, TryLater]
    assert isinstance(again, Accepted)
    assert [request.connection for request in vendor.heard] == [1, 1, 1, 2]


async def test_whoever_waits_goes_over_the_next_connection() -> None:
    """One at a time: when the first costs the connection, the others have not begun."""
    async with played(http2.CLOSE, TAKEN, streams=1) as (adapter, vendor):
        outcomes = await adapter.send(several(4))

    assert [type(outcome) for outcome in outcomes] == [Unlearned, Accepted, Accepted, Accepted]
    assert [request.connection for request in vendor.heard] == [1, 2, 2, 2]


async def test_a_connection_that_is_dead_is_left() -> None:
    """Nothing says so; after an answer that did not come it is asked, and does not answer that either."""
    # Long enough for a busy machine to make the second connection and get its answer.
    async with played(http2.Part(freezes=True), TAKEN, timeout_seconds=1.0) as (adapter, vendor):
        (first,) = await adapter.send([TEXT])
        (second,) = await adapter.send([TEXT])

    assert isinstance(first, Unlearned)
    assert isinstance(second, Accepted)
    assert vendor.connections == 2


async def test_many_go_over_one_connection() -> None:
    """As many at once as both sides allow."""
    async with played(http2.Part(after=0.01), streams=5) as (adapter, vendor):
        outcomes = await adapter.send(several(40))
        allowed, vendor.most_open = vendor.most_open, 0
    async with played(http2.Part(after=0.01), connections=3) as (adapter, own):
        await adapter.send(several(12))

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 40
    assert (vendor.connections, allowed) == (1, 5)
    assert own.most_open == 3


async def test_a_narrow_window_is_kept_to() -> None:
    """A body goes out in the pieces that the vendor takes."""
    long = replace(TEXT, text="x" * 3500)
    async with played(TAKEN, window=1000) as (adapter, vendor):
        outcomes = await adapter.send([replace(long, message_id=f"n{i}") for i in range(30)])

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 30
    assert {len(request.body) for request in vendor.heard} == {len(vendor.heard[0].body)}
    assert len(vendor.heard[0].body) > 3500


async def test_a_connection_that_is_silent_after_a_lost_answer_is_asked() -> None:
    """It answers, and is kept; the request that nobody waits for is given up."""
    async with played(http2.HANG, TAKEN, timeout_seconds=0.1) as (adapter, vendor):
        (first,) = await adapter.send([TEXT])
        (second,) = await adapter.send([TEXT])

    assert isinstance(first, Unlearned)
    assert isinstance(second, Accepted)
    assert (vendor.connections, vendor.given_up) == (1, 1)


async def test_a_guard_is_asked_for_the_address_that_is_connected_to() -> None:
    """A name that leads inside is not followed."""
    async with (
        http2.played_http2(TAKEN) as vendor,
        account(f"http://localhost:{vendor.port}", public_only) as adapter,
    ):
        (outcome,) = await adapter.send([TEXT])
        checked = await adapter.check()

    assert isinstance(outcome, TryLater)
    assert outcome.code == "address"
    assert isinstance(checked, TryLater)
    assert vendor.connections == 0


async def test_over_tls_as_apple_speaks_it(tmp_path: Path) -> None:
    """A certificate that we trust, and HTTP/2 agreed on; neither can be done without."""
    certificate = make_certificate(tmp_path)
    two, one = certificate.server_context(), certificate.server_context()
    two.set_alpn_protocols(["h2"])
    trusted = str(certificate.cert_file)
    async with http2.played_http2(TAKEN, context=two) as vendor:
        url = f"https://127.0.0.1:{vendor.port}"
        async with account(url, ca_file=trusted) as adapter:
            taken = (await adapter.send([TEXT]))[0]
        async with account(url) as adapter:
            strange = (await adapter.send([TEXT]))[0]
    async with (
        http2.played_http2(TAKEN, context=one) as vendor,
        account(f"https://127.0.0.1:{vendor.port}", ca_file=trusted) as adapter,
    ):
        old = (await adapter.send([TEXT]))[0]

    assert isinstance(taken, Accepted)
    assert isinstance(strange, TryLater)
    assert isinstance(old, TryLater)
    assert (strange.code, old.code, old.reason) == ("tls", "connection", "nobody speaks HTTP/2 there")


@pytest.mark.parametrize(
    "answer", [http.answer("400 Bad Request", b"no"), http.CLOSE, b"\x00\x00\x04\x04\x00" + http.CLOSE]
)
async def test_whoever_does_not_speak_http2_gets_nothing(answer: bytes) -> None:
    async with (
        http.played_http(answer) as vendor,
        account(f"http://127.0.0.1:{vendor.port}", connect_seconds=2.0) as adapter,
    ):
        outcomes = await adapter.send(several(2))

    assert {type(outcome) for outcome in outcomes} == {TryLater}
    assert all(b"3/device" not in body and "device" not in head for head, body in vendor.heard)


async def test_an_adapter_that_is_closed_at_once_says_so() -> None:
    """Before anything could begin."""
    async with played(TAKEN) as (adapter, vendor):
        call = asyncio.ensure_future(adapter.send(several(2)))
        for _ in range(3):
            await asyncio.sleep(0)
        await adapter.close()
        outcomes = await call

    assert {getattr(outcome, "code", None) for outcome in outcomes} == {"closed"}
    assert vendor.heard == []


async def test_what_waits_for_a_connection_ends_with_its_time() -> None:
    """Nothing was sent, so it may go later."""
    async with (
        http.played_http(http.HANG) as vendor,
        account(f"http://127.0.0.1:{vendor.port}") as adapter,
    ):
        outcomes = await adapter.send(several(2), within=0.1)
        call = asyncio.ensure_future(adapter.send([TEXT]))
        await asyncio.sleep(0.01)
        await adapter.close()
        closed = await call

    assert {getattr(outcome, "code", None) for outcome in outcomes} == {"connection"}
    assert isinstance(closed[0], TryLater)


@pytest.mark.parametrize(
    "change",
    [
        {"to": ""},
        {"to": "xyz"},
        {"to": DEVICE + "/../x"},
        {"to": "0" * 401},
        {"text": None},
        {"text": "x" * 4100},
        {"metadata": {"x": object()}},
    ],
)
async def test_what_cant_be_said_is_refused_without_asking(change: dict[str, Any]) -> None:
    async with played(TAKEN) as (adapter, vendor):
        (outcome,) = await adapter.send([replace(TEXT, **change)])

    assert isinstance(outcome, Refused)
    assert outcome.code == "bad_message"
    assert vendor.heard == []


async def test_all_devices_are_written_to() -> None:
    """Those that are gone are told by their places. One that Apple does not know is, where it knows another one."""
    gone = http2.Part(status=410, body=b'{"reason":"Unregistered"}')
    bad = http2.Part(status=400, body=b'{"reason":"BadDeviceToken"}')
    devices = (DEVICE[::-1], "ab" * 32)
    async with played(gone, TAKEN, bad, bad, connections=1) as (adapter, vendor):
        (outcome,) = await adapter.send([replace(TEXT, also_to=devices)])
        (all_bad,) = await adapter.send([replace(TEXT, also_to=devices[:1])])

    assert isinstance(outcome, Accepted)
    found = [(one.place, one.refused.code) for one in outcome.others]
    assert found == [(0, "Unregistered"), (2, "BadDeviceToken:device")]
    assert [request.headers[":path"][-64:] for request in vendor.heard[:3]] == [DEVICE, *devices]
    # With the other environment's address everybody is unknown: that costs nobody their device.
    assert isinstance(all_bad, Refused)
    assert (all_bad.code, [one.refused.code for one in all_bad.others]) == (
        "BadDeviceToken",
        ["BadDeviceToken"],
    )
    reasons = {seed.code: seed.reason for seed in KIND.statuses}
    assert (reasons["BadDeviceToken"], reasons["BadDeviceToken:device"]) == (
        "device_mismatch",
        "invalid_address",
    )


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (http2.Part(status=400, body=b'{"reason":"BadDeviceToken"}'), Accepted),
        (http2.Part(status=403, body=b'{"reason":"InvalidProviderToken"}'), Refused),
        (http2.Part(status=400, body=b'{"reason":"TopicDisallowed"}'), Refused),
        (http2.Part(status=503, body=b'{"reason":"Shutdown"}'), TryLater),
        (http2.CLOSE, TryLater),
    ],
)
async def test_a_check_writes_to_a_device_that_nobody_has(part: http2.Part, kind: type[Outcome]) -> None:
    """Apple looks at the key first, and then finds nobody."""
    async with played(part) as (adapter, vendor):
        found = await adapter.check()

    assert type(found) is kind
    assert vendor.heard[0].headers[":path"] == f"/3/device/{'0' * 64}"


@pytest.mark.parametrize("pem", ["hunter2", rsa_pem()])
def test_a_key_that_is_none_is_named(pem: str) -> None:
    settings = ApnsSettings(
        private_key=pem, key_id="ABC123DEFG", team_id="DEF123GHIJ", topic="com.example.app"
    )
    with pytest.raises(BadValueError, match="private_key") as refused:
        KIND.adapter(settings, AdapterContext(clock=ManualClock()))

    assert pem not in str(refused.value)
    assert repr(settings) == "ApnsSettings(topic='com.example.app', key_id='ABC123DEFG')"
