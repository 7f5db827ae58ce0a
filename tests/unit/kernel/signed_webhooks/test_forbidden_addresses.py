"""No webhook leads into our own network, however its address is spelled and whatever a name server answers meanwhile."""

import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.clock import ManualClock
from tests.support.webhook_receiver import WebhookReceiver, webhook_receiver
from tidings.kernel.egress import public_only
from tidings.kernel.errors import BadValueError
from tidings.kernel.signed_webhooks.call import WebhookCall, WebhookCaller
from tidings.kernel.signed_webhooks.url import checked_webhook_url

#: Loopback, private, link-local, metadata, shared, reserved and unspecified addresses, as hosts of a URL.
_NUMBERS = [
    "127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "127.0.0.01", "2130706433", "0x7f000001", "0x7f.1", "0x7f.0.0.1",
    "0177.0.0.1", "0177.1", "017700000001", "0x7F.0X0.0x0.0x1", "127.000.000.001", "127.0x1", "0177.0x0.0.1",
    "0.0.0.0", "0", "0x0", "00000", "0.0", "0.1.2.3",
    "10.0.0.1", "10.1", "10.255.255.255", "167772161", "0xa000001", "012.0.0.1", "0xa.1",
    "172.16.0.1", "172.31.255.254", "2886729729", "0xac100001", "172.16.1", "0254.020.0.1",
    "192.168.0.1", "192.168.1.1", "192.168.1", "3232235521", "0xc0a80001", "0300.0250.0.1",
    "169.254.169.254", "169.254.1.1", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "169.16689662",
    "100.64.0.1", "100.127.255.255", "1681915905", "192.0.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.19.255.255",
    "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "4294967295", "0xffffffff",
    "[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[0::1]", "[::0001]", "[::127.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    "[::ffff:10.0.0.1]", "[::ffff:a00:1]", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[::ffff:192.168.0.1]",
    "[::FFFF:172.16.0.1]", "[0:0:0:0:0:ffff:7f00:0001]", "[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b::10.0.0.1]", "[2002:7f00:1::]", "[2002:a00:1::]", "[2002:c0a8:1::1]", "[2002:a9fe:a9fe::]",
    "[2001:0:7f00:1::]", "[fc00::1]", "[fd00::1]", "[fd00:ec2::254]", "[fdff:ffff::1]", "[fe80::1]", "[febf::1]", "[fec0::1]",
    "[ff02::1]", "[ff0e::1]", "[2001:db8::1]", "[100::1]", "[::2]",
]  # fmt: skip
#: Names of this machine, and full stops and digits of other scripts.
_NAMES = ["localhost", "LOCALHOST", "localhost.", "ⓛocalhost", "127。0。0。1", "１２７.0.0.1", "127.0.0.1."]


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    async with webhook_receiver() as made:
        yield made


@pytest.fixture
async def caller() -> AsyncIterator[WebhookCaller]:
    made = WebhookCaller(clock=ManualClock(), guard=public_only, timeout_seconds=5)
    yield made
    await made.close()


def _call(url: str) -> WebhookCall:
    return WebhookCall(url=url, secrets=["whsec_c2VjcmV0"], webhook_id="evt_1", body=b"{}")


def test_there_are_a_hundred_of_them() -> None:
    assert len({*_NUMBERS, *_NAMES}) >= 100


@pytest.mark.parametrize("host", [*_NUMBERS, *_NAMES])
async def test_no_spelling_leads_there(host: str, caller: WebhookCaller, receiver: WebhookReceiver) -> None:
    """Refused when it is given, or when it is connected to; the receiver listens on the same port."""
    url = f"http://{host}:{receiver.port}/"
    with contextlib.suppress(BadValueError):
        url = checked_webhook_url(url, field="url", require_https=False, guard=public_only)
    result = await caller.call(_call(url))

    assert receiver.heard == []
    assert not result.delivered
    assert result.reason == "address" or (result.reason, result.status) == ("connection", None)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "[fd00::1]", "[::ffff:127.0.0.1]"]
)
def test_an_address_that_is_written_out_is_refused_when_it_is_given(host: str) -> None:
    with pytest.raises(BadValueError):
        checked_webhook_url(f"http://{host}/", field="url", require_https=False, guard=public_only)


async def test_a_name_that_leads_elsewhere_at_the_second_look_is_not_followed(
    caller: WebhookCaller, receiver: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The resolver of the machine first says that the name is public, and then that it is this machine."""
    asked: list[str] = []

    def answers(host: str, port: int, *_: Any, **__: Any) -> list[tuple[Any, ...]]:
        address = "93.184.216.34" if not asked else "127.0.0.1"
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", answers)
    first = await caller.call(_call(f"http://rebinds.example:{receiver.port}/"))
    again = [await caller.call(_call(f"http://rebinds{n}.example:{receiver.port}/")) for n in range(3)]

    assert receiver.heard == []
    assert not first.delivered
    assert {result.reason for result in again} == {"address"}
    assert len(asked) == 4


async def test_one_forbidden_address_among_several_is_not_connected_to(
    caller: WebhookCaller, receiver: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answers(_host: str, port: int, *_: Any, **__: Any) -> list[tuple[Any, ...]]:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in ("127.0.0.1", "169.254.169.254")
        ]

    monkeypatch.setattr(socket, "getaddrinfo", answers)
    result = await caller.call(_call(f"http://several.example:{receiver.port}/"))

    assert receiver.heard == []
    assert result.reason == "address"
