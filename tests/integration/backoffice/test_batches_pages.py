"""Pages of batches: the builder with its count, drafts, starting and stopping, lists, the ledger, the report."""

import re
from typing import Any

import pytest

from tests.integration.templates.drafts import draft
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.notify.tenants.model import Tenant

HERE = "/console/batches"
HOSTILE = '"><script>alert(1)</script>'
WRITTEN = {
    "name": "Reopening",
    "template": "welcome",
    "channel": "email",
    "audience": "filter",
    "filter": "tag = 'vip'",
    "variables": '{"name": "Laila"}',
    "priority": "low",
    "per_minute": "60",
    "window_start": "09:00",
    "window_end": "18:00",
    "window_timezone": "recipient",
    "day_mon": "on",
    "day_fri": "on",
    "share_0_percent": "20",
    "share_0_variables": '{"name": "Friend"}',
}


@pytest.fixture
async def house(admin: SignedIn) -> SignedIn:
    """An admin of a tenant with a template and three people."""
    await admin.post("/api/v1/templates/welcome/email/versions", draft())
    await admin.post("/api/v1/templates/welcome/email/versions/1.0.0/publish")
    for number in range(3):
        made = await admin.post(
            "/api/v1/recipients",
            {
                "identity": {"type": "guest", "id": f"g-{number}"},
                "tags": ["vip"] if number else ["press"],
                "locale": "en",
                "addresses": [{"channel": "email", "address": f"guest{number}@example.com"}],
            },
        )
        assert made.status_code in (200, 201), made.text
    return admin


async def written(who: SignedIn, **fields: str) -> str:
    """The id of a draft that the form has made."""
    await who.browser.open(f"{HERE}/new")
    answer = await who.browser.post(f"{HERE}/new", follow=False, **{**WRITTEN, **fields})
    assert answer.status_code == 303, answer.text
    found = re.search(r"/console/batches/(dbt_\w+)\?told=batch_written", answer.headers["location"])
    assert found is not None
    return found[1]


async def stored(who: SignedIn, batch_id: str) -> Any:
    return (await who.get(f"/api/v1/batches/{batch_id}")).json()


async def do(who: SignedIn, batch_id: str, what: str) -> str:
    await who.browser.open(f"{HERE}/{batch_id}")
    version = str((await stored(who, batch_id))["version"])
    await who.browser.post(f"{HERE}/{batch_id}/{what}", version=version)
    return who.browser.html


async def test_the_count_follows_what_is_typed_and_nothing_is_written(house: SignedIn) -> None:
    at = house.browser
    await at.open(f"{HERE}/new?filter=tag%20=%20'vip'")
    assert "tag = &#x27;vip&#x27;</textarea>" in at.html
    await at.post(f"{HERE}/count", follow=True, **WRITTEN)
    people = re.search(r'<span class="label">People</span><strong>(\d+)</strong>', at.html)
    assert people is not None
    assert people[1] == "2"
    assert at.html.count("g…@e….com") == 2
    await at.post(f"{HERE}/count", follow=True, **{**WRITTEN, "filter": "tag = vip"})
    assert "texts are written between" in at.html
    await at.post(f"{HERE}/count", follow=True, **{**WRITTEN, "variables": "{nothing"})
    assert "is no JSON" in at.html
    assert (await house.get("/api/v1/batches")).json()["items"] == []


async def test_a_draft_is_written_as_typed_and_edited_without_losing_anything(house: SignedIn) -> None:
    at = house.browser
    batch_id = await written(house)
    batch = await stored(house, batch_id)
    assert (batch["filter"], batch["pacing"]["per_minute"]) == ("tag = 'vip'", 60)
    assert (batch["window"]["days"], batch["window"]["timezone"]) == (["mon", "fri"], "recipient")
    assert batch["variants"][0]["percent"] == 20
    variables = await house.get(f"/api/v1/batches/{batch_id}/variables")
    assert variables.json() == {"variables": {"name": "Laila"}, "variants": [{"name": "Friend"}]}

    await at.open(f"{HERE}/{batch_id}/edit")
    shown = dict(re.findall(r'<(?:input|select)[^>]* name="(\w+)"[^>]* value="([^"]*)"', at.html))
    assert (shown["name"], shown["window_start"], shown["share_0_percent"]) == ("Reopening", "09:00", "20")
    assert "&quot;name&quot;: &quot;Friend&quot;" in at.html
    await at.post(f"{HERE}/{batch_id}/edit", follow=True, **{**WRITTEN, "name": "Other", "version": "1"})
    assert "Saved." in at.html
    now = await stored(house, batch_id)
    assert now["name"] == "Other"

    # Somebody else had the older version open.
    await at.open(f"{HERE}/{batch_id}/edit")
    await at.post(f"{HERE}/{batch_id}/edit", follow=True, **{**WRITTEN, "name": "Mine", "version": "1"})
    assert at.last is not None
    assert at.last.status_code == 412
    assert "Somebody else has changed it meanwhile" in at.html
    assert 'value="Mine"' in at.html
    assert (await stored(house, batch_id))["name"] == "Other"


