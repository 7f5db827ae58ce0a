"""The sandbox of `tidings up`: the vendor of a fresh install, found again where it was."""

import asyncio
import json
import re
import smtplib
import socket
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2

from tests.support.running import RunningTidings, run_tidings, wait_until
from tests.support.vendors import MESSAGE
from tidings.contracts.messages import Accepted, OutboundMessage
from tidings.kernel.clock import SystemClock
from tidings.kernel.secrets import FileSecrets, SecretsByScheme
from tidings.router.adapters.registry import AdapterContext, open_adapter

#: Those that tell something later, with the setting that proves it.
VENDORS = {
    "http": "callback_secret",
    "http_backup": "callback_secret",
    "whatsapp_cloud": "app_secret",
    "telegram_bot": "webhook_secret",
    "viber": "auth_token",
    "voice_otp_gateway": "callback_secret",
}


def received(tidings: RunningTidings, **wanted: str) -> list[dict[str, Any]]:
    """What the sandbox has."""
    found: list[dict[str, Any]] = httpx2.get(f"{tidings.demo['sandbox_url']}/messages", params=wanted).json()[
        "messages"
    ]
    return found


def channels(tidings: RunningTidings) -> dict[str, Any]:
    """The demo tenant's, by name."""
    with tidings.client() as client:
        return {item["channel"]: item for item in client.get("/api/v1/channels").json()["items"]}


def send_as_the_platform(data_dir: Path, vendor: str, message: OutboundMessage) -> Any:
    """As the router does it: the adapter, with the settings that the account refers to."""

    async def send() -> Any:
        adapter = await open_adapter(
            vendor,
            {"secret_ref": f"file://sandbox/{vendor}.json"},
            SecretsByScheme({"file": FileSecrets(data_dir / "secrets")}),
            surroundings=AdapterContext(clock=SystemClock()),
        )
        try:
            (outcome,) = await adapter.send([message])
            return outcome
        finally:
            await adapter.close()

    return asyncio.run(send())


def test_it_is_there_and_the_platform_sends_to_it(used_dir: Path) -> None:
    """demo.json and the greeting say where; what the platform's accounts send arrives; seven channels are set up."""
    with RunningTidings(used_dir) as tidings:
        demo = tidings.demo
        assert f"  Sandbox    {demo['sandbox_url']}/" in tidings.output
        assert "Sandbox" in httpx2.get(f"{demo['sandbox_url']}/").text
        assert f"  Inbox      {demo['inbox_url']}  " in tidings.output
        with smtplib.SMTP("127.0.0.1", demo["smtp_port"]) as client:
            client.sendmail("a@b.test", ["somebody@example.test"], "Subject: by hand\r\n\r\nhello\r\n")
        sms = replace(MESSAGE, channel="sms", to="+93700123456", text="Your code is 0424", html=None)
        assert isinstance(send_as_the_platform(used_dir, "smtp", MESSAGE), Accepted)
        assert isinstance(send_as_the_platform(used_dir, "http", sms), Accepted)
        for vendor, device in (("fcm", "lailas-phone"), ("apns", "ab" * 32)):
            push = replace(MESSAGE, channel="push", to=device, html=None)
            assert isinstance(send_as_the_platform(used_dir, vendor, push), Accepted)

        assert [m["subject"] for m in received(tidings, to="somebody@example.test")] == ["by hand"]
        (mail,) = received(tidings, to=MESSAGE.to)
        assert (mail["adapter"], mail["html"].strip()) == ("smtp", MESSAGE.html)
        (text,) = received(tidings, channel="sms")
        assert (text["adapter"], text["to"], text["text"]) == ("http", "+93700123456", "Your code is 0424")
        assert [(m["adapter"], m["to"]) for m in received(tidings, channel="push")] == [
            ("fcm", "lailas-phone"),
            ("apns", "ab" * 32),
        ]
        found = channels(tidings)
        assert {name: channel["vendor"] for name, channel in found.items()} == {
            "email": "smtp",
            "sms": "http",
            "whatsapp": "whatsapp_cloud",
            "telegram": "telegram_bot",
            "viber": "viber",
            "voice": "voice_otp_gateway",
            "push": "fcm",
        }
        assert {account["owner"] for channel in found.values() for account in channel["accounts"]} == {
            "platform"
        }
        for name in ("smtp", "fcm", "apns", *VENDORS):
            file = used_dir / "secrets" / "sandbox" / f"{name}.json"
            assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_its_shop_has_the_inbox(used_dir: Path) -> None:
    """What a visitor sends themselves is in their inbox, which they read with the token of the shop's backend."""
    with RunningTidings(used_dir) as tidings:
        demo = tidings.demo
        page = httpx2.get(demo["inbox_url"])
        assert f'src="{demo["base_url"]}/assets/tidings-inbox.js"' in page.text
        assert "unsafe" not in page.headers["content-security-policy"]
        assert demo["api_key"] not in page.text
        sent = httpx2.post(f"{demo['inbox_url']}/messages", json={"kind": "invoice", "locale": "fa-AF"})
        assert sent.status_code == 202, sent.text
        token = httpx2.post(f"{demo['inbox_url']}/token").json()["token"]

        def arrived() -> list[dict[str, Any]]:
            headers = {"Authorization": f"Bearer {token}"}
            page: dict[str, Any] = httpx2.get(f"{demo['base_url']}/api/v1/inbox", headers=headers).json()
            return list(page["items"])

        [item] = wait_until(arrived, "the message")
        assert (item["category"], item["direction"]) == ("billing", "rtl")
        assert [action["name"] for action in item["actions"]] == ["pay", "later"]
        refused = httpx2.post(f"{demo['inbox_url']}/messages", json={"kind": "nonsense"})
        assert (refused.status_code, refused.json()["code"]) == (400, "bad_value")
        elsewhere = httpx2.post(f"{demo['inbox_url']}/token", headers={"Origin": "https://elsewhere.example"})
        assert elsewhere.status_code == 403


