"""Web Push: the exact request, its encryption and its token, where it never goes, and what its answers mean."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec
import pytest
import structlog
from cryptography.hazmat.primitives.asymmetric import ec
from joserfc import jwt
from joserfc.jwk import ECKey

from tests.support import played_http as http
from tests.support.clock import ManualClock
from tests.support.push import (
    BROWSER_PUBLIC,
    BROWSER_SECRET,
    ec_pem,
    encode64,
    rsa_pem,
    subscription,
    vapid_key,
)
from tests.support.vendors import MESSAGE
from tidings.contracts.adapters import Adapter
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.egress import anywhere
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.webpush.adapter import KIND, WebPushSettings
from tidings.router.adapters.webpush.encryption import MOST_BYTES, encrypt
from tidings.router.adapters.webpush.subscription import decode64, read_subscription
from tidings.router.adapters.webpush.vapid import Vapid, read_vapid_key
from tidings.sandbox.dialects.dialect import SubmittedMessage
from tidings.sandbox.dialects.webpush import WebPushDialect
from tidings.sandbox.http_messages import SandboxRequest

TEXT = replace(MESSAGE, channel="push", to=subscription(), html=None)
CREATED = http.answer("201 Created", headers="Location: https://push.example/m/a-1\r\n")


@asynccontextmanager
async def played(*answers: bytes, **more: Any) -> AsyncIterator[tuple[Adapter, http.PlayedHttp]]:
    """A sender whose push services give these answers."""
    async with (
        http.played_http(*answers) as vendor,
        account(api_url=f"http://127.0.0.1:{vendor.port}", **more) as adapter,
    ):
        yield adapter, vendor


@asynccontextmanager
async def account(**more: Any) -> AsyncIterator[Adapter]:
    """A sender that the operator trusts with every address."""
    settings = {"vapid_private_key": vapid_key()[0], "subject": "mailto:push@shop.example", **more}
    read = msgspec.convert(settings, WebPushSettings)
    adapter = KIND.adapter(read, AdapterContext(clock=ManualClock(), guard=anywhere))
    try:
        yield adapter
    finally:
        await adapter.close()


def headers_of(head: str) -> dict[str, str]:
    lines = [line.partition(": ") for line in head.split("\r\n")[1:] if line]
    return {name.lower(): value for name, _, value in lines}


def test_the_example_of_the_standard_is_encrypted_so() -> None:
    """RFC 8291, 5 and appendix A."""
    private = int.from_bytes(decode64("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), "big")

    body = encrypt(
        b"When I grow up, I want to be a watermelon",
        public_key=decode64(BROWSER_PUBLIC),
        secret=decode64(BROWSER_SECRET),
        own_key=ec.derive_private_key(private, ec.SECP256R1()),
        salt=decode64("DGv6ra1nlYgDCS1FRnbzlw"),
    )

    assert encode64(body) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6Tlz"
        "AC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )


def test_as_much_as_every_push_service_takes_can_be_said() -> None:
    """4096 bytes with all that is around it; each time with another key."""
    to_browser = partial(encrypt, public_key=decode64(BROWSER_PUBLIC), secret=decode64(BROWSER_SECRET))

    first, second = to_browser(b"x" * MOST_BYTES), to_browser(b"x" * MOST_BYTES)

    assert len(first) == len(second) == 4096
    assert first[:86] != second[:86]
    with pytest.raises(BadValueError, match="too long"):
        to_browser(b"x" * (MOST_BYTES + 1))


async def test_a_message_goes_out_as_a_push_service_wants_it() -> None:
    """The sandbox's push service, which looks by itself, knows the sender and opens it."""
    message = replace(TEXT, metadata={"order": "A-17"}, urgent=True)
    async with played(CREATED) as (adapter, vendor):
        outcomes = await adapter.send([message])

    (head, body) = vendor.heard[0]
    headers = headers_of(head)
    assert outcomes == [Accepted(provider_message_id="a-1")]
    assert head.startswith("POST /wpush/v2/gAAAAlailasbrowser HTTP/1.1\r\n")
    assert (headers["content-encoding"], headers["ttl"], headers["urgency"]) == ("aes128gcm", "86400", "high")
    assert len(base64.urlsafe_b64decode(headers["topic"])) == 24
    assert len(headers["topic"]) == 32
    request = SandboxRequest(method="POST", path="/wpush/v2/x", query=b"", headers=headers, body=body)
    asked = WebPushDialect(ManualClock()).read(request)
    assert isinstance(asked, SubmittedMessage)
    assert (asked.sender, asked.subject, asked.text) == (
        "mailto:push@shop.example",
        "Your most private order",
        "The secret of the tea",
    )


