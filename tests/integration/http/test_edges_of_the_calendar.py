"""Ids and times from beyond the calendar: every route answers as to any other that means nothing, none with 500."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from tests.support.http import HttpWorld
from tidings.kernel.http.resources import Declared
from tidings.kernel.moments import timed_fields

_BEYOND = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"


def routes(world: HttpWorld, *methods: str) -> Iterator[Declared]:
    for route in world.app.routes:
        if route.method in methods and route.operation.scope is not None and not route.operation.upload:
            yield route


def path_of(route: Declared) -> str:
    """The route's path with an id from the year 10889 wherever it wants an id, and a plain word elsewhere."""
    kinds = route.operation.path

    def filled(found: re.Match[str]) -> str:
        kind = kinds.get(found[1])
        return f"{kind.prefix}_{_BEYOND}" if kind is not None else "email"

    return re.sub(r"\{(\w+)\}", filled, route.path)


async def test_an_id_from_after_the_year_9999_is_an_unknown_id(world: HttpWorld) -> None:
    """It has the right form; its time has no place in a calendar, and so its row no month."""
    tenant = await world.tenant()
    answers: dict[str, int] = {}
    async with world.as_tenant(tenant.id) as ours, world.as_platform() as theirs:
        for route in routes(world, "GET"):
            # No key opens a person's own inbox: it behind it is the same as behind the tenant's way to it. Nor does one open the
            # back office.
            if route.operation.path and not route.path.startswith(("/api/v1/inbox/", "/bff/v1/")):
                internal = route.path.startswith("/internal")
                answer = await (theirs if internal else ours).get(path_of(route))
                answers[route.path] = answer.status_code

    assert len(answers) > 20
    assert {path: status for path, status in answers.items() if status not in (200, 400, 404)} == {}
    # A list of what belongs to nobody is empty, or asks for more of the request; whatever shows one thing has none.
    assert answers["/api/v1/notifications/{notification_id}"] == 404
    assert answers["/api/v1/notifications/{notification_id}/explain"] == 404
    assert answers["/api/v1/router/executions/{execution_id}"] == 404
    assert answers["/internal/v1/callbacks/{callback_id}"] == 404
    assert answers["/api/v1/recipients/{recipient_id}/inbox/{item_id}"] == 404


async def test_every_filter_by_time_refuses_what_leads_out_of_the_calendar(world: HttpWorld) -> None:
    tenant = await world.tenant()
    asked = 0
    async with world.as_tenant(tenant.id) as ours, world.as_platform() as theirs:
        for route in routes(world, "GET"):
            query: Any = route.operation.query
            for _, name in timed_fields(query) if query is not None else ():
                for edge in (
                    "0001-01-01T00:00:00+14:00",
                    "9999-12-31T23:59:59-14:00",
                    "1969-12-31T00:00:00Z",
                    "0.5",
                ):
                    client = theirs if route.path.startswith("/internal") else ours
                    answer = await client.get(f"{path_of(route)}?{name}={quote(edge)}")
                    assert answer.status_code == 400, (route.path, name, edge, answer.text)
                    assert [e["field"] for e in answer.json()["errors"]] == [name], (route.path, edge)
                    asked += 1

    assert asked > 20


async def test_a_notification_for_the_end_of_the_calendar_is_refused(world: HttpWorld) -> None:
    """One by one, and in a set where its neighbours are none the worse for it."""
    tenant = await world.tenant()
    wish = {
        "template": "otp",
        "recipient": {"addresses": [{"channel": "email", "address": "a@example.test"}]},
        "scheduled_for": "9999-12-31T23:59:59Z",
    }
    async with world.as_tenant(tenant.id) as ours:
        one = await ours.post("/api/v1/notifications", json=wish)
        many = await ours.post("/api/v1/notifications/bulk", json={"notifications": [wish]})

    assert one.status_code == 400
    assert [e["field"] for e in one.json()["errors"]] == ["scheduled_for"]
    assert many.status_code < 500
    assert "9998-12-31" in many.text