def callback_secrets(data_dir: Path) -> set[str]:
    """Each vendor's own."""
    return {
        json.loads((data_dir / "secrets" / "sandbox" / f"{name}.json").read_text())[proof]
        for name, proof in VENDORS.items()
    }


def test_its_vendors_tell_what_became_of_a_message(used_dir: Path) -> None:
    """Each has a hook at the API, which takes its receipts and tells them from a stranger's."""
    with RunningTidings(used_dir) as tidings:
        sandbox = tidings.demo["sandbox_url"]
        hooks = httpx2.get(f"{sandbox}/hooks").json()["hooks"]
        ids = []
        for vendor, channel, to in (
            ("whatsapp_cloud", "whatsapp", "+93700123456"),
            ("voice_otp_gateway", "voice", "+15005550111"),
        ):
            message = replace(MESSAGE, channel=channel, to=to, html=None, text="042424")
            assert isinstance(send_as_the_platform(used_dir, vendor, message), Accepted)
            (kept,) = received(tidings, channel=channel)
            ids.append(kept["id"])

        def answers(message_id: str) -> list[int]:
            told = httpx2.get(f"{sandbox}/messages/{message_id}").json()["receipts"]
            return [receipt["answer"] for receipt in told if receipt["answer"] is not None]

        wait_until(lambda: answers(ids[0]) == [200, 200], "the receipts to be taken")
        wait_until(lambda: answers(ids[1]) == [401], "the forged one to be refused")

    assert set(hooks) == set(VENDORS)
    assert all(
        url.startswith(f"{tidings.demo['base_url']}/hooks/{name}/adcfg_") for name, url in hooks.items()
    )


def test_a_second_start_finds_it_where_it_was_and_changes_nothing(used_dir: Path) -> None:
    """The same ports; a channel that the tenant changed stays changed."""
    with RunningTidings(used_dir) as first:
        before = first.demo
        with first.client() as client:
            changed = {"vendor": "smtp", "sender": {"from_address": "other@demo.example"}}
            version = {"If-Match": client.get("/api/v1/channels/email").headers["etag"]}
            done = client.put("/api/v1/channels/email", json=changed, headers=version)
            assert done.status_code == 200, done.text
        secrets = callback_secrets(used_dir)
        first.stop()
    with RunningTidings(used_dir) as second:
        after, found = second.demo, channels(second)
        assert isinstance(send_as_the_platform(used_dir, "smtp", MESSAGE), Accepted)

    assert callback_secrets(used_dir) == secrets
    assert len(secrets) == len(VENDORS)

    ports = ("sandbox_url", "smtp_port", "smpp_port", "apns_port")
    assert [after[name] for name in ports] == [before[name] for name in ports]
    assert found["email"]["sender"] == {"from_address": "other@demo.example"}
    assert found["sms"]["version"] == 1


def test_ports_that_somebody_has_taken_meanwhile(used_dir: Path) -> None:
    """Others are chosen, and the accounts follow."""
    with RunningTidings(used_dir) as first:
        before = first.demo
        first.stop()
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", before["smtp_port"]))
        taken.listen()

        with RunningTidings(used_dir) as second:
            after = second.demo
            assert isinstance(send_as_the_platform(used_dir, "smtp", MESSAGE), Accepted)
            assert len(received(second)) == 1

    assert after["smtp_port"] != before["smtp_port"]