async def test_the_token_says_who_sends_to_whom() -> None:
    """RFC 8292: for the origin of the endpoint, for less than a day, with the key that browsers were given."""
    async with played(CREATED) as (adapter, vendor):
        await adapter.send([TEXT])

    scheme, _, rest = headers_of(vendor.heard[0][0])["authorization"].partition(" ")
    given = dict(part.strip().split("=", 1) for part in rest.split(","))
    point = decode64(given["k"])
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    token = jwt.decode(given["t"], ECKey.import_key(key))
    assert (scheme, given["k"]) == ("vapid", vapid_key()[1])
    assert token.header == {"typ": "JWT", "alg": "ES256"}
    assert token.claims == {
        "aud": "https://push.example",
        "exp": int(ManualClock().now().timestamp()) + 12 * 3600,
        "sub": "mailto:push@shop.example",
    }


async def test_a_token_is_used_for_a_while_for_its_push_service() -> None:
    """However many push services browsers name, a number of them is remembered."""
    clock = ManualClock()
    vapid = Vapid(read_vapid_key(vapid_key()[0], "key"), "mailto:push@shop.example", clock=clock)
    first = vapid.authorization("https://a.example")

    assert vapid.authorization("https://a.example") == first
    assert vapid.authorization("https://b.example") != first
    await clock.advance(timedelta(hours=11))
    second = vapid.authorization("https://a.example")
    assert second != first
    for i in range(256):
        vapid.authorization(f"https://{i}.example")
    assert vapid.authorization("https://255.example") == vapid.authorization("https://255.example")
    assert len(vapid._known) == 256  # what must not grow has no other face


@pytest.mark.parametrize(
    "to",
    [
        "",
        "bk3RNwTe3H0:CI2k",
        "{}",
        "[" * 5000,
        subscription("http://push.example/x"),
        subscription("https:///x"),
        subscription("https://laila:hunter2@push.example/x"),
        subscription("https://push.example:8443/x"),
        subscription("https://push.example:x/x"),
        subscription("https://push.example/x y"),
        subscription("https://push.example/x\r\nX: y"),
        subscription("https://[::1/x"),
        subscription("file:///etc/passwd"),
        subscription(p256dh="BCVxsr7N"),
        subscription(p256dh=encode64(b"\x04" + b"\x01" * 64)),
        subscription(p256dh=encode64(b"\x02" + b"\x01" * 64)),
        subscription(auth="BTBZMqHH6r4"),
        subscription(auth="****"),
        subscription("https://push.example/" + "x" * 4096),
    ],
)
async def test_what_is_no_subscription_is_refused_without_asking(to: str) -> None:
    """And nothing of it is told."""
    async with played(CREATED) as (adapter, vendor):
        (outcome,) = await adapter.send([replace(TEXT, to=to)])

    assert isinstance(outcome, Refused)
    assert outcome.code == "bad_message"
    assert "push.example" not in outcome.reason
    assert vendor.heard == []


def test_a_subscription_is_read_as_browsers_write_it() -> None:
    """With padding or without; the port may be named."""
    read = read_subscription(subscription("https://push.example:443/a/b?c=d", auth=BROWSER_SECRET + "=="))

    assert (read.endpoint, read.origin) == ("https://push.example/a/b?c=d", "https://push.example")
    assert read.path == "/a/b?c=d"
    assert "push.example" not in repr(read)


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://127.0.0.1/x",
        "https://localhost/x",
        "https://[::1]/x",
        "https://[::ffff:10.0.0.1]/x",
        "https://169.254.169.254/latest/meta-data",
        "https://10.0.0.1/x",
    ],
)
async def test_no_browser_leads_us_inside(endpoint: str) -> None:
    """Though the account may go anywhere; the address is not suppressed, and not logged."""
    with structlog.testing.capture_logs() as logs:
        async with account(timeout_seconds=3.0) as adapter:
            (outcome,) = await adapter.send([replace(TEXT, to=subscription(endpoint))])

    assert isinstance(outcome, Refused)
    assert outcome.code == "endpoint_not_allowed"
    (seed,) = [seed for seed in KIND.statuses if seed.code == outcome.code]
    assert seed.reason not in {"invalid_address", "hard_bounce"}
    host = endpoint.split("/")[2].strip("[]")
    assert host not in f"{outcome!r} {logs!r}"


async def test_no_redirect_leads_elsewhere() -> None:
    """What a push service answers with an address is not asked."""
    async with played(CREATED) as (_, elsewhere):
        place = f"Location: http://127.0.0.1:{elsewhere.port}/x\r\n"
        async with played(http.answer("307 Temporary Redirect", headers=place)) as (adapter, _):
            (outcome,) = await adapter.send([TEXT])

    assert isinstance(outcome, TryLater)
    assert elsewhere.heard == []


