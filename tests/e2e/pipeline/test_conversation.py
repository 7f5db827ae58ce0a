"""People write back: over the vendor's real protocol, into a conversation, and STOP is STOP in any language."""

import subprocess
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.support.running import TIDINGS, RunningTidings, clean_environment, wait_until
from tests.support.used_data_dir import running_tidings

pytestmark = pytest.mark.xdist_group("client")

NUMBER = "+2348031234567"
#: Of somebody who has two.
PRIMARY, OTHER = "+2348031234571", "+2348031234572"
#: What Meta calls the demo's WhatsApp number.
OUR_NUMBER = "100000000000001"


@pytest.fixture(scope="module")
def tidings() -> Iterator[RunningTidings]:
    """A Tidings that this file has for itself."""
    with running_tidings() as running:
        yield running


def test_stop_in_hausa_to_a_whatsapp_message(tidings: RunningTidings) -> None:
    """The conversation is closed, the address suppressed, it is confirmed once, and the next attempt says why."""
    with tidings.client() as client:
        _ended(client, _send(client, "481516"))
        _write(tidings, "Dakata")
        first = wait_until(lambda: _closed(client), "the conversation to be closed")
        confirmed = wait_until(lambda: _received(tidings)[1:], "the confirmation")
        _write(tidings, "DAKATA!")
        wait_until(lambda: _conversation(client)["messages"] == 3, "the second word to be in the transcript")
        story = _ended(client, _send(client, "232342"))
        said = client.get(f"/api/v1/router/conversations/{first['id']}/messages").json()["items"]
        held = client.get("/api/v1/suppressions", params={"channel": "whatsapp"}).json()["items"]

    assert (first["status"], first["close_reason"]) == ("CLOSED_STOP", "stop")
    assert [one["reason"] for one in held] == ["opt_out"]
    # In Hausa, with the word that lets messages come again.
    assert [message["text"] for message in confirmed] == [
        "Demo: ba za ku sake samun saƙonmu a nan ba. Ku amsa FARA don sake samunsu."
    ]
    assert [(one["direction"], one["keyword"]) for one in said] == [
        ("out", None),
        ("in", "stop"),
        ("out", None),
        ("in", "stop"),
    ]
    assert story["notification"]["status"] == "suppressed"
    assert (
        "its owner wants no more messages (opt_out; DAKATA, in Hausa, conversation conv_" in story["summary"]
    )
    assert _received(tidings)[1:] == confirmed
    shown = _command(tidings, "explain", story["notification"]["id"])
    assert "DAKATA, in Hausa" in shown
    assert NUMBER not in shown


def test_start_lets_messages_come_again_and_a_reply_is_a_notification(tidings: RunningTidings) -> None:
    """Through all gates, in the same conversation, over the same channel; the transcript has both sides."""
    with tidings.client() as client:
        _write(tidings, "FARA")
        wait_until(lambda: not _in_force(client), "the suppression to be released")
        _write(tidings, "Ina kwana? Where is my order?")
        open_one = wait_until(lambda: _open(client), "an open conversation")
        transcript = f"/api/v1/router/conversations/{open_one['id']}/messages"
        answered = client.post(
            transcript, json={"text": "It arrives on Monday."}, headers={"Idempotency-Key": "answer-1"}
        )
        again = client.post(
            transcript, json={"text": "It arrives on Monday."}, headers={"Idempotency-Key": "answer-1"}
        )
        assert answered.status_code == 202, answered.text
        story = _ended(client, answered.json()["notification_id"])
        arrived = wait_until(
            lambda: [m for m in _received(tidings) if m["text"] == "It arrives on Monday."], "the reply"
        )

    assert again.json()["notification_id"] == answered.json()["notification_id"]
    assert story["notification"]["status"] == "delivered"
    assert len(arrived) == 1
    said = _command(tidings, "conversation", "transcript", open_one["id"])
    assert "Where is my order?" in said