def test_ports_and_memory_are_the_operators_choice(used_dir: Path) -> None:
    """Those that are asked for are taken, and only so many messages are kept."""
    ports = []
    for _ in range(4):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    chosen = {
        "TIDINGS_SANDBOX_SMTP_PORT": str(ports[0]),
        "TIDINGS_SANDBOX_HTTP_PORT": str(ports[1]),
        "TIDINGS_SANDBOX_SMPP_PORT": str(ports[2]),
        "TIDINGS_SANDBOX_APNS_PORT": str(ports[3]),
        "TIDINGS_SANDBOX_KEEP": "2",
    }

    with RunningTidings(used_dir, program=None, port=0, **chosen) as tidings:
        with smtplib.SMTP("127.0.0.1", ports[0]) as client:
            for number in range(3):
                client.sendmail("a@b.test", ["c@d.test"], f"Subject: {number}\r\n\r\nx\r\n")

        assert [tidings.demo[f"{name}_port"] for name in ("smtp", "smpp", "apns")] == [
            ports[0],
            ports[2],
            ports[3],
        ]
        assert tidings.demo["sandbox_url"] == f"http://127.0.0.1:{ports[1]}"
        assert [m["subject"] for m in received(tidings)] == ["1", "2"]

    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", ports[0]))
        taken.listen()
        refused = run_tidings("up", "--data-dir", str(used_dir), "--port", "0", **chosen)
    assert refused.returncode == 1
    assert "TIDINGS_SANDBOX_SMTP_PORT" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_it_can_be_switched_off(data_dir: Path) -> None:
    """Then nothing is sent to it, and nothing is set up."""
    with RunningTidings(data_dir, TIDINGS_SANDBOX="off") as tidings:
        assert tidings.demo["sandbox_url"] is None
        assert tidings.demo["smtp_port"] is None
        assert re.search(r"^  Sandbox    off$", tidings.output, re.MULTILINE)
        assert channels(tidings) == {}
    assert not (data_dir / "secrets" / "sandbox").exists()


def test_demo_json_of_a_stranger_hand_is_no_obstacle(used_dir: Path) -> None:
    """Nonsense in the place of a port means any port."""
    file = used_dir / "demo.json"
    known = json.loads(file.read_text())
    file.write_text(json.dumps({**known, "smtp_port": "many", "sandbox_url": "http://x:99999999/"}))

    with RunningTidings(used_dir) as second:
        assert second.demo["smtp_port"] > 0


def test_its_receiver_is_told_by_webhooks(used_dir: Path) -> None:
    """The greeting and demo.json name it; a webhook that is made there is verified, and repeated when it fails."""
    with RunningTidings(used_dir) as tidings:
        demo = tidings.demo
        receiver = httpx2.URL(demo["receiver_url"])
        calls = f"{demo['sandbox_url']}/receivers/demo/calls"
        assert f"  Webhooks   {receiver}  " in tidings.output
        made = httpx2.post(
            f"{demo['sandbox_url']}/receivers/demo/webhook", json={"events": ["notification.queued.v1"]}
        )
        assert made.status_code == 201, made.text
        assert "secret" not in made.json()
        fault = {"adapter": "receiver", "vendor": "demo", "mode": "error", "count": 1}
        httpx2.post(f"{demo['sandbox_url']}/faults", json=fault)
        where = ("--data-dir", str(used_dir))
        url = f"{demo['sandbox_url']}/receiver/by-hand"
        by_hand = run_tidings(
            "webhook", "create", "--webhook", url, "--event", "notification.queued.v1", *where
        )
        assert by_hand.returncode == 0, by_hand.stderr
        sent = run_tidings("send", "laila@example.test", "--template", "otp", "--var", "code=042424", *where)
        assert sent.returncode == 0, sent.stderr

        def taken() -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = httpx2.get(calls).json()["calls"]
            return found if 204 in [call["answer"] for call in found] else []

        first, second = wait_until(taken, "the second attempt")
        assert (first["answer"], second["answer"], second["attempt"]) == (500, 204, 2)
        assert first["webhook_id"] == second["webhook_id"]
        assert (first["signature"], second["signature"]) == ("fits", "fits")


def test_tenants_call_this_machine_only_where_nobody_else_can_ask(used_dir: Path) -> None:
    """With an address of its own a proxy may stand before it: then loopback stays closed."""
    with RunningTidings(used_dir, TIDINGS_PUBLIC_URL="https://tidings.example") as tidings:
        url = tidings.demo["receiver_url"]
        with tidings.client() as client:
            refused = client.post("/api/v1/webhooks", json={"url": url, "events": ["notification.queued.v1"]})
        assert refused.status_code == 400
        assert [one["field"] for one in refused.json()["errors"]] == ["url"]
        assert "may not" in tidings.output
