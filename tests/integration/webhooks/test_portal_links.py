"""A portal link opens one customer's endpoints for a while, and nothing else."""

from datetime import timedelta

import pytest

from tests.integration.webhooks.arranging import HOME, Subscriber
from tests.integration.webhooks.portal import PortalVisitor, visitor_of
from tests.support.pipeline import PipelineWorld
from tidings.notify.preference_center.tokens import hash_of
from tidings.notify.webhooks import call_counts, portal_link_store

pytestmark = pytest.mark.xdist_group("webhook-portal")

URL = "http://127.0.0.1:9/hook"


async def test_a_link_opens_without_a_login_and_shows_one_webhook(subscriber: Subscriber) -> None:
    mine = await subscriber.webhook(URL, name="Mine")
    other = await subscriber.webhook(URL, name="Another")

    visitor = await visitor_of(subscriber, mine["id"])
    page = await visitor.look()

    assert page.status_code == 200
    assert "Mine" in page.text
    assert "Another" not in page.text
    assert (await visitor.look(f"/endpoints/{other['id']}")).status_code == 404
    assert (await visitor.does(other["id"], "pause")).status_code == 404
    assert (await subscriber.show(other["id"]))["status"] == "active"


async def test_a_link_of_a_customer_shows_all_of_theirs_and_nobody_elses(subscriber: Subscriber) -> None:
    first = await subscriber.webhook(URL, name="Acme one", customer="acme-42")
    await subscriber.webhook(URL, name="Acme two", customer="acme-42")
    globex = await subscriber.webhook(URL, name="Globex", customer="globex")
    await subscriber.webhook(URL, name="Our own")

    visitor = await visitor_of(subscriber, first["id"])
    page = (await visitor.look()).text

    assert [name in page for name in ("Acme one", "Acme two", "Globex", "Our own")] == [
        True,
        True,
        False,
        False,
    ]
    assert (await visitor.look(f"/endpoints/{globex['id']}")).status_code == 404
    listed = await subscriber.client.get(HOME, params={"customer": "globex"})
    assert [one["id"] for one in listed.json()["items"]] == [globex["id"]]


async def test_a_token_of_one_tenant_shows_nothing_of_another(
    world: PipelineWorld, subscriber: Subscriber
) -> None:
    mine = await subscriber.webhook(URL)
    visitor = await visitor_of(subscriber, mine["id"])
    stranger = await world.tenant()
    async with world.http.as_tenant(stranger) as client:
        theirs = (await client.post(HOME, json={"url": URL, "events": ["notification.delivered.v1"]})).json()
        refused = await client.post(f"{HOME}/{mine['id']}/portal-links", json={})

    assert refused.status_code == 404
    assert (await visitor.look(f"/endpoints/{theirs['id']}")).status_code == 404
    # The rows themselves are behind the policy: another tenant's transaction finds no link by the hash.
    token_hash = hash_of(visitor.home.rpartition("/")[2])
    async with world.db.tenant(stranger) as tx:
        assert await portal_link_store.find_link(tx, token_hash) is None
    async with world.db.tenant(subscriber.tenant_id) as tx:
        assert await portal_link_store.find_link(tx, token_hash) is not None


async def test_a_link_ends_by_its_time_and_says_whom_to_ask(subscriber: Subscriber) -> None:
    mine = await subscriber.webhook(URL)
    visitor = await visitor_of(subscriber, mine["id"], lifetime_seconds=60)
    assert (await visitor.look()).status_code == 200

    await subscriber.world.clock.advance(timedelta(seconds=61))
    page = await visitor.look()

    assert page.status_code == 410
    assert "ask" in page.text
    assert (await visitor.does(mine["id"], "pause")).status_code == 410
    assert (await subscriber.show(mine["id"]))["status"] == "active"


@pytest.mark.parametrize("how", ["rotate", "delete", "events", "condition", "close"])
async def test_the_tenant_ends_a_link(subscriber: Subscriber, how: str) -> None:
    mine = await subscriber.webhook(URL, customer="acme")
    visitor = await visitor_of(subscriber, mine["id"])
    place = f"{HOME}/{mine['id']}"

    if how == "rotate":
        answer = await subscriber.client.post(f"{place}/rotate-secret", json={})
    elif how == "events":
        answer = await subscriber.client.patch(place, json={"events": ["batch.completed.v1"]})
    elif how == "condition":
        answer = await subscriber.client.patch(place, json={"condition": "data.category = 'acme'"})
    else:
        answer = await subscriber.client.delete(f"{place}/portal-links" if how == "close" else place)
    assert answer.status_code in {200, 204}

    page = await visitor.look()
    assert page.status_code == 404
    assert "for a new one" in page.text