async def test_mistakes_stand_beside_their_fields(house: SignedIn) -> None:
    at = house.browser
    await at.open(f"{HERE}/new")
    wrong = {
        "template": "no_such_template",
        "window_end": "09:00",
        "share_0_percent": "20",
        "share_0_variables": "",
    }
    await at.post(f"{HERE}/new", follow=True, **{**WRITTEN, **wrong})
    assert at.last is not None
    assert at.last.status_code == 400
    assert 'aria-invalid="true"' in at.html
    assert "must differ from start" in at.html
    await at.post(f"{HERE}/new", follow=True, **{**WRITTEN, "filter": "", "variables": "[1]"})
    assert "says whom it is for" in at.html
    assert "must be an object such as" in at.html


async def test_a_batch_is_started_paused_resumed_and_cancelled(house: SignedIn) -> None:
    batch_id = await written(house, share_0_percent="", share_0_variables="")
    html = await do(house, batch_id, "start")
    assert "It has started." in html
    assert 'data-live="2"' in html
    assert (await stored(house, batch_id))["status"] == "running"
    assert "It is paused" in await do(house, batch_id, "pause")
    assert "It goes on where it stood." in await do(house, batch_id, "resume")
    assert "It is cancelled." in await do(house, batch_id, "cancel")
    assert "That is not possible in its present state." in await do(house, batch_id, "start")
    await house.browser.open(f"{HERE}/{batch_id}/people?state=delivered")
    assert "No line fits." in house.browser.html
    await house.browser.open(f"{HERE}/{batch_id}/report?verify=true")
    assert "agrees with the totals" in house.browser.html
    assert "This is the copy, a new draft." in await do(house, batch_id, "clone")
    await house.browser.open(f"{HERE}?status=cancelled")
    assert batch_id in house.browser.html
    assert (await house.get(f"{HERE}/dbt_nothing")).status_code in (400, 404)


async def test_a_colleague_approves_what_waits_for_it(
    world: HttpWorld, tenant: Tenant, house: SignedIn
) -> None:
    colleague = await an_operator(world, tenant.id, name="Omid Karimi", email="omid")
    batch_id = await written(house, needs_approval="on")
    assert "Your colleagues are told" in await do(house, batch_id, "ask")
    await colleague.browser.open(f"{HERE}/{batch_id}")
    assert "Laila Noor asks for approval" in colleague.browser.html
    refused = await do(house, batch_id, "start")
    assert 'role="alert"' in refused
    assert "It is approved." in await do(colleague, batch_id, "approve")
    assert "It has started." in await do(house, batch_id, "start")


async def test_a_list_is_tried_and_taken(house: SignedIn) -> None:
    batch_id = await written(house, audience="list", filter="", share_0_percent="", share_0_variables="")
    await house.browser.open(f"{HERE}/{batch_id}")

    async def send(content: str, what: str) -> str:
        answer = await house.browser.client.post(
            f"{HERE}/{batch_id}/upload",
            data={"csrf": house.csrf, "do": what},
            files={"file": ("people.csv", content.encode(), "text/csv")},
            headers={"sec-fetch-site": "same-origin"},
        )
        return str(answer.text)

    people = "email,locale,name\nlaila@example.com,en,Laila\nnot-an-address,en,Omid\n"
    tried = await send(people, "try")
    assert "Nothing was written" in tried
    assert "Line 3" in tried
    taken = await send(people, "take")
    assert re.search(r'<span class="label">Refused</span><strong>1</strong>', taken)
    assert (await house.post(f"/api/v1/batches/{batch_id}/dry-run")).json()["count"] == 1
    assert 'role="alert"' in await send(f"email,{HOSTILE}\na@example.com,1\n", "take")


async def test_viewers_look_and_texts_of_strangers_are_text(
    world: HttpWorld, tenant: Tenant, house: SignedIn
) -> None:
    batch_id = await written(house, name=HOSTILE)
    viewer = await an_operator(world, tenant.id, role="tenant.viewer", email="viewer")
    for path in (HERE, f"{HERE}/{batch_id}"):
        await viewer.browser.open(path)
        assert HOSTILE not in viewer.browser.html
        assert "&lt;script&gt;alert(1)" in viewer.browser.html
        assert "/start" not in viewer.browser.html
        assert f"{HERE}/new" not in viewer.browser.html
    answer = await viewer.browser.post(f"{HERE}/{batch_id}/start", version="1")
    assert answer.status_code == 403
    await viewer.browser.open(f"{HERE}/{batch_id}/edit")
    assert "Your role may not do that." in viewer.browser.html
    assert (await stored(house, batch_id))["status"] == "draft"
