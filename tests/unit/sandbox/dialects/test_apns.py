"""APNs as the sandbox plays it, and the adapter that takes it for real."""

import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest

from tests.support.certificates import make_certificate
from tests.support.clock import ManualClock
from tests.support.push import ec_pem, encode64
from tests.support.vendors import MESSAGE
from tidings.contracts.adapters import Adapter
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater
from tidings.kernel.clock import Clock, SystemClock
from tidings.router.adapters.apns.adapter import KIND, ApnsSettings
from tidings.router.adapters.kind import AdapterContext
from tidings.sandbox import Sandbox
from tidings.sandbox.apns_server import ApnsSandbox
from tidings.sandbox.dialects.apns import ApnsDialect
from tidings.sandbox.dialects.dialect import InboundText, SubmittedMessage, Trouble
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
DEVICE = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
NAME = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
TEXT = replace(MESSAGE, channel="push", to=DEVICE, html=None, metadata={"order": 17})
HOOK = SandboxHook(url="http://127.0.0.1:1/hooks/apns/adcfg_1", secret="secret")
ALERT = b'{"aps":{"alert":{"title":"Tea","body":"Green"}}}'


@asynccontextmanager
async def app(api_url: str, clock: Clock, **more: Any) -> AsyncIterator[Adapter]:
    """An app whose Apple is there."""
    given = {
        "api_url": api_url,
        "private_key": ec_pem(),
        "key_id": "ABC123DEFG",
        "team_id": "DEF123GHIJ",
        "topic": "com.example.app",
        "timeout_seconds": 5.0,
        **more,
    }
    adapter = KIND.adapter(msgspec.convert(given, ApnsSettings), AdapterContext(clock=clock))
    try:
        yield adapter
    finally:
        await adapter.close()


@asynccontextmanager
async def account(trouble: Trouble | None = None) -> AsyncIterator[tuple[Adapter, ManualClock, ManualClock]]:
    """An app whose Apple is the dialect, with the clock of each."""
    ours, theirs = ManualClock(NOW), ManualClock(NOW)
    dialect = ApnsDialect(theirs)

    def handle(request: SandboxRequest) -> SandboxResponse:
        asked = dialect.read(replace(request, path=request.path.removeprefix("/apns")))
        if isinstance(asked, SandboxResponse):
            return asked
        if trouble is not None:
            return dialect.refused(asked, trouble, retry_after=9)
        assert (asked.to, asked.sender) == ((DEVICE,), "com.example.app")
        assert (asked.subject, asked.text) == (TEXT.subject, TEXT.text)
        return dialect.accepted(asked, "sbx_a_1")

    server = ApnsSandbox(handle)
    port = await server.start("127.0.0.1", 0)
    try:
        async with app(f"http://127.0.0.1:{port}", ours) as adapter:
            yield adapter, ours, theirs
    finally:
        await server.stop()


async def test_a_message_is_taken_under_the_name_that_its_sender_gave() -> None:
    """A check asks for a device that nobody has; nothing is told later."""
    async with account() as (adapter, _, _):
        checked = await adapter.check()
        (taken,) = await adapter.send([TEXT])
        (again,) = await adapter.send([TEXT])

    assert checked == Accepted()
    assert isinstance(taken, Accepted)
    assert str(uuid.UUID(taken.provider_message_id)) == taken.provider_message_id
    assert again == taken
    said = InboundText(id="sbi_1", channel="push", sender="x", to="y", text="hello", at=NOW)
    assert ApnsDialect().receipts([], HOOK, NOW) == ()
    assert ApnsDialect().inbound(said, HOOK, NOW) is None


@pytest.mark.parametrize(
    ("trouble", "kind", "code"),
    [
        ("invalid_recipient", Refused, "BadDeviceToken"),
        ("blocked", Refused, "Unregistered"),
        ("throttled", TryLater, "TooManyRequests"),
        ("unavailable", TryLater, "ServiceUnavailable"),
        ("unauthorised", TryLater, "InvalidProviderToken"),
    ],
)
async def test_every_trouble_is_understood(trouble: Trouble, kind: type[Outcome], code: str) -> None:
    async with account(trouble) as (adapter, _, _):
        (outcome,) = await adapter.send([TEXT])

    assert type(outcome) is kind
    assert getattr(outcome, "code", "") == code
    # Apple never says how long to wait.
    assert getattr(outcome, "after", None) is None


async def test_a_token_that_has_grown_old_is_made_anew() -> None:
    """Apple's clock is ahead: it calls a token old that we still think good, and takes the next one."""
    async with account() as (adapter, ours, theirs):
        await theirs.advance(timedelta(minutes=35))
        (young,) = await adapter.send([TEXT])
        for clock in (ours, theirs):
            await clock.advance(timedelta(minutes=30))
        (old,) = await adapter.send([TEXT])
        (renewed,) = await adapter.send([TEXT])

    assert [type(one) for one in (young, old, renewed)] == [Accepted, TryLater, Accepted]
    assert getattr(old, "code", "") == "ExpiredProviderToken"