@pytest.mark.parametrize("token", ["nonsense", "A" * 54, "z" * 54])
async def test_made_up_links_open_nothing(subscriber: Subscriber, token: str) -> None:
    browser = subscriber.world.http.client()

    page = await browser.get(f"/portal/{token}")

    assert page.status_code == 404
    assert page.headers["cache-control"] == "no-store"


async def test_guesses_are_counted(subscriber: Subscriber) -> None:
    browser = subscriber.world.http.client()
    await subscriber.world.clock.advance(timedelta(minutes=2))

    answers = [(await browser.get("/portal/guess")).status_code for _ in range(62)]

    assert answers.count(404) == 60
    assert answers[-1] == 429


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"lifetime_seconds": 59}, "lifetime_seconds"),
        ({"lifetime_seconds": 604_801}, "lifetime_seconds"),
        ({"event_types": ["nothing.like.it.v1"]}, "event_types[0]"),
        ({"event_types": []}, "event_types"),
        ({"locale": "xx-YY"}, "locale"),
        ({"embed_origins": ["https://app.example.com/page"]}, "embed_origins[0]"),
        ({"embed_origins": ["https://a.example; script-src *"]}, "embed_origins[0]"),
        ({"embed_origins": ["https://*.example"]}, "embed_origins[0]"),
    ],
)
async def test_a_bad_wish_is_refused_by_its_field(
    subscriber: Subscriber, wish: dict[str, object], field: str
) -> None:
    mine = await subscriber.webhook(URL)

    answer = await subscriber.client.post(f"{HOME}/{mine['id']}/portal-links", json=wish)

    assert answer.status_code in {400, 422}
    assert [one["field"] for one in answer.json()["errors"]] == [field]


async def test_a_customer_is_a_reference_and_no_text(subscriber: Subscriber) -> None:
    answer = await subscriber.client.post(
        HOME, json={"url": URL, "events": ["notification.delivered.v1"], "customer": "laila@example.test"}
    )

    assert answer.status_code in (400, 422)
    assert answer.json()["errors"][0]["field"] == "customer"


async def test_the_token_is_kept_nowhere(subscriber: Subscriber) -> None:
    mine = await subscriber.webhook(URL)
    visitor = await visitor_of(subscriber, mine["id"])
    token = visitor.home.rpartition("/")[2]

    links = await subscriber.rows("SELECT * FROM notification.webhook_portal_links")
    audit = await subscriber.rows("SELECT * FROM notification.audit")

    assert token not in str(links) + str(audit)
    assert "webhook.portal_link_created" in str(audit)


async def test_pages_are_framed_by_named_sites_alone(subscriber: Subscriber) -> None:
    mine = await subscriber.webhook(URL)
    plain = await visitor_of(subscriber, mine["id"])
    framed = await visitor_of(subscriber, mine["id"], embed_origins=["https://App.Example.com/"])

    assert "frame-ancestors 'none'" in (await plain.look()).headers["content-security-policy"]
    policy = (await framed.look()).headers["content-security-policy"]
    assert "frame-ancestors https://app.example.com" in policy
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
    # A page that says why there is nothing stands in the same frame.
    await subscriber.world.clock.advance(timedelta(hours=1))
    assert "https://app.example.com" in (await framed.look()).headers["content-security-policy"]


async def test_what_is_over_is_swept(subscriber: Subscriber) -> None:
    mine = await subscriber.webhook(URL)
    visitor: PortalVisitor = await visitor_of(subscriber, mine["id"], lifetime_seconds=60)
    token_hash = hash_of(visitor.home.rpartition("/")[2])
    world = subscriber.world
    sweeps = world.system.webhooks.sweeps()
    async with world.db.tenant(subscriber.tenant_id) as tx:
        await tx.connection.execute(
            "INSERT INTO notification.webhook_call_counts VALUES ($1, $2, $3, 1, 0)",
            subscriber.tenant_id, mine["id"], world.clock.now() - timedelta(days=9),
        )  # fmt: skip

    await sweeps["webhook_portal_links"](100)
    await sweeps["webhook_call_counts"](100)
    async with world.db.tenant(subscriber.tenant_id) as tx:
        assert await portal_link_store.find_link(tx, token_hash) is not None
        assert (
            await call_counts.load_hours(tx, [mine["id"]], since=world.clock.now() - timedelta(days=30)) == []
        )
    await world.clock.advance(timedelta(days=31))
    await sweeps["webhook_portal_links"](100)

    async with world.db.tenant(subscriber.tenant_id) as tx:
        assert await portal_link_store.find_link(tx, token_hash) is None
