"""What can't be accepted is refused with the field and the remedy, and leaves nothing behind."""

import base64
import json
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.pipeline.books import books, change
from tests.support.pipeline import HOME, NOON, ORDERED, PipelineWorld, order, person
from tidings.contracts.ids import RECIPIENT

pytestmark = pytest.mark.xdist_group("pipeline-bad-input")

TEXT = {"filename": "a.txt", "media_type": "text/plain", "content": base64.b64encode(b"text").decode()}
#: More than all files of one notification may take together.
HEAVY = TEXT | {"content": base64.b64encode(bytes(7 * 1024 * 1024 + 1)).decode()}


def at(**later: float) -> str:
    return (NOON + timedelta(**later)).isoformat()


def to(address: str, **facts: Any) -> dict[str, Any]:
    return person(address, **facts)


def nested(levels: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for _ in range(levels):
        made = {"a": made}
    return made


#: What is wrong: the parts of the body, the field that is named, a part of the remedy.
TABLE: dict[str, tuple[dict[str, Any], str, str]] = {
    "unknown template": ({"template": "no_such"}, "template", "key of a template published"),
    "no text for the channel": ({"channel": "sms"}, "template", "it is for email"),
    "not the key of a template": ({"template": "No Such"}, "template", "must be a template's key"),
    "unknown channel": ({"channel": "pigeon"}, "channel", ""),
    "no text for the inbox": ({"channel": "inapp"}, "template", "it is for email"),
    "missing variable": (
        {"variables": {k: v for k, v in ORDERED.items() if k != "items"}},
        "variables.items",
        "is required",
    ),
    "extra variable": ({"variables": ORDERED | {"tip": 1}}, "variables.tip", "leave it out"),
    "wrong type of a variable": (
        {"variables": ORDERED | {"order_number": 1001}},
        "variables.order_number",
        "a text",
    ),
    "wrong type inside a variable": (
        {"variables": ORDERED | {"items": [{"name": "Tea", "quantity": "two"}]}},
        "variables.items[0].quantity",
        "a number",
    ),
    "variables that are none": ({"variables": ["A-1001"]}, "variables", "an object"),
    "a prototype among the variables": (
        {"variables": ORDERED | {"__proto__": {"polluted": True}}},
        "variables.__proto__",
        "leave it out",
    ),
    "variables nested too deeply": ({"variables": ORDERED | nested(400)}, "variables", "too deeply"),
    "too much in variables": (
        {"variables": ORDERED | {"order_number": "x" * 70_000}},
        "variables",
        "at most 65536 bytes",
    ),
    "too much metadata": ({"metadata": {"a": "x" * 5000}}, "metadata", "at most 4096 bytes"),
    "a zero character": ({"metadata": {"a": "\0"}}, "metadata.a", "zero character"),
    "bad locale": ({"locale": "English!"}, "locale", "language tag such as"),
    "a language that does not exist": ({"locale": "zz-ZZZZ"}, "locale", "a language that exists"),
    "bad locale of the recipient": (
        {"recipient": to("a@example.test", locale="e")},
        "recipient.locale",
        "language tag",
    ),
    "bad time zone": (
        {"recipient": to("a@example.test", timezone="Mars/Olympus")},
        "recipient.timezone",
        "IANA time zone",
    ),
    "bad mail address": ({"recipient": to("laila@")}, "recipient.addresses[0].address", "domain after the @"),
    "bad telephone number": ({"recipient": to("12")}, "recipient.addresses[0].address", "number"),
    "a name that breaks the line": (
        {"recipient": to("a@example.test", display_name="Laila\r\nBcc: x@example.test")},
        "recipient.display_name",
        "one line",
    ),
    "nobody": ({"recipient": {}}, "recipient", "must say who it is"),
    "not the id of a recipient": ({"recipient": "rcp_1"}, "recipient", "rcp_"),
    "unknown category": ({"category": "gossip"}, "category", "must be one of"),
    "unknown priority": ({"priority": "asap"}, "priority", "must be one of"),
    "scheduled in the past": ({"scheduled_for": at(hours=-1)}, "scheduled_for", "not be in the past"),
    "scheduled too late": ({"scheduled_for": at(days=400)}, "scheduled_for", "within the next 365 days"),
    "scheduled without a zone": ({"scheduled_for": "2026-12-01T12:00:00"}, "scheduled_for", ""),
    "expired already": ({"expires_at": at(hours=-1)}, "expires_at", "later than the present"),
    "expires before it is sent": (
        {"scheduled_for": at(hours=2), "expires_at": at(hours=1)},
        "expires_at",
        "later than scheduled_for",
    ),
    "unknown field": ({"templte": "otp"}, "templte", "did you mean template?"),
    "files that are not base64": (
        {"attachments": [TEXT | {"content": "not base64!"}]},
        "attachments[0].content",
        "must be base64",
    ),
    "files that are too large": ({"attachments": [HEAVY]}, "attachments", "at most 7340032 bytes"),
    "two files of one name": ({"attachments": [TEXT, TEXT]}, "attachments[1].filename", "is there twice"),
    "a file elsewhere": (
        {"attachments": [TEXT | {"filename": "../../etc/passwd"}]},
        "attachments[0].filename",
        "without slashes",
    ),
    "a media type that is none": (
        {"attachments": [TEXT | {"media_type": "text"}]},
        "attachments[0].media_type",
        "media type such as",
    ),
    "too many files": (
        {"attachments": [TEXT | {"filename": f"{n}"} for n in range(21)]},
        "attachments",
        "at most 20 items",
    ),
    "a kind of no event": (
        {"source_event_type": "stay.booked.v1"},
        "source_event_type",
        "needs source_event_id",
    ),
    "a moment of no event": (
        {"source_event_produced_at": "2026-11-15T12:00:00Z"},
        "source_event_produced_at",
        "needs source_event_id",
    ),
    "an event without a name": ({"source_event_id": "a b"}, "source_event_id", "without spaces"),
}


@pytest.mark.parametrize("name", TABLE)
async def test_a_wrong_field_is_named_with_its_remedy(world: PipelineWorld, name: str) -> None:
    wish, field, remedy = TABLE[name]
    async with world.sender(channels=()) as sender:
        before = await books(sender)
        single = await sender.client.post(HOME, json=order(**wish), headers={"Idempotency-Key": "k-1"})
        assert change(before, await books(sender)) == {}
        _named(single.status_code, single.json(), field, remedy)

        if name != "a zero character":  # That is refused before the items are looked at.
            bulk = await sender.client.post(f"{HOME}/bulk", json={"notifications": [order(**wish)]})
            [result] = bulk.json()["results"]
            _named(result["problem"]["status"], result["problem"], field, remedy)
            assert change(before, await books(sender)) == {}


def _named(status: int, problem: dict[str, Any], field: str, remedy: str) -> None:
    assert status == 400, problem
    assert [error["field"] for error in problem["errors"]] == [field], problem
    assert remedy in problem["errors"][0]["remedy"]
    assert field in problem["detail"]


async def test_everything_that_is_wrong_is_named_at_once(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        wish: dict[str, Any] = {
            "category": "gossip",
            "expires_at": at(hours=-1),
            "recipient": to("laila@"),
        }
        answer = await sender.client.post(HOME, json=order(**wish))
    fields = {error["field"] for error in answer.json()["errors"]}
    assert fields == {"recipient.addresses[0].address", "category", "expires_at"}


async def test_a_recipient_of_somebody_else_is_not_known(world: PipelineWorld) -> None:
    async with world.sender() as other, world.sender() as sender:
        theirs = (await other.send())["recipient_id"]
        before = await books(sender)
        for recipient in (theirs, RECIPIENT.new(NOON), {"id": theirs, "display_name": "Mine now"}):
            wish = order(recipient=recipient, attachments=[TEXT])
            answer = await sender.client.post(HOME, json=wish, headers={"Idempotency-Key": "k-1"})
            assert (answer.status_code, answer.json()["code"]) == (404, "recipient_not_found"), answer.text
            bulk = await sender.client.post(f"{HOME}/bulk", json={"notifications": [wish]})
            assert bulk.json()["results"][0]["problem"]["code"] == "recipient_not_found"
        # A key that was given back is kept until it is swept, and means nothing.
        assert change(before, await books(sender)).keys() <= {"notification.idempotency_keys"}
        shown = await other.client.get(f"/api/v1/recipients/{theirs}")
        assert shown.json()["display_name"] == "Laila"


async def test_a_key_that_was_used_for_something_else(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await sender.client.post(HOME, json=order(), headers={"Idempotency-Key": "k-1"})
        before = await books(sender)
        wish = order(attachments=[TEXT])
        answer = await sender.client.post(HOME, json=wish, headers={"Idempotency-Key": "k-1"})
        assert change(before, await books(sender)) == {}
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_key_reused")
    assert "new key" in answer.json()["detail"]


async def test_a_bulk_whose_key_was_used_for_something_else(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        headers = {"Idempotency-Key": "k-1"}
        await sender.client.post(f"{HOME}/bulk", json={"notifications": [order()]}, headers=headers)
        before = await books(sender)
        wish = {"notifications": [order(attachments=[TEXT])]}
        answer = await sender.client.post(f"{HOME}/bulk", json=wish, headers=headers)
        assert change(before, await books(sender)) == {}
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_key_reused")


@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (b"{", {}, 400, "malformed_body"),
        (b"[]", {}, 400, "bad_value"),
        (b"{}", {"content-type": "text/plain"}, 415, "wrong_content_type"),
        (b'{"metadata": "' + b"x" * (12 * 1024 * 1024) + b'"}', {}, 413, "body_too_large"),
        (b'{"variables": ' + b"[" * 5000 + b"]" * 5000 + b"}", {}, 400, "malformed_body"),
        (b'{"variables": {"a": "\\ud800"}}', {}, 400, "malformed_body"),
        (b'{"variables": {"a": 1e400}}', {}, 400, "malformed_body"),
        (b'{"template": "otp", "template": "otp"}', {}, 400, "bad_value"),
        (json.dumps(order()).encode(), {"idempotency-key": "with space"}, 400, "bad_value"),
        (json.dumps(order()).encode(), {"idempotency-key": "k" * 256}, 400, "bad_value"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_a_body_that_can_not_be_read(
    world: PipelineWorld, content: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    async with world.sender(channels=()) as sender:
        before = await books(sender)
        for path in (HOME, f"{HOME}/bulk"):
            answer = await sender.client.post(
                path, content=content, headers={"content-type": "application/json"} | headers
            )
            assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
        assert change(before, await books(sender)) == {}


@pytest.mark.parametrize("levels", [100, 300, 600, 900, 1500])
async def test_however_deep_it_is_nested_it_is_taken_or_refused(world: PipelineWorld, levels: int) -> None:
    deep = '{"a":' * levels + "1" + "}" * levels
    async with world.sender() as sender:
        for name in ("variables", "metadata", "recipient"):
            body = order(variables=ORDERED)
            text = json.dumps(body | {"metadata": {}}).replace('"metadata": {}', f'"metadata": {deep}')
            if name == "variables":
                text = json.dumps(body | {"variables": "HERE"}).replace('"HERE"', deep)
            elif name == "recipient":
                who = person("a@example.test", attributes="HERE")
                text = json.dumps(body | {"recipient": who}).replace('"HERE"', deep)
            bulk = f'{{"notifications": [{text}]}}'
            # A bulk of one that is refused is refused whole; one that can't be read at all is no bulk.
            for path, content, refused in ((HOME, text, {400}), (f"{HOME}/bulk", bulk, {400, 422})):
                headers = {"content-type": "application/json", "Idempotency-Key": f"{name}-{levels}"}
                answer = await sender.client.post(path, content=content, headers=headers)
                assert answer.status_code in {202, *refused}, answer.text
        await world.settle()
