"""`tidings digest`: what is gathered is seen, and sent when somebody says so."""

import json
from pathlib import Path

import httpx2
import pytest

from tests.e2e.commands.conftest import Operator
from tests.support.running import wait_until

pytestmark = pytest.mark.xdist_group("commands")


def test_what_is_gathered_is_listed_shown_and_flushed(operator: Operator, tmp_path: Path) -> None:
    to = "gathered@example.test"
    words = tmp_path / "order.json"
    words.write_text(
        json.dumps(
            {
                "order_number": "A-1",
                "total": {"amount_micros": 1_000_000, "currency": "USD"},
                "items": [{"name": "Tea", "quantity": 1}],
            }
        )
    )
    send = ("send", to, "--template", "order_confirmation", "--channel", "email", "--variables", str(words))
    first = operator.gets(*send, "--name", "Laila", "--wait")
    recipient = (first.get("notification") or first)["recipient_id"]
    running = operator.running
    base, key = running.demo["base_url"], running.demo["api_key"]
    chosen = httpx2.patch(
        f"{base}/api/v1/recipients/{recipient}/preferences",
        json={"locale": "fr", "digest_schedule": {"academic": {"every": "day", "at": "03:00"}}},
        headers={"Authorization": f"Bearer {key}", "If-Match": '"v0"'},
    )
    assert chosen.status_code == 200, chosen.text
    for _ in range(2):
        operator.reads(*send, "--category", "academic")

    def waiting() -> list[dict[str, object]]:
        listed = operator.gets("digest", "list", "--recipient", recipient)
        items: list[dict[str, object]] = listed["items"] if isinstance(listed, dict) else listed
        return [item for item in items if item["item_count"] == 2]

    wait_until(waiting, "two are gathered")
    [window] = waiting()
    assert len(operator.gets("digest", "show", str(window["id"]))["items"]) == 2

    operator.reads("digest", "flush", str(window["id"]))

    def received() -> list[str]:
        found = httpx2.get(f"{running.demo['sandbox_url']}/messages", params={"to": to}).json()
        return [message["subject"] for message in found["messages"]]

    wait_until(lambda: any("2 nouveautés" in subject for subject in received()), "the digest came")
    shown = operator.gets("digest", "show", str(window["id"]))
    assert "superseded" in {item["status"] for item in shown["items"]}
    assert "in place of 2 messages" in operator.reads("explain", shown["digest_notification_id"])
