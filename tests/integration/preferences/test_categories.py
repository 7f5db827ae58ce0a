"""Categories as a resource: the platform's registry, tenants' own, and what people see of them."""

import re
from typing import Any

import httpx2
import pytest

from tests.integration.preferences.visitors import uses, visitor
from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, person

pytestmark = pytest.mark.xdist_group("preferences-categories")

HOME = "/api/v1/categories"
PLATFORM = "/internal/v1/categories"
STAYS = {"category": "stays", "use_case": "txn", "names": {"en": "Your stay", "fa-AF": "اقامت شما"}}


async def change(client: httpx2.AsyncClient, path: str, **changes: Any) -> httpx2.Response:
    tag = (await client.get(path)).headers["etag"]
    return await client.patch(path, json=changes, headers={"If-Match": tag})


def legends(page: httpx2.Response) -> list[str]:
    return re.findall(r"<legend>([^<]*)</legend>", page.text)


async def test_a_page_shows_what_the_tenant_sends_by_its_own_names_and_in_its_order(
    world: PipelineWorld,
) -> None:
    async with world.sender() as sender:
        client = sender.client
        laila = await visitor(world, sender)
        before = legends(await laila.browser.get(f"/p/{laila.token}"))
        await client.post(HOME, json=STAYS)
        unused_yet = legends(await laila.browser.get(f"/p/{laila.token}"))
        await uses(sender, "stays")
        await change(client, f"{HOME}/stays", position=1)
        renamed = await change(client, f"{HOME}/reminder", names={"en": "Before you arrive"}, position=2)
        hidden = await change(client, f"{HOME}/social", hidden=True)
        after = legends(await laila.browser.get(f"/p/{laila.token}"))
        asked = await laila.browser.get(f"/u/{laila.token}")

    assert "Your stay" not in before
    assert unused_yet == before
    assert (renamed.status_code, hidden.status_code) == (200, 200)
    assert after[:2] == ["Your stay", "Before you arrive"]
    assert len(after) == len(before)
    assert "From other people" in before
    assert "From other people" not in after
    assert "<b>Before you arrive</b>" in asked.text


async def test_a_hotel_is_not_asked_about_courses(world: PipelineWorld) -> None:
    """Neither a template nor a message of that category: it is not on the page."""
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        await sender.client.post("/api/v1/templates/academic_news/sms/archive")
        page = await laila.browser.get(f"/p/{laila.token}")

    assert "Courses and studies" not in page.text
    assert 'value="reminder:email"' in page.text


async def test_an_own_category_is_sent_gated_and_unsubscribed_from(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        made = await sender.client.post(HOME, json=STAYS)
        assert made.status_code == 201, made.text
        laila = await visitor(world, sender, category="stays")
        first = await laila.browser.post(f"/u/{laila.token}", data={"List-Unsubscribe": "One-Click"})
        again = await sender.send(recipient=laila.recipient_id, category="stays")
        await world.settle()
        status = await sender.status(again["id"])
        told = await sender.explain(again["id"])
        chosen = await laila.choices()

    assert (first.status_code, status) == (200, "suppressed")
    assert told["notification"]["use_case"] == "txn"
    assert chosen["channels"] == {"email": {"categories": {"stays": False}}}


async def test_nobody_sees_or_uses_another_tenants_own(world: PipelineWorld) -> None:
    async with world.sender() as one, world.sender() as other:
        await one.client.post(HOME, json=STAYS)
        seen = {line["category"] for line in (await other.client.get(HOME)).json()["items"]}
        shown = await other.client.get(f"{HOME}/stays")
        wish = {**person(f"x-{unused()}@example.test")}
        sent = await other.client.post(
            "/api/v1/notifications",
            json={"recipient": wish, "template": "otp", "channel": "email", "category": "stays",
                  "variables": {"code": "1"}},
        )  # fmt: skip
        drafted = await other.client.post(
            "/api/v1/templates/news/sms/versions",
            json={
                "semver": "1.0.0",
                "category": "stays",
                "variables_schema": {},
                "locales": {"en": {"body": "x"}},
            },
        )

    assert "stays" not in seen
    assert (shown.status_code, sent.status_code, drafted.status_code) == (404, 400, 400)
    assert "must be one of" in drafted.json()["errors"][0]["remedy"]


async def test_changes_need_the_version_and_stay_within_what_is_the_callers(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        client = sender.client
        taken = await client.post(HOME, json={**STAYS, "category": "reminder"})
        spam = await client.post(
            HOME, json={"category": "offers", "use_case": "marketing", "can_unsubscribe": False}
        )
        theirs = await change(client, f"{HOME}/reminder", can_unsubscribe=False)
        blind = await client.patch(f"{HOME}/reminder", json={"hidden": True})
        await client.post(HOME, json=STAYS)
        stale = await client.patch(f"{HOME}/stays", json={"hidden": True}, headers={"If-Match": '"v7"'})
        retired = await change(client, f"{HOME}/stays", retired=True)
        late = await client.post(
            "/api/v1/templates/late/sms/versions",
            json={
                "semver": "1.0.0",
                "category": "stays",
                "variables_schema": {},
                "locales": {"en": {"body": "x"}},
            },
        )
        internal = await client.get(PLATFORM)

    assert (taken.status_code, taken.json()["code"]) == (409, "category_taken")
    assert {error["field"] for error in spam.json()["errors"]} == {"needs_consent", "can_unsubscribe"}
    assert "is the platform's to say" in theirs.json()["errors"][0]["remedy"]
    assert (blind.status_code, stale.status_code) == (428, 412)
    assert retired.json()["retired"]
    assert "is retired" in late.json()["errors"][0]["remedy"]
    assert internal.status_code == 403


async def test_the_platform_adds_and_changes_categories_and_every_process_notices(
    world: PipelineWorld,
) -> None:
    name = f"house_{unused()}".lower()[:40]
    async with world.sender() as sender, world.http.as_platform() as platform:
        before = await world.http.system.notify.categories.of(sender.tenant_id)
        made = await platform.post(
            PLATFORM, json={"category": name, "use_case": "alert", "names": {"en": "From the house"}}
        )
        there = {line["category"]: line for line in (await sender.client.get(HOME)).json()["items"]}
        wish = {"semver": "1.0.0", "category": name, "variables_schema": {"type": "object"},
                "locales": {"en": {"format": "html", "subject": "x", "body": '<a href="{{@links.unsubscribe}}">x</a>'}},
                "preview_samples": {"usual": {}}}  # fmt: skip
        path = f"/api/v1/templates/{name}/email/versions"
        await platform.post(path, json=wish)
        put = await platform.post(f"{path}/1.0.0/publish")
        assert put.status_code == 200, put.text
        changed = await change(platform, f"{PLATFORM}/{name}", can_unsubscribe=False, position=7)
        after = await world.http.system.notify.categories.of(sender.tenant_id)
        hidden = await change(platform, f"{PLATFORM}/{name}", hidden=True)
        retired = await change(platform, f"{PLATFORM}/{name}", retired=True)
        put_away = await platform.post(f"/api/v1/templates/{name}/email/archive")

    assert made.status_code == 201, made.text
    assert name not in before
    assert (there[name]["owner"], there[name]["names"]) == ("platform", {"en": "From the house"})
    assert (after[name].can_unsubscribe, after[name].position) == (False, 7)
    [warning] = changed.json()["warnings"]
    assert f"{name}/email shows @links" in warning
    assert hidden.status_code == 400
    assert (retired.json()["retired"], put_away.status_code) == (True, 200)
