"""How calls prove themselves beyond the signature, and bodies of one's own."""

import base64
import json
import ssl
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.integration.webhooks.arranging import HOME, Subscriber
from tests.support.certificates import make_certificate
from tests.support.webhook_receiver import WebhookReceiver, webhook_receiver


async def test_a_client_certificate_is_shown_and_the_endpoints_is_checked(
    subscriber: Subscriber, tmp_path: Path
) -> None:
    server, ours = make_certificate(tmp_path / "server"), make_certificate(tmp_path / "ours")
    context = server.server_context()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(ours.cert_file)
    tls = {
        "client_certificate": ours.cert_file.read_text(),
        "client_key": ours.key_file.read_text(),
        "ca_certificates": server.cert_file.read_text(),
    }
    async with webhook_receiver(context) as receiver:
        made = await subscriber.webhook(receiver.url("/mtls"), credentials={"tls": tls})
        bare = await subscriber.webhook(
            receiver.url("/bare"), credentials={"tls": {"ca_certificates": tls["ca_certificates"]}}
        )
        strange = await subscriber.webhook(receiver.url("/strange"))
        await subscriber.told()

        assert [call.path for call in receiver.heard] == ["/mtls"]
    assert made["credentials"] == {
        "tls": {"client_certificate": True, "ca_certificates": True},
        "oauth2": None,
    }
    # An endpoint that wants a certificate ends the connection when the request is on its way.
    [without] = await subscriber.deliveries(bare["id"])
    assert without["last_reason"] in {"unanswered", "tls"}
    [untrusted] = await subscriber.deliveries(strange["id"])
    assert untrusted["last_reason"] == "tls"
    kept = str(
        [dict(row) for row in await subscriber.rows("SELECT * FROM notification.webhook_subscriptions")]
    )
    assert "PRIVATE KEY" not in kept


async def test_a_key_that_does_not_fit_is_refused(subscriber: Subscriber, tmp_path: Path) -> None:
    one, other = make_certificate(tmp_path / "one"), make_certificate(tmp_path / "other")
    tls = {"client_certificate": one.cert_file.read_text(), "client_key": other.key_file.read_text()}
    wish = {"url": "https://example.com/", "events": ["notification.>"], "credentials": {"tls": tls}}
    answer = await subscriber.client.post(HOME, json=wish)
    assert answer.status_code == 400
    assert "credentials.tls.client_certificate" in answer.text