async def test_the_whole_sandbox_plays_apple() -> None:
    """A hundred at once over one connection; scripts, numbers and faults as with other vendors; seen on the page."""
    number = "+15005550107".removeprefix("+").rjust(64, "0")
    many = [replace(TEXT, message_id=f"ntf_{i:03d}") for i in range(100)]
    dead = replace(TEXT, to="ab" * 32)
    async with (
        Sandbox(SystemClock(), seed=1) as sandbox,
        httpx2.AsyncClient(base_url=sandbox.url) as web,
        app(sandbox.apns_url, SystemClock()) as adapter,
        app(f"{sandbox.apns_url}/apns_backup", SystemClock()) as backup,
    ):
        taken = await adapter.send(many)
        stats = (await web.get("/stats")).json()
        await web.delete("/messages")
        await web.put(f"/scripts/{dead.to}", json={"script": "rejected"})
        gone = await adapter.send([dead, replace(TEXT, to=number)])
        await web.post("/faults", json={"adapter": "http", "vendor": "apns", "mode": "throttle"})
        (throttled,) = await adapter.send([TEXT])
        (other,) = await backup.send([TEXT])
        (shown,) = (await web.get("/messages?channel=push")).json()["messages"]
        whole = (await web.get(f"/messages/{shown['id']}")).json()
        over_one = await web.post(f"/apns/3/device/{DEVICE}", content=ALERT)

    assert all(isinstance(one, Accepted) for one in taken)
    assert stats["received"] == {"apns": 100}
    assert [getattr(one, "code", "") for one in gone] == ["Unregistered", "Unregistered"]
    assert getattr(throttled, "code", "") == "TooManyRequests"
    assert isinstance(other, Accepted)
    assert (whole["vendor"], whole["adapter"], whole["answerable"]) == ("apns_backup", "apns", False)
    assert (shown["from"], shown["to"]) == ("com.example.app", DEVICE)
    assert (shown["subject"], shown["text"]) == (TEXT.subject, TEXT.text)
    assert shown["headers"]["apns-id"] == other.provider_message_id
    assert "authorization" not in shown["headers"]
    assert (over_one.status_code, over_one.headers["upgrade"]) == (426, "h2c")


async def test_over_tls_it_is_agreed_on(tmp_path: Path) -> None:
    """With a certificate of its own, which the account is told to trust."""
    made = make_certificate(tmp_path)
    server = ApnsSandbox(lambda _: SandboxResponse(headers={"apns-id": NAME}), tls=made.server_context())
    port = await server.start("127.0.0.1", 0)
    try:
        async with app(f"https://localhost:{port}", SystemClock(), ca_file=str(made.cert_file)) as adapter:
            (taken,) = await adapter.send([TEXT])
    finally:
        await server.stop()

    assert taken == Accepted(provider_message_id=NAME)


def token(head: Mapping[str, Any], claims: Mapping[str, Any], signature: bytes = b"s" * 64) -> str:
    """A sender's token, as far as its form goes."""
    parts = (msgspec.json.encode(head), msgspec.json.encode(claims), signature)
    return "bearer " + ".".join(encode64(part) for part in parts)


HEAD = {"alg": "ES256", "kid": "ABC123DEFG"}
CLAIMS = {"iss": "DEF123GHIJ", "iat": int(NOW.timestamp())}
GOOD: Mapping[str, str] = {
    "authorization": token(HEAD, CLAIMS),
    "apns-topic": "com.example.app",
    "apns-push-type": "alert",
    "apns-priority": "10",
    "apns-expiration": "0",
    "apns-collapse-id": "c" * 64,
    "apns-id": NAME,
}


def read(
    *, method: str = "POST", path: str = f"/3/device/{DEVICE}", body: bytes = ALERT, **headers: str | None
) -> SubmittedMessage | SandboxResponse:
    """What Apple makes of a request."""
    given = {**GOOD, **{name.replace("_", "-"): value for name, value in headers.items()}}
    kept = {name: value for name, value in given.items() if value is not None}
    request = SandboxRequest(method=method, path=path, query=b"", headers=kept, body=body, version="2")
    return ApnsDialect(ManualClock(NOW)).read(request)


def minutes(count: int) -> dict[str, Any]:
    """Claims of so many minutes ago."""
    return {**CLAIMS, "iat": CLAIMS["iat"] - 60 * count}  # type: ignore[operator]