@pytest.mark.parametrize(
    ("answer", "kind", "code", "meaning"),
    [
        (http.answer("400 Bad Request", b'{"errno":110}'), Refused, "400", "bad_request"),
        (http.answer("401 Unauthorized"), TryLater, "401", "credentials"),
        (http.answer("403 Forbidden"), TryLater, "403", "credentials"),
        (
            http.answer("404 Not Found", b'{"errno":102,"error":"https://push.example/laila"}'),
            Refused,
            "404",
            "invalid_address",
        ),
        # An `api_url` that leads nowhere: nothing is wrong with anybody's browser.
        (http.answer("404 Not Found", b"<h1>Not Found</h1>"), TryLater, "404:api_url", "account_unready"),
        (http.answer("404 Not Found", b'{"detail":"Not Found"}'), TryLater, "404:api_url", "account_unready"),
        (http.answer("410 Gone", b'{"errno":106}'), Refused, "410", "invalid_address"),
        (http.answer("413 Too Large"), Refused, "413", "content_too_large"),
        (http.answer("429 Slow", headers="Retry-After: 9\r\n"), TryLater, "429", "throttled"),
        (http.answer("406 Not Acceptable"), TryLater, "406", "throttled"),
        (http.answer("500 Oh"), TryLater, "500", "unavailable"),
        (http.answer("503 Oh"), TryLater, "503", "unavailable"),
        (http.answer("502 Bad Gateway"), Unlearned, None, None),
        (http.answer("200 OK", b"<html>log in</html>"), Unlearned, None, None),
    ],
)
async def test_every_answer_has_its_meaning(
    answer: bytes, kind: type[Outcome], code: str | None, meaning: str | None
) -> None:
    """Without a word of theirs; the seed in the status map agrees."""
    async with played(answer) as (adapter, _):
        (outcome,) = await adapter.send([TEXT])

    assert type(outcome) is kind
    assert getattr(outcome, "code", None) == code
    assert "push.example" not in repr(outcome)
    assert getattr(outcome, "after", None) == (timedelta(seconds=9) if code == "429" else None)
    seeds = {seed.code: seed for seed in KIND.statuses}
    assert (seeds[code].reason if code in seeds else None) == meaning
    if meaning is not None and code is not None:
        assert (seeds[code].canonical == "failed_temp") == (kind is TryLater)


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (CREATED, "a-1"),
        (http.answer("201 Created"), None),
        (http.answer("201 Created", headers="apns-id: 8F1B\r\n"), "8F1B"),
        (http.answer("202 Accepted"), None),
        (http.answer("200 OK", headers="Location: /m/7\r\n"), "7"),
    ],
)
async def test_the_place_of_a_message_is_its_name(answer: bytes, name: str | None) -> None:
    """Without the host, which says what browser somebody has."""
    async with played(answer) as (adapter, _):
        assert await adapter.send([TEXT]) == [Accepted(provider_message_id=name)]


async def test_browsers_of_one_person_are_all_written_to() -> None:
    """Each through its own push service, with its own token; one that is gone is told by its place."""
    other = subscription("https://other.example/y")
    async with played(http.answer("410 Gone"), CREATED, connections=1) as (adapter, vendor):
        (outcome,) = await adapter.send([replace(TEXT, also_to=(other,), text="Hello")])
        too_long = await adapter.send([replace(TEXT, text="x" * 4000)])

    assert isinstance(outcome, Accepted)
    assert [(one.place, one.refused.code) for one in outcome.others] == [(0, "410")]
    assert [head.split(" ")[1] for head, _ in vendor.heard] == ["/wpush/v2/gAAAAlailasbrowser", "/y"]
    tokens = [headers_of(head)["authorization"] for head, _ in vendor.heard]
    assert tokens[0] != tokens[1]
    assert isinstance(too_long[0], Refused)
    assert await adapter.check() is None


def test_a_vapid_key_is_read_as_tools_write_it() -> None:
    """Base64url of 32 bytes, or PEM; and what is none is named without a word of it."""
    private, public = vapid_key()
    assert read_vapid_key(private, "vapid_private_key").public == public
    assert len(decode64(read_vapid_key(ec_pem(), "vapid_private_key").public)) == 65
    for text in ("hunter2", rsa_pem(), encode64(b"\x00" * 32), "-----BEGIN x", encode64(b"\x01" * 31)):
        with pytest.raises(BadValueError, match="vapid_private_key") as refused:
            read_vapid_key(text, "vapid_private_key")
        assert text not in str(refused.value)


def test_a_public_key_of_another_is_noticed() -> None:
    private, public = vapid_key()
    mine = WebPushSettings(vapid_private_key=private, vapid_public_key=public, subject="mailto:a@b.example")
    KIND.adapter(mine, AdapterContext(clock=ManualClock()))
    with pytest.raises(BadValueError, match="vapid_public_key"):
        KIND.adapter(
            msgspec.structs.replace(mine, vapid_public_key=BROWSER_PUBLIC),
            AdapterContext(clock=ManualClock()),
        )
    assert repr(mine) == "WebPushSettings(subject='mailto:a@b.example')"