async def test_an_access_token_is_asked_for_once_and_anew_when_it_is_not_taken(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    async with webhook_receiver() as server:
        server.status = 200
        server.answer_body = json.dumps({"access_token": "token-1", "expires_in": 3600}).encode()
        oauth2 = {
            "token_url": server.url("/token"),
            "client_id": "tidings",
            "client_secret": "very secret",
            "scope": "events",
        }
        made = await subscriber.webhook(receiver.url(), credentials={"oauth2": oauth2})
        await subscriber.told("a", "b")

        [asked] = server.heard
        assert (
            asked.headers["authorization"] == "Basic " + base64.b64encode(b"tidings:very%20secret").decode()
        )
        assert asked.body == b"grant_type=client_credentials&scope=events"
        assert {call.headers["authorization"] for call in receiver.heard} == {"Bearer token-1"}
        receiver.status = 401
        server.answer_body = json.dumps({"access_token": "token-2", "expires_in": 3600}).encode()
        await subscriber.told("c")
        receiver.status = 204
        await subscriber.later(minutes=2)

        assert receiver.heard[-1].headers["authorization"] == "Bearer token-2"
        assert len(server.heard) == 2
    assert made["credentials"]["oauth2"] == {
        "token_url": oauth2["token_url"],
        "client_id": "tidings",
        "scope": "events",
    }
    kept = str(
        [dict(row) for row in await subscriber.rows("SELECT * FROM notification.webhook_subscriptions")]
    )
    assert "very secret" not in kept


async def test_no_token_is_told_and_tried_again(subscriber: Subscriber, receiver: WebhookReceiver) -> None:
    async with webhook_receiver() as server:
        server.status, server.answer_body = 400, b'{"error":"invalid_client"}'
        oauth2 = {"token_url": server.url("/token"), "client_id": "tidings", "client_secret": "x"}
        made = await subscriber.webhook(receiver.url(), credentials={"oauth2": oauth2})
        await subscriber.told()
        [delivery] = await subscriber.deliveries(made["id"])
        assert (delivery["status"], delivery["last_reason"]) == ("queued", "token")
        assert receiver.heard == []
        server.status = 200
        server.answer_body = b'{"access_token":"good"}'

        await subscriber.later(minutes=2)

        assert len(receiver.heard) == 1


async def test_credentials_can_be_changed_and_taken_away(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    oauth2 = {"token_url": receiver.url("/token"), "client_id": "tidings", "client_secret": "x"}
    made = await subscriber.webhook(receiver.url("/hook"), credentials={"oauth2": oauth2})
    changed = await subscriber.change(made["id"], name="Other")
    assert changed["credentials"]["oauth2"]["client_id"] == "tidings"

    changed = await subscriber.change(made["id"], credentials=None)
    await subscriber.told()

    assert changed["credentials"] == {"tls": None, "oauth2": None}
    assert [call.path for call in receiver.heard] == ["/hook"]
    assert "authorization" not in receiver.heard[0].headers


async def test_a_body_of_ones_own_is_made_of_the_event_and_signed(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    transform = {
        "text": "A notification was delivered.",
        "ref": "$.data.notification_id",
        "kind": "$.type",
        "price": "$$5",
        "all": ["$.data.channel", {"who": "$.data.recipient_id"}],
        "nothing": "$.data.unknown",
    }
    made = await subscriber.webhook(receiver.url(), transform=transform)

    await subscriber.told(notification_id="ntf_7")

    [call] = receiver.heard
    assert call.json() == {
        "text": "A notification was delivered.",
        "ref": "ntf_7",
        "kind": "notification.delivered.v1",
        "price": "$5",
        "all": ["email", {"who": "rcp_1"}],
    }
    expected = Webhook(made["secret"]).sign(call.id, subscriber.world.clock.now(), call.body.decode())
    assert call.headers["webhook-signature"] == expected
    await subscriber.change(made["id"], transform=None)
    await subscriber.told()
    assert set(receiver.heard[1].json()) == {"type", "timestamp", "data"}


async def test_a_body_that_would_grow_without_end_is_given_up(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    """Said once in the event, and named a thousand times by the transformation."""
    transform = {"all": ["$.data.reason"] * 1000}
    made = await subscriber.webhook(receiver.url(), transform=transform)

    await subscriber.told(reason="x" * 2000)

    [delivery] = await subscriber.deliveries(made["id"])
    assert (delivery["status"], delivery["last_reason"]) == ("dlq", "too_large")
    assert (await subscriber.show(made["id"]))["consecutive_failures"] == 0
    assert receiver.heard == []


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"events": ["notification.dlivered.v1"]}, "events[0]"),
        ({"events": ["notification.*.v1", "notification.webhook.delivery_failed.v1"]}, "events[1]"),
        ({"events": ["a b"]}, "events[0]"),
        ({"events": []}, "events"),
        ({"condition": "data.category = "}, "condition"),
        ({"condition": "recipient = 'x'"}, "condition"),
        ({"url": "ftp://example.com/x"}, "url"),
        ({"url": "https://user:word@example.com/"}, "url"),
        ({"url": "https://10.1.2.3/hook"}, "url"),
        ({"url": "https://[fd00::1]/hook"}, "url"),
        ({"headers": {"Webhook-Id": "x"}}, "headers.Webhook-Id"),
        ({"headers": {"Host": "x"}}, "headers.Host"),
        ({"headers": {"X-A": "one\r\nX-B: two"}}, "headers.X-A"),
        ({"secret": "whsec_not base64 at all!"}, "secret"),
        ({"max_in_flight": 51}, "max_in_flight"),
        ({"transform": {"a": "$.secret"}}, "transform.a"),
        ({"transform": {"a": "$.data["}}, "transform.a"),
        ({"credentials": {"tls": {"client_certificate": "x"}}}, "credentials.tls"),
        ({"credentials": {"oauth2": {"token_url": "https://10.0.0.1/", "client_id": "a", "client_secret": "b"}}}, "credentials.oauth2.token_url"),
        ({"color": "red"}, "color"),
    ],
)  # fmt: skip
async def test_what_is_wrong_is_named(subscriber: Subscriber, wish: dict[str, Any], field: str) -> None:
    whole = {"url": "https://example.com/hook", "events": ["notification.delivered.v1"], **wish}

    answer = await subscriber.client.post(HOME, json=whole)

    assert answer.status_code == 400, answer.text
    assert field in {error["field"] for error in answer.json()["errors"]} or field in answer.text
    assert (await subscriber.client.get(HOME)).json()["items"] == []
