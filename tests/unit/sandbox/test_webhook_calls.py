"""What receivers of webhooks keep: the newest calls, bounded; attempts are counted, signatures verified."""

from datetime import timedelta

import pytest
from standardwebhooks import Webhook

from tests.support.clock import ManualClock
from tidings.kernel.errors import BadValueError
from tidings.kernel.refusals import NotFoundError
from tidings.kernel.signed_webhooks.verify import SignatureVerdict
from tidings.sandbox import webhook_calls
from tidings.sandbox.webhook_calls import MOST_BODY, MOST_CALLS, MOST_RECEIVERS, HeardWebhook, WebhookCalls

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_c2VjcmV0IG9mIHNvbWVib2R5IGVsc2U="


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def calls(clock: ManualClock) -> WebhookCalls:
    return WebhookCalls(clock)


def hear(calls: WebhookCalls, body: bytes = b"{}", name: str = "orders", **headers: str) -> HeardWebhook:
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return calls.hear(name, method="POST", headers=named, body=body, answer=204)


def proof(clock: ManualClock, body: str, secret: str = SECRET) -> dict[str, str]:
    """As others' libraries sign."""
    now = clock.now()
    return {
        "webhook_id": "evt_1",
        "webhook_timestamp": str(int(now.timestamp())),
        "webhook_signature": Webhook(secret).sign("evt_1", now, body),
    }


def test_the_newest_calls_are_kept_and_each_has_its_number(calls: WebhookCalls) -> None:
    for _ in range(MOST_CALLS + 5):
        hear(calls)

    (receiver,) = calls.all()
    assert [call.number for call in receiver.calls] == list(range(6, MOST_CALLS + 6))
    assert receiver.heard == MOST_CALLS + 5
    assert [call.number for call in calls.after("orders", MOST_CALLS + 3)] == [MOST_CALLS + 4, MOST_CALLS + 5]
    assert calls.clear("orders") == MOST_CALLS
    assert calls.size == 0


def test_a_large_body_is_cut_and_its_size_is_known(calls: WebhookCalls) -> None:
    call = hear(calls, b"x" * (MOST_BODY + 1))

    assert (len(call.body), call.body_bytes, call.is_whole) == (MOST_BODY, MOST_BODY + 1, False)


def test_all_receivers_together_keep_so_much(calls: WebhookCalls, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest one makes room, whoever is called."""
    monkeypatch.setattr(webhook_calls, "MOST_BYTES", 1000)
    for _ in range(9):
        hear(calls, b"x" * 100, "large")
    hear(calls, b"x" * 300, "small")

    kept = {one.name: len(one.calls) for one in calls.all()}
    assert kept == {"large": 7, "small": 1}
    assert calls.size == 1000


async def test_attempts_are_counted_by_the_id(calls: WebhookCalls, clock: ManualClock) -> None:
    first = hear(calls, webhook_id="evt_1")
    hear(calls, webhook_id="evt_2")
    await clock.advance(timedelta(seconds=5))
    again = hear(calls, webhook_id="evt_1")
    elsewhere = hear(calls, name="other", webhook_id="evt_1")
    nameless = [hear(calls), hear(calls)]

    assert (first.attempt, first.since_last) == (1, None)
    assert (again.attempt, again.since_last) == (2, 5.0)
    assert elsewhere.attempt == 1
    assert [call.attempt for call in nameless] == [1, 1]


async def test_signatures_are_verified_with_any_of_its_secrets(
    calls: WebhookCalls, clock: ManualClock
) -> None:
    unknown = hear(calls, b'{"a":1}', **proof(clock, '{"a":1}'))
    calls.set_secrets("orders", [OTHER, SECRET])
    good = hear(calls, b'{"a":1}', **proof(clock, '{"a":1}'))
    changed = hear(calls, b'{"a":2}', **proof(clock, '{"a":1}'))
    bare = hear(calls, b'{"a":1}')
    old = proof(clock, '{"a":1}')
    await clock.advance(timedelta(minutes=6))
    stale = hear(calls, b'{"a":1}', **old)

    assert unknown.signature is None
    assert [one.signature for one in (good, changed, bare, stale)] == [
        SignatureVerdict.FITS,
        SignatureVerdict.MISMATCH,
        SignatureVerdict.UNSIGNED,
        SignatureVerdict.STALE,
    ]


async def test_a_secret_that_comes_later_verifies_what_is_kept(
    calls: WebhookCalls, clock: ManualClock
) -> None:
    """By the time at which it came; a body that was cut can't be verified any more."""
    large = '{"a":"' + "x" * MOST_BODY + '"}'
    hear(calls, b'{"a":1}', **proof(clock, '{"a":1}'))
    hear(calls, large.encode(), **proof(clock, large))
    await clock.advance(timedelta(hours=1))
    before = calls.find("orders").edition
    receiver = calls.set_secrets("orders", [SECRET])

    assert [call.signature for call in receiver.calls] == [SignatureVerdict.FITS, None]
    assert receiver.edition != before
    assert [call.signature for call in calls.set_secrets("orders", []).calls] == [None, None]


def test_names_are_bounded(calls: WebhookCalls) -> None:
    for number in range(MOST_RECEIVERS):
        hear(calls, name=f"n{number}")
    for bad in ("", "A", "a b", "-a", "x" * 65, "a/b"):
        with pytest.raises(BadValueError):
            calls.ensure(bad)
    with pytest.raises(BadValueError, match="receivers already"):
        hear(calls, name="more")
    calls.end("n0")
    hear(calls, name="more")

    with pytest.raises(NotFoundError):
        calls.find("n0")
