"""What a customer sees in the portal, and what they do there: all of it by plain forms, and in the audit by the link."""

import re
from datetime import timedelta

import pytest

from tests.integration.webhooks.arranging import DELIVERED, HOME, Subscriber, settle
from tests.integration.webhooks.portal import visitor_of
from tests.support.webhook_receiver import WebhookReceiver
from tidings.notify.webhook_portal.strings import languages
from tidings.notify.webhooks.call_counts import load_hours

pytestmark = pytest.mark.xdist_group("webhook-portal")

#: A browser that comes from another site.
ELSEWHERE = {"sec-fetch-site": "cross-site"}


async def _actions(subscriber: Subscriber) -> list[tuple[str, str]]:
    rows = await subscriber.rows(
        "SELECT action, actor FROM notification.audit WHERE entity_type = 'webhook' ORDER BY seq"
    )
    return [(row["action"], row["actor"]) for row in rows]


async def test_calls_are_counted_by_the_hour_and_shown(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    mine = await subscriber.webhook(receiver.url("/a"), name="Mine")
    await subscriber.told("a", "b", "c")
    receiver.status = 500
    await subscriber.told("d")
    visitor = await visitor_of(subscriber, mine["id"])

    page = (await visitor.look()).text

    async with subscriber.world.db.tenant(subscriber.tenant_id) as tx:
        [hour] = await load_hours(tx, [mine["id"]], since=subscriber.world.clock.now() - timedelta(days=1))
    assert (hour.taken, hour.not_taken) == (3, 1)
    assert "75%" in page
    assert "(3/4)" in page
    assert "Failing" in page
    assert page.count("<svg") == 2
    assert "Taken: 3. Not taken: 1." in page
    # A webhook that goes takes its counts with it.
    await subscriber.client.delete(f"{HOME}/{mine['id']}")
    async with subscriber.world.db.tenant(subscriber.tenant_id) as tx:
        assert await load_hours(tx, [mine["id"]], since=hour.hour) == []


async def test_what_failed_before_there_was_a_call_is_not_counted(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    mine = await subscriber.webhook(receiver.url("/a"), transform={"x": ["$.data"] * 200})
    await subscriber.told("x", category="y" * 50_000)

    [delivery] = await subscriber.deliveries(mine["id"])
    async with subscriber.world.db.tenant(subscriber.tenant_id) as tx:
        hours = await load_hours(tx, [mine["id"]], since=subscriber.world.clock.now() - timedelta(days=1))
    assert (delivery["last_reason"], receiver.heard, hours) == ("too_large", [], [])


async def test_deliveries_are_filtered_paged_and_shown_whole(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    mine = await subscriber.webhook(receiver.url("/a"), headers={"X-Key": "tenants-secret"})
    await subscriber.told(*(f"k{number}" for number in range(27)))
    receiver.status = 500
    await subscriber.told("bad")
    visitor = await visitor_of(subscriber, mine["id"])
    place = f"/endpoints/{mine['id']}/deliveries"

    first = (await visitor.look(place)).text
    waiting = (await visitor.look(f"{place}?status=queued")).text
    older = re.search(r'deliveries\?after=(whd_\w+)"', first)
    assert older is not None
    second = (await visitor.look(f"{place}?after={older[1]}")).text
    [delivery] = await subscriber.deliveries(mine["id"], status="queued")
    shown = (await visitor.look(f"{place}/{delivery['id']}")).text

    def links(page: str) -> int:
        return len(re.findall(r"/deliveries/whd_", page))

    assert (links(first), links(second), links(waiting)) == (25, 3, 1)
    assert delivery["event_id"] in shown
    assert "x-key" in shown.lower()
    assert "tenants-secret" not in shown
    assert "not 2xx" in shown
    assert "notification_id" in shown


async def test_somebody_who_only_looks_changes_nothing(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    mine = await subscriber.webhook(receiver.url("/a"), customer="acme")
    visitor = await visitor_of(subscriber, mine["id"], may_change=False)
    place = f"/endpoints/{mine['id']}"

    answers = [
        await visitor.does(mine["id"], "pause"),
        await visitor.sends(f"{place}/delete", version="1"),
        await visitor.sends(f"{place}/rotate", version="1"),
        await visitor.sends(f"{place}/change", url=receiver.url("/b"), events=[DELIVERED], version="1"),
        await visitor.sends(f"{place}/test"),
        await visitor.sends("/new", url=receiver.url("/b"), events=[DELIVERED]),
        await visitor.look("/new"),
        await visitor.look(f"{place}/change"),
    ]

    assert [answer.status_code for answer in answers] == [403] * 8
    assert "<form" not in (await visitor.look(place)).text
    after = await subscriber.show(mine["id"])
    assert (after["status"], after["version"]) == ("active", 1)
    assert receiver.heard == []


@pytest.mark.parametrize("headers", [ELSEWHERE, {"origin": "https://evil.example"}])
async def test_forms_of_other_sites_are_refused(subscriber: Subscriber, headers: dict[str, str]) -> None:
    mine = await subscriber.webhook("http://127.0.0.1:9/")
    visitor = await visitor_of(subscriber, mine["id"])

    refused = await visitor.sends(f"/endpoints/{mine['id']}", headers, do="pause")

    assert refused.status_code == 403
    assert "another site" in refused.text
    assert (await subscriber.show(mine["id"]))["status"] == "active"
    own = {"sec-fetch-site": "same-origin", "origin": "null"}
    assert (await visitor.sends(f"/endpoints/{mine['id']}", own, do="pause")).status_code == 303
    assert (await subscriber.show(mine["id"]))["status"] == "paused"


async def test_pausing_testing_and_sending_again(subscriber: Subscriber, receiver: WebhookReceiver) -> None:
    mine = await subscriber.webhook(receiver.url("/a"))
    receiver.status = 410
    await subscriber.told("a")
    receiver.status = 204
    visitor = await visitor_of(subscriber, mine["id"])
    place = f"/endpoints/{mine['id']}"
    assert "410" in (await visitor.look()).text

    tested = await visitor.sends(f"{place}/test")
    assert "answered 204" in tested.text
    resumed = await visitor.does(mine["id"], "resume")
    assert resumed.headers["location"].endswith("?note=resumed")
    again = await visitor.does(mine["id"], "redeliver")
    assert again.headers["location"].endswith("?note=redelivered&count=1")
    await settle(subscriber.world)
    assert [one["status"] for one in await subscriber.deliveries(mine["id"])] == ["delivered"]
    await visitor.does(mine["id"], "pause")
    refused = await visitor.does(mine["id"], "redeliver")
    assert refused.status_code == 409
    assert "Resume it first" in refused.text
    [delivery] = await subscriber.deliveries(mine["id"])
    await visitor.does(mine["id"], "resume")
    one = await visitor.does(mine["id"], "redeliver", delivery=delivery["id"])
    assert one.headers["location"].endswith("count=1")
    recovered = await visitor.does(mine["id"], "recover", hours="24")
    assert recovered.status_code == 303
    for bad in ({"do": "explode"}, {"do": "recover", "hours": "9999"}, {"do": "redeliver", "delivery": "x"}):
        assert (await visitor.sends(place, None, **bad)).status_code == 404

    portal = f"portal:{visitor.link['id']}"
    done = {action for action, actor in await _actions(subscriber) if actor == portal}
    assert done == {
        "webhook.tested",
        "webhook.resumed",
        "webhook.paused",
        "webhook.redelivered",
        "webhook.recovered",
    }


async def test_a_new_endpoint_hears_what_the_first_one_may_hear_and_no_more(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    first = await subscriber.webhook(
        receiver.url("/a"),
        customer="acme",
        condition="data.category = 'billing'",
        headers={"X-Key": "tenants-secret"},
        events=[DELIVERED, "batch.completed.v1"],
    )
    visitor = await visitor_of(subscriber, first["id"])

    made = await visitor.sends(
        "/new", url=receiver.url("/b"), name="Second", events=[DELIVERED, "recipient.erased.v1", ">"]
    )

    assert made.status_code == 200
    secret = re.search(r"whsec_[\w+/=]+", made.text)
    assert secret is not None
    listed = (await subscriber.client.get(HOME, params={"customer": "acme"})).json()["items"]
    [second] = [one for one in listed if one["id"] != first["id"]]
    assert second["events"] == [DELIVERED]
    assert second["condition"] == "data.category = 'billing'"
    assert second["header_names"] == []
    await subscriber.told("a", category="billing")
    await subscriber.told("b", category="marketing")
    assert sorted(call.path for call in receiver.heard) == ["/a", "/b"]
    assert "x-key" not in next(call for call in receiver.heard if call.path == "/b").headers
    # The same form once more makes no other one.
    twice = await visitor.sends("/new", url=receiver.url("/b"), name="Second", events=[DELIVERED])
    assert twice.status_code == 400
    assert "already" in twice.text
    assert ("webhook.created", f"portal:{visitor.link['id']}") in await _actions(subscriber)


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/x", "http://169.254.169.254/latest", "ftp://a.example", "nonsense", ""]
)
async def test_an_address_that_leads_inside_is_refused_in_words(subscriber: Subscriber, url: str) -> None:
    first = await subscriber.webhook("http://127.0.0.1:9/", customer="acme")
    visitor = await visitor_of(subscriber, first["id"])

    new = await visitor.sends("/new", url=url, events=[DELIVERED])
    version = await visitor.version(first["id"])
    changed = await visitor.sends(
        f"/endpoints/{first['id']}/change", url=url, events=[DELIVERED], version=version
    )

    for page in (new, changed):
        assert page.status_code == 400
        assert "can be reached from the internet" in page.text
        assert 'aria-invalid="true"' in page.text
    assert (await subscriber.show(first["id"]))["url"] == "http://127.0.0.1:9/"


async def test_a_change_keeps_what_was_never_offered(subscriber: Subscriber) -> None:
    mine = await subscriber.webhook(
        "http://127.0.0.1:9/", events=["batch.completed.v1", DELIVERED, "recipient.erased.v1"]
    )
    visitor = await visitor_of(subscriber, mine["id"], event_types=["notification.*.v1"])
    place = f"/endpoints/{mine['id']}/change"
    form = (await visitor.look(place)).text
    version = await visitor.version(mine["id"])

    saved = await visitor.sends(
        place, url="http://127.0.0.1:9/other", name="Ours", events=["notification.failed.v1"], version=version
    )

    assert 'value="notification.*.v1"' in form
    assert 'value="recipient.erased.v1"' not in form
    assert saved.headers["location"].endswith("?note=saved")
    after = await subscriber.show(mine["id"])
    assert (after["url"], after["name"]) == ("http://127.0.0.1:9/other", "Ours")
    assert after["events"] == ["batch.completed.v1", "recipient.erased.v1", "notification.failed.v1"]
    # The same form once more was made of a version that is not there any more.
    stale = await visitor.sends(place, url="http://127.0.0.1:9/x", events=[DELIVERED], version=version)
    assert stale.status_code == 409


async def test_the_tenants_credentials_go_nowhere_else(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    mine = await subscriber.webhook(receiver.url("/a"), headers={"Authorization": "Bearer tenants"})
    visitor = await visitor_of(subscriber, mine["id"])
    place = f"/endpoints/{mine['id']}/change"
    version = await visitor.version(mine["id"])

    moved = await visitor.sends(place, url="http://127.0.0.1:9/", events=[DELIVERED], version=version)
    stays = await visitor.sends(place, url=receiver.url("/b"), events=[DELIVERED], version=version)

    assert moved.status_code == 400
    assert "credentials" in moved.text
    assert stays.status_code == 303


async def test_a_new_secret_is_shown_once_and_overlaps(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    mine = await subscriber.webhook(receiver.url("/a"))
    visitor = await visitor_of(subscriber, mine["id"])
    another = await visitor_of(subscriber, mine["id"])
    place = f"/endpoints/{mine['id']}"
    version = await visitor.version(mine["id"], "rotate")

    rotated = await visitor.sends(f"{place}/rotate", version=version)
    reloaded = await visitor.sends(f"{place}/rotate", version=version)
    await subscriber.told("a")

    secret = re.search(r"whsec_[\w+/=]+", rotated.text)
    assert secret is not None
    assert secret[0] != mine["secret"]
    assert reloaded.status_code == 409
    assert "whsec_" not in (await visitor.look()).text
    [call] = receiver.heard
    assert len(call.headers["webhook-signature"].split()) == 2
    # Who rotates by a link keeps it; other links end.
    assert (await visitor.look()).status_code == 200
    assert (await another.look()).status_code == 404


async def test_deleting_leaves_the_others_of_the_customer(subscriber: Subscriber) -> None:
    first = await subscriber.webhook("http://127.0.0.1:9/a", customer="acme", name="First")
    second = await subscriber.webhook("http://127.0.0.1:9/b", customer="acme", name="Second")
    visitor = await visitor_of(subscriber, first["id"])

    asked = await visitor.look(f"/endpoints/{second['id']}/delete")
    gone = await visitor.sends(f"/endpoints/{second['id']}/delete")
    left = await visitor.look()
    last = await visitor.sends(f"/endpoints/{first['id']}/delete")

    assert asked.status_code == 200
    assert gone.status_code == 303
    assert "First" in left.text
    assert "Second" not in left.text
    # What a new one would hear was said by the one that is gone: the link ends with it.
    assert "Deleted." in last.text
    assert (await visitor.look()).status_code == 404
    alone = await subscriber.webhook("http://127.0.0.1:9/d")
    lonely = await visitor_of(subscriber, alone["id"])
    assert "Deleted." in (await lonely.sends(f"/endpoints/{alone['id']}/delete")).text
    assert (await lonely.look()).status_code == 404


async def test_a_customer_may_make_some_and_not_any_number(subscriber: Subscriber) -> None:
    first = await subscriber.webhook("http://127.0.0.1:9/0", customer="acme")
    visitor = await visitor_of(subscriber, first["id"])

    for number in range(1, 20):
        made = await visitor.sends("/new", url=f"http://127.0.0.1:9/{number}", events=[DELIVERED])
        assert made.status_code == 200, number
    refused = await visitor.sends("/new", url="http://127.0.0.1:9/20", events=[DELIVERED])

    assert refused.status_code == 409
    assert "as many addresses as there can be" in refused.text


async def test_too_many_changes_and_calls_wait(subscriber: Subscriber, receiver: WebhookReceiver) -> None:
    mine = await subscriber.webhook(receiver.url("/a"))
    visitor = await visitor_of(subscriber, mine["id"])

    tests = [(await visitor.sends(f"/endpoints/{mine['id']}/test")).status_code for _ in range(11)]
    changes = [(await visitor.does(mine["id"], "pause")).status_code for _ in range(61)]

    assert tests == [200] * 10 + [429]
    assert changes == [303] * 60 + [429]


@pytest.mark.parametrize("language", sorted(languages()))
async def test_it_speaks_the_language_of_the_link_or_of_the_browser(
    subscriber: Subscriber, language: str
) -> None:
    mine = await subscriber.webhook("http://127.0.0.1:9/")
    words = languages()[language]
    linked = await visitor_of(subscriber, mine["id"], locale=words.language)
    plain = await visitor_of(subscriber, mine["id"])

    by_link = (await linked.look(**{"accept-language": "en"})).text
    by_browser = (await plain.look(**{"accept-language": f"{words.language},en;q=0.5"})).text

    for page in (by_link, by_browser):
        assert f'<html lang="{words.language}" dir="{words.direction}">' in page
        assert words.deliveries in page


async def test_every_page_is_secret_and_has_no_script(subscriber: Subscriber) -> None:
    mine = await subscriber.webhook("http://127.0.0.1:9/", customer="acme")
    visitor = await visitor_of(subscriber, mine["id"])
    place = f"/endpoints/{mine['id']}"

    for path in (
        "",
        "/new",
        place,
        *(f"{place}/{name}" for name in ("change", "rotate", "delete", "deliveries")),
    ):
        page = await visitor.look(path)
        assert page.status_code == 200, path
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["x-robots-tag"] == "noindex"
        assert "<script" not in page.text
        assert " style=" not in page.text


async def test_what_a_tenant_writes_is_text(subscriber: Subscriber) -> None:
    bad = "<img src=x onerror=alert(1)>"
    mine = await subscriber.webhook(
        'http://127.0.0.1:9/?a="><b>', name=bad, condition=f"data.category = '{bad}'"
    )
    visitor = await visitor_of(subscriber, mine["id"])

    page = (await visitor.look("?note=<script>&count=<b>")).text

    assert "<img" not in page
    assert "<script" not in page
    assert "&lt;img src=x" in page


async def test_a_frozen_tenant_shows_and_changes_nothing(subscriber: Subscriber) -> None:
    mine = await subscriber.webhook("http://127.0.0.1:9/")
    visitor = await visitor_of(subscriber, mine["id"])
    async with subscriber.world.http.as_platform() as platform:
        frozen = await platform.post(f"/internal/v1/tenants/{subscriber.tenant_id}/freeze", json={})
        assert frozen.status_code == 200, frozen.text
    await settle(subscriber.world)
    await subscriber.world.clock.advance(timedelta(seconds=2))

    assert (await visitor.look()).status_code == 200
    assert (await visitor.does(mine["id"], "pause")).status_code == 409
