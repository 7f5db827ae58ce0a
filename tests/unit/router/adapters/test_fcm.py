"""FCM: the token, the exact request, and what its answers mean."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs

import msgspec
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.support import played_http as http
from tests.support.clock import ManualClock
from tests.support.push import ec_pem, rsa_pem, service_account
from tests.support.vendors import MESSAGE, KnownSecrets
from tidings.contracts.adapters import DryCalls
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.errors import BadValueError
from tidings.kernel.refusals import InvalidError
from tidings.router.adapters.fcm.adapter import KIND, FcmAdapter, FcmSettings
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.registry import read_account

TEXT = replace(MESSAGE, channel="push", to="bk3RNwTe3H0:CI2k_HHwgIpoDKCIZvvDMExUdFQ3P1", html=None)
TOKEN = http.answer("200 OK", b'{"access_token":"ya29.one","expires_in":3599,"token_type":"Bearer"}')
OTHER_TOKEN = http.answer("200 OK", b'{"access_token":"ya29.two","expires_in":3599,"token_type":"Bearer"}')
ACCEPTED = http.answer("200 OK", b'{"name":"projects/green-shop/messages/0:15%31b"}')
#: The clock of these tests stands here.
NOW = 1_794_744_000


@asynccontextmanager
async def played(
    *answers: bytes, **more: Any
) -> AsyncIterator[tuple[FcmAdapter, http.PlayedHttp, ManualClock]]:
    """A project whose vendor gives these answers, to the questions for tokens too."""
    clock = ManualClock()
    async with http.played_http(*answers) as vendor:
        place = f"http://127.0.0.1:{vendor.port}"
        given = service_account(api_url=place, token_uri=f"{place}/token", **more)
        adapter = KIND.adapter(msgspec.convert(given, FcmSettings), AdapterContext(clock=clock))
        assert isinstance(adapter, FcmAdapter)
        try:
            yield adapter, vendor, clock
        finally:
            await adapter.close()


def refusal(status: str, word: str, *details: dict[str, Any], words: str = "No.", headers: str = "") -> bytes:
    """An error as Google words it."""
    error = {"code": int(status[:3]), "message": words, "status": word, "details": list(details)}
    return http.answer(status, msgspec.json.encode({"error": error}), headers=headers)


def fcm_error(code: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": code}


def bad_field(name: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": name}]}


async def test_a_token_is_asked_for_as_google_wants_it() -> None:
    """Signed with the account's key, for the place that gives it."""
    async with played(TOKEN, ACCEPTED) as (adapter, vendor, _):
        await adapter.send([TEXT])

    head, body = vendor.heard[0]
    assert head.startswith("POST /token HTTP/1.1\r\n")
    assert "Content-Type: application/x-www-form-urlencoded\r\n" in head
    given = parse_qs(body.decode())
    assert given["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
    token = jwt.decode(given["assertion"][0], RSAKey.import_key(rsa_pem()))
    assert token.header == {"alg": "RS256", "typ": "JWT", "kid": "9b1c0de5"}
    assert token.claims == {
        "iss": "firebase-adminsdk@green-shop.iam.gserviceaccount.com",
        "scope": "https://www.googleapis.com/auth/firebase.messaging",
        "aud": f"http://127.0.0.1:{vendor.port}/token",
        "iat": NOW,
        "exp": NOW + 3600,
    }


async def test_a_message_goes_out_as_fcm_wants_it() -> None:
    """Metadata as texts; what is urgent wakes the device."""
    message = replace(TEXT, metadata={"order": "A-17", "items": [1, 2]}, urgent=True)
    async with played(TOKEN, ACCEPTED) as (adapter, vendor, _):
        outcomes = await adapter.send([message])

    head, body = vendor.heard[1]
    assert outcomes == [Accepted(provider_message_id="0:15%31b")]
    assert head.startswith("POST /v1/projects/green-shop/messages:send HTTP/1.1\r\n")
    assert "Authorization: Bearer ya29.one\r\n" in head
    assert msgspec.json.decode(body) == {
        "message": {
            "token": TEXT.to,
            "notification": {"title": "Your most private order", "body": "The secret of the tea"},
            "data": {"order": "A-17", "items": "[1,2]"},
            "android": {
                "priority": "HIGH",
                "ttl": "86400s",
                "notification": {"tag": "ntf_01JCQ8ZK6T9Y4M2V7N5B3D1F0G"},
            },
            "apns": {
                "headers": {
                    "apns-priority": "10",
                    "apns-expiration": str(NOW + 86400),
                    "apns-collapse-id": "ntf_01JCQ8ZK6T9Y4M2V7N5B3D1F0G",
                },
                "payload": {"aps": {"sound": "default"}},
            },
            "webpush": {"headers": {"Urgency": "high", "TTL": "86400"}},
        }
    }


async def test_what_is_not_urgent_waits_for_the_device() -> None:
    async with played(TOKEN, ACCEPTED, ttl_seconds=0) as (adapter, vendor, _):
        await adapter.send([replace(TEXT, subject=None)])

    message = msgspec.json.decode(vendor.heard[1][1])["message"]
    assert message["notification"] == {"body": "The secret of the tea"}
    assert (message["android"]["priority"], message["android"]["ttl"]) == ("NORMAL", "0s")
    assert message["apns"]["headers"]["apns-priority"] == "5"
    assert message["apns"]["headers"]["apns-expiration"] == "0"
    assert message["webpush"]["headers"]["Urgency"] == "normal"


async def test_one_token_is_asked_for_by_all_and_used_to_its_end() -> None:
    """Sets that begin together ask once; a minute before its end there is another."""
    async with played(TOKEN, ACCEPTED, ACCEPTED, ACCEPTED, OTHER_TOKEN, ACCEPTED) as (adapter, vendor, clock):
        await asyncio.gather(adapter.send([TEXT]), adapter.send([TEXT]))
        await clock.advance(timedelta(seconds=3599 - 61))
        await adapter.send([TEXT])
        asked = [head.split(" ")[1] for head, _ in vendor.heard]
        await clock.advance(timedelta(seconds=2))
        await adapter.send([TEXT])

    assert asked == ["/token", *["/v1/projects/green-shop/messages:send"] * 3]
    assert [head.split(" ")[1] for head, _ in vendor.heard][4] == "/token"
    assert "Bearer ya29.two" in vendor.heard[5][0]


async def test_who_stops_waiting_stops_nobody_elses_token() -> None:
    async with played(http.SLOW + TOKEN, ACCEPTED) as (adapter, vendor, _):
        first = asyncio.ensure_future(adapter.send([TEXT]))
        second = asyncio.ensure_future(adapter.send([TEXT]))
        while not vendor.heard:
            await asyncio.sleep(0.001)
        first.cancel()

        assert [type(outcome) for outcome in await second] == [Accepted]
        with pytest.raises(asyncio.CancelledError):
            await first
    assert [head.split(" ")[1] for head, _ in vendor.heard].count("/token") == 1


async def test_whoever_waits_for_a_token_is_told_of_the_end() -> None:
    async with played(http.HANG) as (adapter, vendor, _):
        (late,) = await adapter.send([TEXT], within=0.05)
        call = asyncio.ensure_future(adapter.send([TEXT]))
        while not vendor.heard:
            await asyncio.sleep(0.001)
        await adapter.close()

        (outcome,) = await call
    assert isinstance(late, TryLater)
    assert late.code == "token"
    assert isinstance(outcome, TryLater)
    assert outcome.code == "closed"


@pytest.mark.parametrize(
    ("answer", "code", "checked"),
    [
        (
            http.answer(
                "400 Bad Request", b'{"error":"invalid_grant","error_description":"Invalid JWT Signature."}'
            ),
            "invalid_grant",
            Refused,
        ),
        (http.answer("401 Unauthorized", b'{"error":"invalid_client"}'), "invalid_client", Refused),
        (http.answer("500 Oh", b"<html>", headers="Retry-After: 3\r\n"), "token", TryLater),
        (http.answer("200 OK", b"<html>log in</html>"), "token", TryLater),
        (http.answer("200 OK", b'{"access_token":"a\\r\\nb"}'), "token", TryLater),
        (http.CLOSE, "connection", TryLater),
    ],
)
async def test_without_a_token_nothing_is_sent(answer: bytes, code: str, checked: type[Outcome]) -> None:
    """Nothing is wrong with the messages; a check says what is."""
    async with played(answer) as (adapter, vendor, _):
        (outcome,) = await adapter.send([TEXT])
        found = await adapter.check()

    assert isinstance(outcome, TryLater)
    assert outcome.code == code
    assert type(found) is checked
    assert {head.split(" ")[1] for head, _ in vendor.heard} == {"/token"}


async def test_a_token_that_is_taken_no_more_is_forgotten() -> None:
    """That of a device's own service is not ours."""
    stale = refusal("401 Unauthorized", "UNAUTHENTICATED")
    third = refusal("401 Unauthorized", "UNAUTHENTICATED", fcm_error("THIRD_PARTY_AUTH_ERROR"))
    async with played(TOKEN, third, stale, OTHER_TOKEN, ACCEPTED) as (adapter, vendor, _):
        first, second, last = [(await adapter.send([TEXT]))[0] for _ in range(3)]

    assert isinstance(first, TryLater)
    assert isinstance(second, TryLater)
    assert (first.code, second.code) == ("THIRD_PARTY_AUTH_ERROR", "UNAUTHENTICATED")
    assert isinstance(last, Accepted)
    assert [head.split(" ")[1] == "/token" for head, _ in vendor.heard] == [True, False, False, True, False]


@pytest.mark.parametrize(
    ("answer", "kind", "code", "meaning"),
    [
        (
            refusal("404 Not Found", "NOT_FOUND", fcm_error("UNREGISTERED")),
            Refused,
            "UNREGISTERED",
            "invalid_address",
        ),
        (
            refusal(
                "400 Bad Request",
                "INVALID_ARGUMENT",
                fcm_error("INVALID_ARGUMENT"),
                bad_field("message.token"),
            ),
            Refused,
            "INVALID_ARGUMENT:token",
            "invalid_address",
        ),
        # The documentation's second example.
        (
            refusal(
                "400 Bad Request",
                "INVALID_ARGUMENT",
                fcm_error("INVALID_ARGUMENT"),
                words="The registration token is not a valid FCM registration token",
            ),
            Refused,
            "INVALID_ARGUMENT:token",
            "invalid_address",
        ),
        # And its first.
        (
            refusal("400 Bad Request", "INVALID_ARGUMENT", bad_field("message.data[0].value")),
            Refused,
            "INVALID_ARGUMENT",
            "bad_request",
        ),
        (
            refusal("403 Forbidden", "PERMISSION_DENIED", fcm_error("SENDER_ID_MISMATCH")),
            Refused,
            "SENDER_ID_MISMATCH",
            "sender_mismatch",
        ),
        (refusal("403 Forbidden", "PERMISSION_DENIED"), TryLater, "PERMISSION_DENIED", "credentials"),
        (
            refusal("429 Too Many Requests", "RESOURCE_EXHAUSTED", fcm_error("QUOTA_EXCEEDED")),
            TryLater,
            "QUOTA_EXCEEDED",
            "throttled",
        ),
        (refusal("503 Service Unavailable", "UNAVAILABLE"), TryLater, "UNAVAILABLE", "unavailable"),
        (refusal("500 Oh", "INTERNAL"), TryLater, "INTERNAL", "unavailable"),
        (refusal("404 Not Found", "NOT_FOUND"), TryLater, "NOT_FOUND", "account_unready"),
        (http.answer("404 Not Found", b"<html>"), TryLater, "404", None),
        (http.answer("502 Bad Gateway", b"<html>"), Unlearned, None, None),
        (refusal("504 Gateway Timeout", "DEADLINE_EXCEEDED"), Unlearned, None, None),
        (http.answer("200 OK", b"<html>log in</html>"), Unlearned, None, None),
    ],
)
async def test_every_answer_has_its_meaning(
    answer: bytes, kind: type[Outcome], code: str | None, meaning: str | None
) -> None:
    """And a seed in the status map that agrees: what may go later is not made a no by it."""
    async with played(TOKEN, answer) as (adapter, _, _):
        (outcome,) = await adapter.send([TEXT])

    assert type(outcome) is kind
    assert getattr(outcome, "code", None) == code
    seeds = {seed.code: seed for seed in KIND.statuses}
    assert (seeds[code].reason if code in seeds else None) == meaning
    if meaning is not None and code is not None:
        assert (seeds[code].canonical == "failed_temp") == (kind is TryLater)


@pytest.mark.parametrize(
    "change",
    [
        {"to": ""},
        {"to": "a b"},
        {"to": "x" * 4097},
        {"to": "a\r\nb"},
        {"to": "é"},
        # Apple's token and a browser's subscription: FCM would say that there is no such token, and they would be lost to those who know them.
        {"to": "0f" * 32},
        {"to": '{"endpoint":"https://push.example/x","keys":{"p256dh":"a","auth":"b"}}'},
        {"text": None},
        {"metadata": {"from": "x"}},
        {"metadata": {"google.c.a": "x"}},
        {"metadata": {"x": object()}},
    ],
)
async def test_what_cant_be_said_is_refused_without_asking(change: dict[str, Any]) -> None:
    async with played(TOKEN, ACCEPTED) as (adapter, vendor, _):
        (outcome,) = await adapter.send([replace(TEXT, **change)])

    assert isinstance(outcome, Refused)
    assert outcome.code == "bad_message"
    assert len(vendor.heard) == 1


async def test_all_devices_are_written_to() -> None:
    """One that is gone does not matter where another takes it; it is told by its place."""
    gone = refusal("404 Not Found", "NOT_FOUND", fcm_error("UNREGISTERED"))
    async with played(TOKEN, gone, ACCEPTED, connections=1) as (adapter, vendor, _):
        (outcome,) = await adapter.send([replace(TEXT, also_to=("other-device",))])

    assert isinstance(outcome, Accepted)
    assert outcome.provider_message_id == "0:15%31b"
    assert [(one.place, one.refused.code) for one in outcome.others] == [(0, "UNREGISTERED")]
    bodies = [msgspec.json.decode(body)["message"]["token"] for _, body in vendor.heard[1:]]
    assert bodies == [TEXT.to, "other-device"]


async def test_a_dry_call_sends_nothing() -> None:
    """FCM is told to look only; what is never learned is no harm."""
    fake = http.answer("200 OK", b'{"name":"projects/green-shop/messages/fake_message_id"}')
    async with played(TOKEN, fake, http.CLOSE) as (adapter, vendor, _):
        assert isinstance(adapter, DryCalls)
        first, second = await adapter.dry_call(TEXT), await adapter.dry_call(TEXT)

    assert first == Accepted(provider_message_id="fake_message_id")
    assert isinstance(second, TryLater)
    assert msgspec.json.decode(vendor.heard[1][1])["validate_only"] is True


async def test_the_file_that_google_gives_is_an_account() -> None:
    """As it is; a misspelt key in it is none."""
    text = msgspec.json.encode(service_account()).decode()
    misspelt = msgspec.json.encode(service_account(projet_id="x")).decode()
    secrets = KnownSecrets(google=text, other=misspelt)
    read = await read_account("fcm", {"secret_ref": "known://google", "connections": 4}, secrets)
    with pytest.raises(InvalidError):
        await read_account("fcm", {"secret_ref": "known://other"}, secrets)

    assert isinstance(read.settings, FcmSettings)
    assert read.settings.project_id == "green-shop"
    assert repr(read.settings) == "FcmSettings(project_id='green-shop')"


@pytest.mark.parametrize("pem", ["hunter2", ec_pem()])
async def test_a_key_that_is_none_is_named(pem: str) -> None:
    settings = msgspec.convert(service_account(private_key=pem), FcmSettings)
    with pytest.raises(BadValueError, match="private_key") as refused:
        KIND.adapter(settings, AdapterContext(clock=ManualClock()))

    assert pem not in str(refused.value)
