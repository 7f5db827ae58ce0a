"""A vendor that refuses, hangs, drops and lies: what becomes of a notification, and what its story says."""

import secrets
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.support.running import RunningTidings, wait_until
from tests.support.used_data_dir import running_tidings

pytestmark = pytest.mark.xdist_group("client")

#: What the vendor does to the first call → what is kept of that call, and what becomes of the notification.
FAULTS = {
    "reject_permanent": ("failed_perm", "failed"),
    "reject_temporary": ("failed_temp", "delivered"),
    "throttle": ("failed_temp", "delivered"),
    "hang": ("timed_out", "delivered"),
    "close": ("timed_out", "delivered"),
    "garbage": ("timed_out", "delivered"),
    "slow": ("accepted", "delivered"),
}


@pytest.fixture(scope="module")
def tidings() -> Iterator[RunningTidings]:
    """A Tidings that this file has for itself."""
    with running_tidings() as running:
        yield running
        # A stop would wait for the vendor that hangs.
        running.kill()
        running.await_nobody_left()


@pytest.fixture(autouse=True)
def _well_again(tidings: RunningTidings) -> Iterator[None]:
    yield
    httpx2.delete(f"{tidings.demo['sandbox_url']}/faults").raise_for_status()


def _fault(tidings: RunningTidings, **wish: object) -> None:
    httpx2.post(f"{tidings.demo['sandbox_url']}/faults", json=wish).raise_for_status()


def _code(name: str) -> dict[str, Any]:
    """A code by mail: it is worthless in a minute, so that it is tried again within seconds."""
    return {
        "recipient": {"addresses": [{"channel": "email", "address": f"{name}@example.test"}]},
        "template": "otp",
        "channel": "email",
        "variables": {"code": "042424"},
    }


def _post(client: httpx2.Client, body: dict[str, Any]) -> str:
    answer = client.post("/api/v1/notifications", json=body)
    assert answer.status_code == 202, answer.text
    id_: str = answer.json()["id"]
    return id_


def _explain(client: httpx2.Client, id_: str) -> dict[str, Any]:
    answer = client.get(f"/api/v1/notifications/{id_}/explain")
    assert answer.status_code == 200, answer.text
    story: dict[str, Any] = answer.json()
    return story


def _over(client: httpx2.Client, id_: str) -> dict[str, Any]:
    """Its story, once it is over."""

    wait_until(lambda: _status(client, id_) in ("delivered", "failed"), "the end of it")
    return _explain(client, id_)


def test_every_fault_is_outlived_and_told(tidings: RunningTidings) -> None:
    """Each hits the first call of one notification, which is over before the next fault is set: a retry would be hit by it."""
    stories: dict[str, dict[str, Any]] = {}
    with tidings.client() as client:
        for mode in FAULTS:
            held = {"seconds": 1.0} if mode in ("hang", "slow") else {}
            _fault(tidings, adapter="smtp", mode=mode, count=1, **held)
            stories[mode] = _over(client, _post(client, _code(f"hit-{mode.replace('_', '-')}")))

    for mode, (first, end) in FAULTS.items():
        story = stories[mode]
        statuses = [attempt["status"] for attempt in story["attempts"]]
        assert (mode, statuses[0]) == (mode, first)
        assert (mode, story["notification"]["status"]) == (mode, end)
        assert (mode, statuses[-1] == "accepted") == (mode, end == "delivered")
        assert (mode, story["timeline"][-1]["kind"]) == (mode, end)
        if first == "timed_out":
            assert story["attempts"][0]["reason"] == "answer_never_learned"
        arrived = _arrived(tidings, f"hit-{mode.replace('_', '-')}@example.test")
        assert arrived <= 1 + statuses.count("timed_out"), mode
        assert (mode, arrived >= 1) == (mode, end == "delivered")


def _arrived(tidings: RunningTidings, to: str) -> int:
    found = httpx2.get(f"{tidings.demo['sandbox_url']}/messages", params={"to": to}).json()["messages"]
    return len(found)


def test_a_hanging_vendor_holds_up_nobody_elses_messages(tidings: RunningTidings) -> None:
    """One tenant's vendor says nothing any more; another tenant's messages go through theirs."""
    other = _tenant(tidings)
    with tidings.client() as client, httpx2.Client(base_url=tidings.demo["base_url"], headers=other) as them:
        _fault(tidings, adapter="smtp", mode="hang")
        stuck = [_post(client, _code(f"stuck-{n}")) for n in range(300)]
        began = time.monotonic()
        for number in range(10):
            text = {
                "recipient": {"addresses": [{"channel": "sms", "address": f"+9370055{number:04}"}]},
                "template": "otp",
                "channel": "sms",
                "variables": {"code": "042424"},
            }
            id_ = _post(them, text)
            wait_until(lambda id_=id_: _status(them, id_) == "delivered", "the others' delivery")
        print(f"\n10 texts in {time.monotonic() - began:.2f} s beside a vendor that hangs")  # noqa: T201

        assert {_status(client, id_) for id_ in stuck[:20]} <= {"queued", "dispatched"}


def _status(client: httpx2.Client, id_: str) -> str:
    status: str = client.get(f"/api/v1/notifications/{id_}").json()["status"]
    return status


def _tenant(tidings: RunningTidings) -> dict[str, str]:
    """A second tenant that sends texts through the platform's account; the headers of its key."""
    with tidings.client("platform_key") as platform:
        made = platform.post(
            "/internal/v1/tenants",
            json={
                "name": "Other",
                "slug": f"other-{secrets.token_hex(4)}",
                "notification_policy": {"allowed_sender_ids": ["Other"]},
            },
        )
        assert made.status_code == 201, made.text
        tenant_id = made.json()["id"]
        key = platform.post(
            "/api/v1/api-keys",
            json={"name": "other", "role": "tenant.admin"},
            headers={"X-Tenant-Id": tenant_id},
        )
        assert key.status_code == 201, key.text
    headers = {"Authorization": f"Bearer {key.json()['api_key']}"}
    put = httpx2.put(
        f"{tidings.demo['base_url']}/api/v1/channels/sms",
        json={"vendor": "http", "sender": {"sender_id": "Other"}},
        headers=headers,
    )
    assert put.is_success, put.text
    return headers
