"""The typed client against a running Tidings: what it sends arrives at the sandbox, what it asks is answered."""

import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.running import RunningTidings, wait_until
from tests.support.used_data_dir import running_tidings
from tidings_client import (
    Address,
    AsyncTidings,
    Attachment,
    ConflictError,
    Identity,
    Message,
    NotFoundError,
    Recipient,
    RefusedError,
    Retries,
    Tidings,
    UnauthenticatedError,
)

ORDER = {
    "order_number": "A-1001",
    "total": {"amount_micros": 42_500_000, "currency": "USD"},
    "items": [{"name": "Green tea", "quantity": 2}],
}
pytestmark = pytest.mark.xdist_group("client")


@pytest.fixture(scope="module")
def running() -> Iterator[RunningTidings]:
    """A Tidings that this file has for itself."""
    with running_tidings() as tidings:
        yield tidings


@pytest.fixture
def tidings(running: RunningTidings) -> Iterator[Tidings]:
    """A client of the demo tenant."""
    with Tidings(running.demo["base_url"], running.demo["api_key"]) as client:
        yield client


def somebody(name: str, **facts: Any) -> Recipient:
    """A guest with a mail address of their own."""
    return Recipient(
        identity=Identity("guest", f"g-{name}"), addresses=[Address("email", f"{name}@example.test")], **facts
    )


def arrived(running: RunningTidings, to: str) -> list[dict[str, Any]]:
    """What the sandbox has for somebody."""
    found: list[dict[str, Any]] = httpx2.get(
        f"{running.demo['sandbox_url']}/messages", params={"to": to}
    ).json()["messages"]
    return found


def test_a_mail_in_dari_from_call_to_sandbox(running: RunningTidings, tidings: Tidings) -> None:
    """Accepted, delivered, at the sandbox right to left; its story and its body can be asked for."""
    laila = somebody("laila", display_name="Laila", locale="fa-AF")

    accepted = tidings.send(laila, "order_confirmation", channel="email", variables=ORDER)
    done = tidings.wait_until_done(accepted.id)

    assert (done.status, done.final_channel, done.evidence) == ("delivered", "email", "accepted")
    (mail,) = arrived(running, "laila@example.test")
    assert "A-1001" in mail["subject"] + mail["text"]
    assert 'dir="rtl"' in mail["html"]
    story = tidings.explain(accepted.id)
    assert story.notification.id == accepted.id
    assert {line.verdict for line in story.decision} == {"pass"}
    assert [one.at for one in story.timeline] == sorted(one.at for one in story.timeline)
    assert story.timeline[0].kind == "accepted"
    assert story.timeline[-1].kind == "delivered"
    body = tidings.body(accepted.id)
    assert (body.direction, body.exact) == ("rtl", True)
    assert [attempt.status for attempt in tidings.attempts(accepted.id)] == ["accepted"]


def test_an_sms_goes_the_other_way(running: RunningTidings, tidings: Tidings) -> None:
    """The channel of the address; the vendor of the channel."""
    somebody_else = Recipient(addresses=[Address("sms", "+93700123456")])

    accepted = tidings.send(somebody_else, "otp", channel="sms", variables={"code": "042424"})

    assert tidings.wait_until_done(accepted.id).status == "delivered"
    (text,) = arrived(running, "+93700123456")
    assert (text["channel"], text["adapter"]) == ("sms", "http")
    assert "042424" in text["text"]


def test_a_repeat_with_the_same_key_is_the_same_notification(
    running: RunningTidings, tidings: Tidings
) -> None:
    """And the same key for something else is refused."""
    zahra = somebody("zahra")

    first = tidings.send(zahra, "order_confirmation", variables=ORDER, idempotency_key="order-7")
    again = tidings.send(zahra, "order_confirmation", variables=ORDER, idempotency_key="order-7")

    assert again.id == first.id
    tidings.wait_until_done(first.id)
    assert len(arrived(running, "zahra@example.test")) == 1
    with pytest.raises(ConflictError):
        tidings.send(zahra, "otp", variables={"code": "042424"}, idempotency_key="order-7")


def test_a_bulk_with_a_bad_one_in_it(running: RunningTidings, tidings: Tidings) -> None:
    """The others are sent; the bad one says what is wrong with it."""
    messages = [
        Message(
            recipient=somebody(f"bulk{n}"),
            template="order_confirmation",
            channel="email",
            variables=ORDER if n != 2 else {"order_number": "A"},
        )
        for n in range(5)
    ]

    bulk = tidings.send_bulk(messages)

    assert (bulk.accepted, bulk.refused) == (4, 1)
    assert [item.index for item in bulk.results if not item.ok] == [2]
    problem = bulk.results[2].problem
    assert problem is not None
    assert any("variables" in error.field for error in problem.errors)
    for item in bulk.results:
        if item.id is not None:
            assert tidings.wait_until_done(item.id).status == "delivered"
    assert [len(arrived(running, f"bulk{n}@example.test")) for n in range(5)] == [1, 1, 0, 1, 1]


def test_a_rehearsal_sends_nothing(running: RunningTidings, tidings: Tidings) -> None:
    """It shows the message that would be sent."""
    found = tidings.simulate(
        somebody("rehearsed", locale="ar"), "order_confirmation", channel="email", variables=ORDER
    )

    assert found.would == "send"
    assert found.message is not None
    assert found.message.direction == "rtl"
    assert found.message.locale is not None
    assert found.message.locale.startswith("ar")
    assert arrived(running, "rehearsed@example.test") == []


