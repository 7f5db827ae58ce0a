"""Pages of triggers and events: writing one, what an event would do, what came of it, sending it again."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.integration.templates.drafts import draft
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.notify.tenants.model import Tenant

HERE = "/console/triggers"
HOSTILE = '"><script>alert(1)</script>'
GUEST = {
    "identity": {"type": "guest", "id": "g-1"},
    "locale": "en",
    "addresses": [{"channel": "email", "address": "laila@example.com"}],
}
EVENT: dict[str, Any] = {
    "specversion": "1.0",
    "id": "res-1",
    "source": "/hotels/kabul",
    "type": "reservation.confirmed",
    "subject": "R-1",
    "data": {
        "guest": GUEST,
        "nights": 3,
        "starts_at": f"{datetime.now(UTC) + timedelta(days=60):%Y-%m-%d}T15:00:00Z",
        "name": HOSTILE,
    },
}
WRITTEN = {
    "name": "Two days before",
    "event_type": "reservation.confirmed",
    "condition": "data.nights >= 2",
    "recipient": "$.data.guest",
    "template": "welcome",
    "channel": "email",
    "variables": '{"name": "$.data.name"}',
    "anchor": "$.data.starts_at",
    "direction": "before",
    "count": "2",
    "unit": "days",
    "local_time": "09:00",
    "cancelled_by": "reservation.cancelled, reservation.no_show",
    "enabled": "on",
}


@pytest.fixture
async def house(admin: SignedIn) -> SignedIn:
    """An admin of a tenant with a template."""
    await admin.post("/api/v1/templates/welcome/email/versions", draft())
    await admin.post("/api/v1/templates/welcome/email/versions/1.0.0/publish")
    return admin


async def written(who: SignedIn, **fields: str) -> str:
    """The id of a trigger that the form has made."""
    await who.browser.open(f"{HERE}/new")
    answer = await who.browser.post(f"{HERE}/new", follow=False, **{**WRITTEN, **fields})
    assert answer.status_code == 303, answer.text
    found = re.search(r"/console/triggers/(trg_\w+)\?", answer.headers["location"])
    assert found is not None
    return found[1]


async def stored(who: SignedIn, trigger_id: str) -> Any:
    return (await who.get(f"/api/v1/triggers/{trigger_id}")).json()


async def sent(who: SignedIn, **changes: Any) -> str:
    answer = await who.post("/api/v1/events", EVENT | changes)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def test_a_trigger_is_written_as_people_say_it_and_changed(house: SignedIn) -> None:
    at = house.browser
    trigger_id = await written(house)
    made = await stored(house, trigger_id)
    assert (made["offset"], made["local_time"], made["recipient"]) == ("-P2D", "09:00", "$.data.guest")
    assert made["cancelled_by"] == ["reservation.cancelled", "reservation.no_show"]
    await at.open(HERE)
    assert "2 days" in at.html
    assert "$.data.starts_at" in at.html

    await at.open(f"{HERE}/{trigger_id}")
    await at.post(
        f"{HERE}/{trigger_id}", follow=True, **{**WRITTEN, "count": "90", "unit": "minutes", "version": "1"}
    )
    assert "Saved." in at.html
    assert (await stored(house, trigger_id))["offset"] == "-PT90M"
    assert "<del>P2D</del>" in at.html
    await at.post(f"{HERE}/{trigger_id}", follow=True, **{**WRITTEN, "name": "Mine", "version": "1"})
    assert at.last is not None
    assert at.last.status_code == 412
    assert 'value="Mine"' in at.html
    assert (await stored(house, trigger_id))["name"] == "Two days before"


async def test_mistakes_stand_beside_their_fields_with_what_was_typed(house: SignedIn) -> None:
    at = house.browser
    await at.open(f"{HERE}/new")
    await at.post(f"{HERE}/new", follow=True, **{**WRITTEN, "condition": "data.nights >=", "name": HOSTILE})
    assert at.last is not None
    assert at.last.status_code == 400
    assert 'id="condition-error"' in at.html
    assert 'value="data.nights &gt;="' in at.html
    assert HOSTILE not in at.html
    await at.post(f"{HERE}/new", follow=True, **{**WRITTEN, "variables": "{nothing"})
    assert 'id="variables-error"' in at.html
    assert (await house.get("/api/v1/triggers")).json()["items"] == []


async def test_it_says_what_an_event_would_do_and_why(house: SignedIn) -> None:
    at = house.browser
    trigger_id = await written(house)
    await at.open(f"{HERE}/rehearse?trigger={trigger_id}")
    shown = re.search(r'<textarea name="event"[^>]*>\n(.*?)</textarea>', at.html, re.DOTALL)
    assert shown is not None
    assert "reservation.confirmed" in shown[1]

    await at.post(f"{HERE}/rehearse", event=json.dumps(EVENT))
    assert '<span class="badge good">Sends</span>' in at.html
    assert "l…@e….com" in at.html
    # In what was pasted, and nowhere else.
    assert at.html.count("laila@example.com") == 1
    await at.post(f"{HERE}/rehearse", event=json.dumps(EVENT | {"data": {**EVENT["data"], "nights": 1}}))
    assert "Sends nothing" in at.html
    await at.post(f"{HERE}/rehearse", event=json.dumps(EVENT | {"type": "nobody.hears.it"}))
    assert "No trigger hears it." in at.html
    await at.post(f"{HERE}/rehearse", event="{nothing")
    assert "is no JSON" in at.html
    assert "{nothing</textarea>" in at.html
    await at.post(f"{HERE}/rehearse", event='{"specversion": "1.0"}')
    assert 'class="faults"' in at.html
    assert (await house.get("/api/v1/events/received")).json()["items"] == []


async def test_an_event_shows_what_it_says_and_is_sent_again_as_a_new_one(house: SignedIn) -> None:
    at = house.browser
    event_id = await sent(house)
    await at.open("/console/events?type=reservation.confirmed")
    assert f"/console/events/{event_id}" in at.html
    await at.open(f"/console/events/{event_id}")
    assert "Nothing so far" in at.html
    assert "R-1" in at.html
    assert HOSTILE not in at.html
    await at.open(f"{HERE}/rehearse?event={event_id}")
    assert "laila@example.com" in at.html

    await at.open(f"/console/events/{event_id}")
    for _ in range(2):
        await at.post(f"/console/events/{event_id}/replay")
        assert "It was sent again; this is the new one." in at.html
        await house.who.code()
    found = (await house.get("/api/v1/events/received")).json()["items"]
    assert len(found) == 3
    whole = [(await house.get(f"/api/v1/events/received/{one['id']}")).json() for one in found]
    assert len({one["source_event_id"] for one in whole}) == 3
    assert all(one["data"] == EVENT["data"] for one in whole)


async def test_it_is_switched_off_and_on_and_deleted(house: SignedIn) -> None:
    at = house.browser
    trigger_id = await written(house)
    await at.open(f"{HERE}/{trigger_id}")
    await at.post(f"{HERE}/{trigger_id}/disable")
    assert "It fires no more" in at.html
    assert (await stored(house, trigger_id))["enabled"] is False
    await at.post(f"{HERE}/{trigger_id}/enable")
    assert (await stored(house, trigger_id))["enabled"] is True
    await at.open(f"{HERE}/firings?trigger={trigger_id}")
    assert "Nothing fits." in at.html
    await at.post(f"{HERE}/{trigger_id}/delete", csrf=house.csrf)
    assert "It is deleted." in at.html
    assert (await house.get(f"/api/v1/triggers/{trigger_id}")).status_code == 404


async def test_viewers_look_and_change_nothing(world: HttpWorld, tenant: Tenant, house: SignedIn) -> None:
    trigger_id = await written(house)
    event_id = await sent(house)
    viewer = await an_operator(world, tenant.id, role="tenant.viewer", email="viewer")
    at = viewer.browser
    await at.open(f"{HERE}/{trigger_id}")
    assert "Two days before" in at.html
    assert "<textarea" not in at.html
    assert "/disable" not in at.html
    await at.open(f"/console/events/{event_id}")
    assert "/replay" not in at.html
    for path in (
        f"{HERE}/{trigger_id}/disable",
        f"{HERE}/{trigger_id}/delete",
        f"/console/events/{event_id}/replay",
    ):
        answer = await at.client.post(
            path, data={"csrf": viewer.csrf}, headers={"sec-fetch-site": "same-origin"}
        )
        assert answer.status_code == 403, path
    assert (await stored(house, trigger_id))["enabled"] is True
