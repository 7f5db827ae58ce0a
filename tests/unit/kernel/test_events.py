"""Events in the CloudEvents form."""

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from tests.support.clock import ManualClock
from tidings.kernel.errors import BadValueError
from tidings.kernel.events import Event, envelope_of, from_cloudevent, from_stored, new_event, to_cloudevent
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


def _arriving(**changes: Any) -> bytes:
    values: dict[str, Any] = {
        "specversion": "1.0",
        "id": "evt_01JCQ000000000000000000000",
        "source": "/shop",
        "type": "order.placed.v1",
        "data": {"order": 7},
    }
    return msgspec.json.encode({k: v for k, v in (values | changes).items() if v is not None})


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
    """From the outbox and from the wire."""
    event = _event(**changes)

    assert from_stored(envelope_of(event), event.data) == event
    assert from_cloudevent(to_cloudevent(event), clock=CLOCK) == event


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


def test_a_strangers_event_needs_only_what_cloudevents_requires() -> None:
    """It happens now, is ordered with nothing, and its unknown attributes are passed over."""
    event = from_cloudevent(_arriving(comexampleextension="x"), clock=CLOCK)

    assert event.time == CLOCK.now()
    assert event.ordering_key == event.id
    assert event.tenant_id is None
    assert event.payload() == {"order": 7}


def test_a_strangers_time_becomes_utc() -> None:
    """Whatever its offset."""
    event = from_cloudevent(_arriving(time="2026-11-15T13:30:00+03:30"), clock=CLOCK)

    assert event.time == datetime(2026, 11, 15, 10, 0, tzinfo=UTC)
    assert event.time.tzinfo is UTC


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", "event"),
        (b"{", "event"),
        (b"[]", "event"),
        (b"{}", "specversion"),
        (_arriving(id=None), "id"),
        (_arriving(id=3), "id"),
        (_arriving(id="evt_1"), "id"),
        (_arriving(source=None), "source"),
        (_arriving(source=""), "source"),
        (_arriving(specversion="0.3"), "specversion"),
        (_arriving(type="Order.Placed"), "type"),
        (_arriving(type="order.placed"), "type"),
        (_arriving(type="a." * 120 + "v1"), "type"),
        (_arriving(time="yesterday"), "time"),
        (_arriving(time="2026-11-15T12:00:00"), "time"),
        (_arriving(tenantid="tnt_1"), "tenantid"),
        (_arriving(partitionkey=""), "partitionkey"),
        (_arriving(partitionkey="a\nb"), "partitionkey"),
        (_arriving(traceparent="00-1"), "traceparent"),
        (_arriving(schemaversion="one"), "schemaversion"),
        (_arriving(datacontenttype="text/xml"), "datacontenttype"),
        (_arriving().replace(b'{"order":7}', b'"\xff"'), "data"),
    ],
)
def test_bad_input_names_the_attribute(body: bytes, field: str) -> None:
    """And nothing else is raised."""
    with pytest.raises(BadValueError) as caught:
        from_cloudevent(body, clock=CLOCK)

    assert caught.value.field == field


def test_our_own_mistakes_are_refused_too() -> None:
    """Before anything is written."""
    for changes in ({"subject": "tenant.created"}, {"ordering_key": ""}, {"source": "x" * 201}):
        with pytest.raises(BadValueError):
            _event(**changes)


def test_ids_are_the_kernels() -> None:
    """A consumer's ledger knows no others."""
    assert EVENT.parse(_event().id)
