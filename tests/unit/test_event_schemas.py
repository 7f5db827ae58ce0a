"""The contracts of events: files that are fresh, a document that holds together, and versions that only grow."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from tools.event_growth import breaking_changes
from tools.event_schemas import released, stale

from tests.support.released_openapi import today
from tidings.contracts.event_schemas import event_schemas
from tidings.contracts.events import EVENTS, HEARD_EVENTS, TOLD_BY_OTHERS
from tidings.kernel.asyncapi import EventDocs, asyncapi_document
from tidings.kernel.event_schemas import schemas_of


def _document() -> dict[str, Any]:
    docs = EventDocs(schemas=event_schemas, heard=HEARD_EVENTS, told_by_others=TOLD_BY_OTHERS)
    return asyncapi_document(docs, title="Events", version="1")


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for one in part:
            yield from _references(one)


def test_the_files_are_as_the_contracts_say() -> None:
    assert stale() == []
    assert event_schemas() == json.loads(json.dumps(schemas_of(EVENTS)))


@pytest.mark.parametrize("subject", sorted(EVENTS))
def test_every_schema_is_one_and_is_open(subject: str) -> None:
    schema = event_schemas()[subject]

    assert jsonschema_rs.meta.is_valid(schema)
    assert '"additionalProperties": false' not in json.dumps(schema)


def test_every_reference_of_the_document_leads_somewhere() -> None:
    document = _document()

    for reference in set(_references(document)):
        found: Any = document
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]
        assert found


def test_a_message_of_the_document_takes_an_event_as_it_is_published() -> None:
    document = _document()
    event = {
        "specversion": "1.0",
        "id": "evt_1",
        "source": "/tidings/notify",
        "type": "recipient.erased.v1",
        "time": "2026-11-16T10:00:00Z",
        "tenantid": "tnt_1",
        "partitionkey": "rcp_1",
        "schemaversion": "1.0",
        "datacontenttype": "application/json",
        "data": {"recipient_id": "rcp_1", "erasure_id": "era_1", "erased_at": "2026-11-16T10:00:00Z"},
    }
    whole = {**document["components"]["messages"]["recipient.erased.v1"]["payload"], **document}
    takes = jsonschema_rs.validator_for(whole, validate_formats=True).is_valid

    assert takes(event)
    assert not takes({**event, "type": "recipient.erased.v2"})
    assert not takes({**event, "data": {}})


def test_the_document_says_who_tells_whom() -> None:
    operations = _document()["operations"]

    assert operations["publish-notification.queued.v1"]["action"] == "send"
    assert operations["hear-tenant.created.v1"]["action"] == "receive"
    assert "publish-iam.user.deleted.v1" not in operations


def test_the_document_is_served() -> None:
    assert "/asyncapi.json" in today()["paths"]


def test_nothing_breaks_readers_of_the_last_release() -> None:
    assert breaking_changes(released(), schemas_of(EVENTS)) == []


def _changed(change: str) -> dict[str, dict[str, Any]]:
    after = copy.deepcopy(released())
    moved = after["notification.queued.v1"]
    match change:
        case "removed event":
            del after["notification.queued.v1"]
        case "removed field":
            del moved["properties"]["reason"]
        case "new required field":
            moved["properties"]["extra"] = {"type": "string"}
            moved["required"].append("extra")
        case "required now":
            moved["required"].append("reason")
        case "not always there":
            moved["required"].remove("status")
        case "another type":
            moved["properties"]["status"] = {"type": "integer"}
        case "null no more":
            moved["properties"]["reason"] = {"type": "string"}
        case "null now":
            moved["properties"]["status"] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
        case "a tighter bound":
            moved["properties"]["status"]["maxLength"] = 3
        case "a lost word":
            after["notification.delivery.outcome.v1"]["properties"]["result"]["enum"].remove("FAILED")
        case "inside a list":
            del after["notification.delivery.outcome.v1"]["$defs"]["AttemptTold"]["properties"]["vendor"]
    return after


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("removed event", "notification.queued.v1: is not declared any more"),
        ("removed field", "data.reason was removed"),
        ("new required field", "data.extra is new and required"),
        ("required now", "data.reason may be left out no more"),
        ("not always there", "data.status was always there"),
        ("another type", "data.status was string and is integer"),
        ("null no more", "data.reason was null or string and is string"),
        ("null now", "data.status was string and is null or string"),
        ("a tighter bound", "data.status is narrowed by maxLength 3"),
        ("a lost word", "data.result no longer knows FAILED"),
        ("inside a list", "data.attempts[].vendor was removed"),
    ],
)
def test_what_breaks_a_reader_is_found_and_says_what_to_do(change: str, said: str) -> None:
    [found] = breaking_changes(released(), _changed(change))

    assert said in found
    assert "declare the next version" in found


def test_growth_is_no_change() -> None:
    after = copy.deepcopy(released())
    after["notification.queued.v1"]["properties"]["extra"] = {"type": "string", "default": ""}
    after["notification.delivery.outcome.v1"]["properties"]["result"]["enum"].append("NEW")
    after["brand.new.v1"] = {"type": "object", "properties": {}, "required": []}

    assert breaking_changes(released(), after) == []