def test_a_reply_goes_to_the_number_that_they_wrote_from(tidings: RunningTidings) -> None:
    """They have another one since then, and it is their primary: nobody is chased to it."""
    with tidings.client() as client:
        sent = _ended(client, _send(client, "616263", OTHER, "g-two"))
        recipient = sent["notification"]["recipient_id"]
        _write(tidings, "Which day was it?", OTHER)
        moved = {"channel": "whatsapp", "address": PRIMARY, "primary": True}
        added = client.post(f"/api/v1/recipients/{recipient}/addresses", json=moved)
        assert added.status_code == 201, added.text
        theirs = {"recipient": recipient, "status": "OPEN"}

        def written_in() -> Any:
            [found] = client.get("/api/v1/router/conversations", params=theirs).json()["items"] or [None]
            return found if found and found["last_received_at"] else None

        conversation = wait_until(written_in, "their answer")
        answered = client.post(
            f"/api/v1/router/conversations/{conversation['id']}/messages", json={"text": "On Monday."}
        )
        assert answered.status_code == 202, answered.text
        story = _ended(client, answered.json()["notification_id"])

    assert story["notification"]["status"] == "delivered"
    assert [message["text"] for message in _received(tidings, OTHER)][1:] == ["On Monday."]
    assert _received(tidings, PRIMARY) == []


def _send(client: httpx2.Client, code: str, number: str = NUMBER, name: str = "g-9") -> str:
    person = {
        "identity": {"type": "guest", "id": name},
        "addresses": [{"channel": "whatsapp", "address": number}],
    }
    wish = {"template": "otp", "channel": "whatsapp", "variables": {"code": code}, "recipient": person}
    answer = client.post("/api/v1/notifications", json=wish)
    assert answer.status_code == 202, answer.text
    sent: str = answer.json()["id"]
    return sent


def _ended(client: httpx2.Client, notification_id: str) -> Any:
    def over() -> dict[str, Any] | None:
        story: dict[str, Any] = client.get(f"/api/v1/notifications/{notification_id}/explain").json()
        return story if story["notification"]["status"] not in {"queued", "scheduled", "dispatched"} else None

    return wait_until(over, "the end of it")


def _write(tidings: RunningTidings, text: str, number: str = NUMBER) -> None:
    url = f"{tidings.demo['sandbox_url']}/inbound/whatsapp_cloud"
    answer = httpx2.post(url, json={"from": number, "to": OUR_NUMBER, "text": text})
    assert answer.json()["answer"] == 200, answer.text


def _received(tidings: RunningTidings, number: str = NUMBER) -> list[dict[str, Any]]:
    """What the person has got, the oldest first."""
    url = f"{tidings.demo['sandbox_url']}/messages"
    found = httpx2.get(url, params={"to": number}).json()["messages"]
    return sorted(found, key=lambda message: str(message["received_at"]))


def _conversation(client: httpx2.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/v1/router/conversations").json()["items"][-1]
    return found


def _closed(client: httpx2.Client) -> dict[str, Any] | None:
    found = client.get("/api/v1/router/conversations", params={"status": "CLOSED_STOP"}).json()["items"]
    return found[0] if found else None


def _open(client: httpx2.Client) -> dict[str, Any] | None:
    found = client.get("/api/v1/router/conversations", params={"status": "OPEN"}).json()["items"]
    return found[0] if found else None


def _in_force(client: httpx2.Client) -> list[dict[str, Any]]:
    found = client.get("/api/v1/suppressions", params={"channel": "whatsapp"}).json()["items"]
    return [one for one in found if one.get("released_at") is None]


def _command(tidings: RunningTidings, *words: str) -> str:
    environment = clean_environment() | {
        "TIDINGS_URL": tidings.demo["base_url"],
        "TIDINGS_API_KEY": tidings.demo["api_key"],
    }
    ran = subprocess.run(
        [*TIDINGS, *words], capture_output=True, text=True, check=True, env=environment, timeout=30
    )
    return str(ran.stdout)
