"""Paths, variables and resolvers over an event."""

from typing import Any

import pytest

from tidings.kernel.errors import BadValueError
from tidings.notify.triggers.change import faults_of
from tidings.notify.triggers.paths import parse_path
from tidings.notify.triggers.resolvers import Circle, recipients_of
from tidings.notify.triggers.shipped_sets import read_sets
from tidings.notify.triggers.variables import VariablesTooLargeError, variables_of, wrong_variables
from tidings.notify.triggers.wire import PutTrigger

ANNA = {"identity": {"type": "guest", "id": "anna"}}
BEN = {"identity": {"type": "guest", "id": "ben"}}
EVENT: dict[str, Any] = {
    "type": "reservation.confirmed",
    "subject": "res-1",
    "data": {
        "place": "Kabul",
        "rooms": [{"kind": "single"}, {"kind": "double"}],
        "guests": [ANNA, BEN | {"primary": True}],
        "odd name": 7,
        "nothing": None,
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.data.place", ["Kabul"]),
        ("$.data.rooms[1].kind", ["double"]),
        ("$.data.rooms[*].kind", ["single", "double"]),
        ("$.data['odd name']", [7]),
        ("$.subject", ["res-1"]),
        ("$.data.rooms[5].kind", []),
        ("$.data.place.deeper", []),
        ("$.data.nothing", []),
    ],
)
def test_a_path_finds_what_is_there(path: str, found: list[Any]) -> None:
    assert parse_path(path, field="x").find(EVENT) == found


@pytest.mark.parametrize(
    "path", ["$", "data.place", "$data", "$.", "$..a", "$.a[", "$.a[x]", "$.a b", "$.a" * 80]
)
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(BadValueError) as refused:
        parse_path(path, field="anchor")

    assert refused.value.field == "anchor"


def test_variables_are_paths_and_constants() -> None:
    mapping = {
        "place": "$.data.place",
        "missing": "$.data.missing",
        "kinds": "$.data.rooms[*].kind",
        "price": "$$.50",
        "count": 3,
        "nested": {"first": "$.data.rooms[0].kind", "gone": "$.data.gone", "list": ["a", "$.subject"]},
    }

    assert variables_of(mapping, EVENT) == {
        "place": "Kabul",
        "kinds": ["single", "double"],
        "price": "$.50",
        "count": 3,
        "nested": {"first": "single", "list": ["a", "res-1"]},
    }
    assert wrong_variables(mapping) == []
    wrong = wrong_variables({"a": "$.x[", "b": {"c": "$5"}})
    assert [one.field for one in wrong] == ["variables.a", "variables.b.c"]


@pytest.mark.parametrize(
    ("resolvers", "data", "found"),
    [
        (["primary_guest"], {"guests": EVENT["data"]["guests"]}, [BEN]),
        (["primary_guest"], {"guests": [ANNA, BEN]}, [ANNA]),
        (["primary_guest"], {"guest": ANNA, "guests": [BEN]}, [ANNA]),
        (["primary_guest"], {"primary_guest": "rcp_1", "guest": ANNA}, ["rcp_1"]),
        (["primary_guest"], {}, []),
        (["iam_subject"], {"user_id": 7}, [{"identity": {"type": "user", "id": "7"}}]),
        (["iam_subject"], {}, [{"identity": {"type": "user", "id": "res-1"}}]),
        (["vendor_assignee"], {"vendor": ANNA}, [ANNA]),
        (["vendor_assignee"], {"vendor": ANNA, "assignee": BEN}, [BEN]),
        (["tenant_admins"], {}, [Circle.TENANT_ADMINS]),
        (["$.data.all"], {"all": [ANNA, BEN, ANNA]}, [ANNA, BEN]),
        (["$.data.guest", "vendor_assignee"], {"guest": ANNA, "vendor": BEN}, [ANNA, BEN]),
        (["$.data.count"], {"count": 5}, []),
    ],
)
def test_resolvers_find_people(resolvers: list[str], data: dict[str, Any], found: list[Any]) -> None:
    assert recipients_of(resolvers, EVENT | {"data": data}) == found


def test_every_fault_of_a_trigger_is_named_at_once() -> None:
    wish = PutTrigger(
        event_type="notification.delivered.v1",
        template="x",
        recipient=["$.data.guest", "everybody"],
        variables={"a": "$.["},
        anchor="soon",
        offset="two days",
        local_time="09:00Z",
        condition="data.nights >",
        cancelled_by=["tenant.created.v1", "a", "a"],
        subject="$",
    )

    wrong = {one.field: one.remedy for one in faults_of(wish)}

    assert set(wrong) == {
        "event_type",
        "recipient[1]",
        "variables.a",
        "anchor",
        "offset",
        "local_time",
        "condition",
        "cancelled_by[0]",
        "cancelled_by",
        "subject",
    }
    assert "without end" in wrong["event_type"]
    assert "^" in wrong["condition"], "it points at the place"


def test_a_condition_may_name_the_event_and_nothing_else() -> None:
    fine = PutTrigger(
        event_type="a", template="x", recipient="$.data.a", condition="data.n > 1 and source = '/a'"
    )
    strange = PutTrigger(event_type="a", template="x", recipient="$.data.a", condition="tag = 'vip'")

    assert faults_of(fine) == []
    assert [one.field for one in faults_of(strange)] == ["condition"]


@pytest.mark.parametrize("name", sorted(read_sets()))
def test_the_shipped_sets_are_in_order(name: str) -> None:
    shipped = read_sets()[name]

    assert [fault for one in shipped for fault in faults_of(one.wish(enabled=True))] == []
    assert len({one.key for one in shipped}) == len(shipped)
    assert set(read_sets()) == {"hotel", "school"}


@pytest.mark.parametrize(
    ("mapping", "data"),
    [
        # Each names all of a large event again.
        ({f"v{n}": "$.data.items[*]" for n in range(2_000)}, {"items": ["x" * 100] * 2_000}),
        ({f"v{n}": "$.data" for n in range(2_000)}, {"text": "x" * 200_000}),
        # They lead nowhere, after a long way.
        ({f"v{n}": "$.data.items[*].name" for n in range(2_000)}, {"items": [{}] * 50_000}),
        ({"rooms": [{"all": "$.data.items[*]"}] * 2_000}, {"items": [1] * 2_000}),
    ],
)
def test_what_paths_lead_to_has_a_budget(mapping: dict[str, Any], data: dict[str, Any]) -> None:
    with pytest.raises(VariablesTooLargeError):
        variables_of(mapping, EVENT | {"data": data})


def test_a_list_of_a_thousand_is_within_the_budget() -> None:
    lines = [{"name": f"item {n}"} for n in range(1_000)]

    found = variables_of({"names": "$.data.lines[*].name"}, EVENT | {"data": {"lines": lines}})

    assert len(found["names"]) == 1_000
