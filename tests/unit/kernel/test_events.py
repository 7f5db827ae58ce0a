"""Events in the CloudEvents form."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.clock import ManualClock
from tidings.kernel.errors import BadValueError
from tidings.kernel.events import (
    Event,
    attributes_of,
    envelope_of,
    from_row,
    from_stored,
    new_event,
    to_cloudevent,
)
from tidings.kernel.ids import EVENT, TENANT, time_of

CLOCK = ManualClock()
TENANT_ID = TENANT.new(CLOCK.now())


def _event(**changes: Any) -> Event:
    values: dict[str, Any] = {
        "subject": "tenant.created.v1",
        "data": {"name": "Ноль \x00 and ☃", "n": 1},
        "tenant_id": TENANT_ID,
        "ordering_key": TENANT_ID,
        "source": "/tidings/notify",
        "clock": CLOCK,
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    }
    return new_event(**(values | changes))


def test_a_new_event_happens_now() -> None:
    """Its id carries the same moment."""
    event = _event()

    assert event.time == CLOCK.now()
    assert time_of(event.id) == CLOCK.now()
    assert event.payload() == {"name": "Ноль \x00 and ☃", "n": 1}


def test_order_holds_within_a_tenant() -> None:
    """The same key of another tenant is another lane."""
    lanes = {_event(tenant_id=tenant, ordering_key="k").lane for tenant in (None, TENANT_ID)}

    assert lanes == {"/k", f"{TENANT_ID}/k"}


@pytest.mark.parametrize(
    "changes", [{}, {"tenant_id": None}, {"traceparent": None}, {"schema_version": "1.3"}]
)
def test_an_event_comes_back_as_it_was(changes: dict[str, Any]) -> None:
    """From where it was set aside, from the stream, and from a row of the stream with the whole envelope."""
    event = _event(**changes)

    assert from_stored(envelope_of(event), event.data) == event
    for envelope in (attributes_of(event), envelope_of(event)):
        assert from_row(_row(event, envelope)) == event


@pytest.mark.parametrize("of_row", [attributes_of, envelope_of])
def test_a_time_that_is_not_the_ids_is_kept(of_row: Callable[[Event], str]) -> None:
    event = replace(_event(), happened_at=CLOCK.now() - timedelta(microseconds=1))

    assert event.time == event.happened_at
    assert from_row(_row(event, of_row(event))).time == event.time


def test_a_row_stores_what_its_columns_do_not_say() -> None:
    """Of most events the source, and the trace where there is one."""
    event = _event()
    said = {"source": event.source, "traceparent": event.traceparent}
    assert json.loads(attributes_of(event)) == said
    assert json.loads(attributes_of(_event(traceparent=None))) == {"source": event.source}
    assert json.loads(attributes_of(_event(schema_version="1.3"))) == said | {"schemaversion": "1.3"}


def _row(event: Event, envelope: str) -> dict[str, Any]:
    names = ("id", "tenant_id", "subject", "ordering_key")
    return {name: getattr(event, name) for name in names} | {"envelope": envelope, "payload": event.data}


def test_the_wire_form_is_cloudevents() -> None:
    """Attribute names are lower-case letters and digits; optional ones are left out."""
    event = _event(tenant_id=None, traceparent=None)

    assert json.loads(to_cloudevent(event)) == {
        "specversion": "1.0",
        "id": event.id,
        "source": "/tidings/notify",
        "type": "tenant.created.v1",
        "time": "2026-11-15T12:00:00Z",
        "partitionkey": TENANT_ID,
        "schemaversion": "1.0",
        "datacontenttype": "application/json",
        "data": {"name": "Ноль \x00 and ☃", "n": 1},
    }


def test_our_own_mistakes_are_refused_too() -> None:
    """Before anything is written."""
    for changes in ({"subject": "tenant.created"}, {"ordering_key": ""}, {"source": "x" * 201}):
        with pytest.raises(BadValueError):
            _event(**changes)


def test_ids_are_the_kernels() -> None:
    """A consumer's ledger knows no others."""
    assert EVENT.parse(_event().id)