def test_one_that_is_scheduled_can_be_taken_back(tidings: Tidings) -> None:
    """Once; afterwards it is over."""
    later = datetime.now(UTC) + timedelta(hours=1)

    accepted = tidings.send(
        somebody("later"), "order_confirmation", channel="email", variables=ORDER, scheduled_for=later
    )
    assert accepted.status == "scheduled"
    cancelled = tidings.cancel(accepted.id)

    assert cancelled.status == "cancelled"
    assert tidings.get(accepted.id).done


def test_the_list_has_filters_and_goes_on(tidings: Tidings) -> None:
    """Page by page, the newest first, each once."""
    sent = [
        tidings.send(
            somebody(f"listed{n}"), "order_confirmation", variables=ORDER, correlation_id="batch-of-seven"
        ).id
        for n in range(7)
    ]

    found = [one.id for one in tidings.list(correlation_id="batch-of-seven")]
    first = tidings.page(correlation_id="batch-of-seven", limit=3)
    second = tidings.page(correlation_id="batch-of-seven", limit=3, cursor=first.next_cursor)

    assert sorted(found) == sorted(sent)
    assert found == sorted(found, reverse=True)
    assert [one.id for one in (*first.items, *second.items)] == found[:6]


def test_counters_follow(tidings: Tidings) -> None:
    """Without scanning anything."""
    before = tidings.counters().totals.get("delivered", 0)

    tidings.wait_until_done(
        tidings.send(somebody("counted"), "order_confirmation", channel="email", variables=ORDER).id
    )

    wait_until(lambda: tidings.counters().totals.get("delivered", 0) > before, "the counter to follow")


def test_refusals_are_typed(running: RunningTidings, tidings: Tidings) -> None:
    """Each names what to mend."""
    with pytest.raises(RefusedError) as wrong:
        tidings.send({"addresses": [{"channel": "email", "address": "no address"}]}, "order_confirmation")
    assert any("address" in error.field for error in wrong.value.errors)
    with pytest.raises(NotFoundError):
        tidings.get("ntf_01JCQ8ZK6T9Y4M2V7N5B3D1F0G")
    with (
        Tidings(running.demo["base_url"], "tdk_nobody_nothing") as stranger,
        pytest.raises(UnauthenticatedError),
    ):
        stranger.get("ntf_01JCQ8ZK6T9Y4M2V7N5B3D1F0G")


def test_a_file_goes_along(running: RunningTidings, tidings: Tidings) -> None:
    """Under its own name."""
    terms = Attachment(filename="terms.pdf", media_type="application/pdf", content=b"%PDF-1.4 terms")

    accepted = tidings.send(
        somebody("filed"), "order_confirmation", channel="email", variables=ORDER, attachments=[terms]
    )

    assert tidings.wait_until_done(accepted.id).status == "delivered"
    (mail,) = arrived(running, "filed@example.test")
    whole = httpx2.get(f"{running.demo['sandbox_url']}/messages/{mail['id']}").json()
    assert [(file["filename"], file["bytes"]) for file in whole["attachments"]] == [
        ("terms.pdf", len(terms.content))
    ]


def test_many_at_once_with_asyncio(running: RunningTidings) -> None:
    """The same calls, awaited."""

    async def many() -> list[str]:
        async with AsyncTidings(
            running.demo["base_url"], running.demo["api_key"], retries=Retries(most=6)
        ) as client:
            accepted = await asyncio.gather(
                *(
                    client.send(somebody(f"async{n}"), "order_confirmation", channel="email", variables=ORDER)
                    for n in range(20)
                )
            )
            done = await asyncio.gather(*(client.wait_until_done(one.id) for one in accepted))
            assert len([one async for one in client.list(recipient=accepted[0].recipient_id)]) == 1
            return [one.status for one in done]

    assert asyncio.run(many()) == ["delivered"] * 20


def test_a_test_key_reaches_no_vendor(running: RunningTidings) -> None:
    """The life of a notification, and nothing at the sandbox."""
    with running.client() as admin:
        made = admin.post(
            "/api/v1/api-keys", json={"name": "for tests", "role": "tenant.admin", "environment": "test"}
        )
    assert made.status_code == 201, made.text
    with Tidings(running.demo["base_url"], made.json()["api_key"]) as client:
        accepted = client.send(somebody("tested"), "order_confirmation", channel="email", variables=ORDER)
        done = client.wait_until_done(accepted.id)

    assert (done.status, done.is_test) == ("delivered", True)
    assert arrived(running, "tested@example.test") == []


@pytest.mark.parametrize("number", [0, 1], ids=["sync", "async"])
def test_the_examples_of_the_docs_run(running: RunningTidings, number: int) -> None:
    """As they stand, but for the address and the key."""
    page = (Path(__file__).parents[3] / "docs" / "client.md").read_text()
    example = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[number]
    demo = running.demo

    exec(  # the docs are ours
        example.replace("http://127.0.0.1:8080", demo["base_url"]).replace("tdk_…", demo["api_key"]), {}
    )


def test_every_example_of_the_docs_works_as_it_stands(running: RunningTidings) -> None:
    """What `/docs` shows under "Try it" can be pasted."""
    with running.client() as client:
        paths = client.get("/openapi.json").json()["paths"]
        examples = [
            (path, operation["requestBody"]["content"]["application/json"]["example"])
            for path, methods in paths.items()
            for method, operation in methods.items()
            if method == "post"
            and path.startswith("/api/")
            and "example" in operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        ]
        answers = {path: client.post(path, json=example) for path, example in examples}

    assert len(answers) >= 5
    assert {path: answer.text for path, answer in answers.items() if not answer.is_success} == {}
    bulk = answers["/api/v1/notifications/bulk"].json()
    assert (bulk["accepted"], bulk["refused"]) == (1, 0)