@pytest.mark.parametrize(
    ("ask", "status", "reason"),
    [
        (lambda: read(path="/3/devices/x"), 404, "BadPath"),
        (lambda: read(method="GET"), 405, "MethodNotAllowed"),
        (lambda: read(authorization=None), 403, "MissingProviderToken"),
        (lambda: read(authorization="bearer "), 403, "MissingProviderToken"),
        (lambda: read(authorization="bearer a.b"), 403, "InvalidProviderToken"),
        (lambda: read(authorization="bearer é.é.é"), 403, "InvalidProviderToken"),
        (lambda: read(authorization=token({**HEAD, "alg": "RS256"}, CLAIMS)), 403, "InvalidProviderToken"),
        (lambda: read(authorization=token({"alg": "ES256"}, CLAIMS)), 403, "InvalidProviderToken"),
        (lambda: read(authorization=token(HEAD, {**CLAIMS, "iss": "x"})), 403, "InvalidProviderToken"),
        (lambda: read(authorization=token(HEAD, {**CLAIMS, "iat": "1"})), 403, "InvalidProviderToken"),
        (
            lambda: read(authorization=token(HEAD, {**CLAIMS, "iat": msgspec.Raw(b"1" * 400)})),
            403,
            "ExpiredProviderToken",
        ),
        (lambda: read(authorization=token(HEAD, CLAIMS, b"short")), 403, "InvalidProviderToken"),
        (lambda: read(authorization=token(HEAD, minutes(61))), 403, "ExpiredProviderToken"),
        (lambda: read(authorization=token(HEAD, minutes(-6))), 403, "ExpiredProviderToken"),
        (lambda: read(apns_id="seventeen"), 400, "BadMessageId"),
        (lambda: read(apns_topic=None), 400, "MissingTopic"),
        (lambda: read(apns_topic="com/example"), 400, "BadTopic"),
        (lambda: read(apns_push_type="loud"), 400, "InvalidPushType"),
        (lambda: read(apns_priority="11"), 400, "BadPriority"),
        (lambda: read(apns_expiration="tomorrow"), 400, "BadExpirationDate"),
        (lambda: read(apns_collapse_id="c" * 65), 400, "BadCollapseId"),
        (lambda: read(path="/3/device/"), 400, "MissingDeviceToken"),
        (lambda: read(path="/3/device/abc"), 400, "BadDeviceToken"),
        (lambda: read(path=f"/3/device/{'0' * 64}"), 400, "BadDeviceToken"),
        (lambda: read(path=f"/3/device/{'zz' * 32}"), 400, "BadDeviceToken"),
        (lambda: read(body=b""), 400, "PayloadEmpty"),
        (lambda: read(body=b"[1]"), 400, "PayloadEmpty"),
        (lambda: read(body=b"{" + b" " * 4095 + b"}"), 413, "PayloadTooLarge"),
        (lambda: read(body=b"{" + b" " * 5119 + b"}", apns_push_type="voip"), 413, "PayloadTooLarge"),
    ],
)
def test_apples_words_for_what_is_wrong(
    ask: Callable[[], SubmittedMessage | SandboxResponse], status: int, reason: str
) -> None:
    found = ask()

    assert isinstance(found, SandboxResponse)
    assert (found.status, msgspec.json.decode(found.body)) == (status, {"reason": reason})
    assert (found.headers["apns-id"] == NAME) is (reason != "BadMessageId")


@pytest.mark.parametrize(
    ("body", "title", "text"),
    [
        (ALERT, "Tea", "Green"),
        (b'{"aps":{"alert":"Green"}}', None, "Green"),
        (b'{"aps":{"alert":{"title-loc-key":"TEA","loc-key":"GREEN"}}}', "TEA", "GREEN"),
        (b'{"aps":{"content-available":1}}', None, "(for the app alone: nothing is shown)"),
        (b"{" + b" " * 4094 + b"}", None, "(for the app alone: nothing is shown)"),
    ],
)
def test_what_a_device_shows(body: bytes, title: str | None, text: str) -> None:
    found = read(body=body)

    assert isinstance(found, SubmittedMessage)
    assert (found.subject, found.text) == (title, text)


def test_a_device_that_is_gone_is_gone_since_a_time() -> None:
    """In milliseconds; whoever gave no name is given one."""
    dialect = ApnsDialect(ManualClock(NOW))
    asked = read(apns_id=None)
    assert isinstance(asked, SubmittedMessage)

    gone, taken = dialect.refused(asked, "blocked", None), dialect.accepted(asked, "sbx_a_1")

    since = int(NOW.timestamp() * 1000)
    assert (gone.status, msgspec.json.decode(gone.body)) == (
        410,
        {"reason": "Unregistered", "timestamp": since},
    )
    assert uuid.UUID(gone.headers["apns-id"]) != uuid.UUID(taken.headers["apns-id"])
    assert (taken.status, taken.body) == (200, b"")
