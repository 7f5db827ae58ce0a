"""From channel to channel: scripted vendors tell what became of each try, and the ladder goes on until one arrives."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from tests.support.running import RunningTidings, wait_until
from tests.support.used_data_dir import running_tidings

pytestmark = pytest.mark.xdist_group("client")

LADDER = [
    {"channel": "whatsapp", "deadline_seconds": 20},
    {"channel": "sms", "deadline_seconds": 2},
    {"channel": "email", "deadline_seconds": 30},
]


@dataclass(frozen=True, kw_only=True)
class Case:
    """What vendors do, and what has to come of it."""

    scripts: Mapping[str, str]
    #: Channels that were called, in order.
    called: tuple[str, ...]


CASES = {
    "the first one arrives": Case(scripts={}, called=("whatsapp",)),
    "unreachable, then silence": Case(
        scripts={"whatsapp": "unreachable", "sms": "never"}, called=("whatsapp", "sms", "email")
    ),
    "refused at once": Case(scripts={"whatsapp": "rejected"}, called=("whatsapp", "sms")),
    "told in the wrong order": Case(scripts={"whatsapp": "out_of_order"}, called=("whatsapp",)),
    "a stranger's word counts for nothing": Case(
        scripts={"whatsapp": "failed", "sms": "forged"}, called=("whatsapp", "sms", "email")
    ),
}


@pytest.fixture(scope="module")
def tidings() -> Iterator[RunningTidings]:
    """A Tidings that this file has for itself, whose demo tenant has a ladder for codes and a race for alerts."""
    with running_tidings() as running:
        with running.client() as client:
            for policy in (
                {"use_case": "otp", "ladder": LADDER},
                {"use_case": "alert", "ladder": LADDER[:2], "strategy": "PARALLEL"},
            ):
                made = client.post("/api/v1/router/policies", json=policy)
                assert made.status_code == 201, made.text
        yield running


@pytest.fixture(autouse=True)
def _well_again(tidings: RunningTidings) -> Iterator[None]:
    yield
    httpx2.delete(f"{tidings.demo['sandbox_url']}/scripts").raise_for_status()


@pytest.mark.parametrize("name", CASES)
def test_it_goes_on_until_one_arrives(tidings: RunningTidings, name: str) -> None:
    """In the order of the policy, each channel once, and not a step further than it has to."""
    case, number = CASES[name], f"+9370012{list(CASES).index(name):04}"
    for channel, script in case.scripts.items():
        _script(tidings, channel, script)

    with tidings.client() as client:
        answer = client.post("/api/v1/notifications", json=_code(number))
        assert answer.status_code == 202, answer.text
        story = wait_until(lambda: _over(client, answer.json()["id"]), "the end of it")

    assert story["notification"]["status"] == "delivered", story["summary"]
    assert list(dict.fromkeys(attempt["channel"] for attempt in story["attempts"])) == list(case.called)
    refused = {channel for channel, script in case.scripts.items() if script == "rejected"}
    assert _received(tidings, number) == [channel for channel in case.called if channel not in refused]


def test_the_loser_of_a_race_is_called_back(tidings: RunningTidings) -> None:
    """Two channels at once: whoever arrives first wins, and the vendor of the other sends it no more."""
    number = "+93700129999"
    _script(tidings, "sms", "delivered_after:600")
    with tidings.client() as client:
        answer = client.post("/api/v1/notifications", json={**_code(number), "use_case": "alert"})
        assert answer.status_code == 202, answer.text
        story = wait_until(lambda: _over(client, answer.json()["id"]), "the end of it")
        courses = wait_until(lambda: _courses(tidings, number), "both to be told")

    assert story["notification"]["status"] == "delivered"
    assert courses == {"whatsapp": "delivered", "sms": "cancelled"}


def _script(tidings: RunningTidings, name: str, script: str) -> None:
    url = f"{tidings.demo['sandbox_url']}/scripts/{name}"
    httpx2.put(url, json={"script": script}).raise_for_status()


def _courses(tidings: RunningTidings, number: str) -> dict[str, str] | None:
    """How far each message to a number is, by channel; None while one is still on its way."""
    url = f"{tidings.demo['sandbox_url']}/messages"
    found = [
        httpx2.get(f"{url}/{message['id']}").json()
        for message in httpx2.get(url, params={"to": number}).json()["messages"]
    ]
    courses = {message["channel"]: message["course"] for message in found}
    return courses if {"accepted", "sent"}.isdisjoint(courses.values()) else None


def _code(number: str) -> dict[str, Any]:
    addresses = [
        {"channel": "whatsapp", "address": number},
        {"channel": "sms", "address": number},
        {"channel": "email", "address": f"{number[1:]}@example.test"},
    ]
    return {
        "recipient": {"addresses": addresses},
        "template": "otp",
        "channel": "auto",
        "use_case": "otp",
        "variables": {"code": "042424"},
    }


def _over(client: httpx2.Client, id_: str) -> dict[str, Any] | None:
    answer = client.get(f"/api/v1/notifications/{id_}/explain")
    assert answer.status_code == 200, answer.text
    story: dict[str, Any] = answer.json()
    return story if story["notification"]["status"] in ("delivered", "failed") else None


def _received(tidings: RunningTidings, number: str) -> list[str]:
    """The channels by which something arrived for a person, in the order of arrival."""
    url = f"{tidings.demo['sandbox_url']}/messages"
    found = httpx2.get(url).json()["messages"]
    return [
        message["channel"] for message in found if message["to"] in (number, f"{number[1:]}@example.test")
    ]
