"""Opens and clicks, from the mail that a vendor got to the event that is told; only where both the tenant and the category want it."""

import json
import re
from html import unescape
from typing import Any

import httpx2
import pytest

from tests.support.people import told, unused
from tests.support.pipeline import PipelineWorld, Sender
from tidings.contracts.tenants import NotificationPolicy, Tracking
from tidings.notify.tracking.routes import PIXEL

pytestmark = pytest.mark.xdist_group("tracking-watching")

BOTH = NotificationPolicy(tracking=Tracking(opens=True, clicks=True))
PERSON = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0"}
LINK = "https://shop.example/r/R-2041?a=1&b=2#c"
#: What a mail of this template has for those who want no more.
SAYING_NO = {"u", "p"}
RESERVED = {
    "reservation_number": "R-2041",
    "place": "Bagh-e Babur",
    "starts_at": "2026-11-20T14:30:00Z",
    "manage_url": LINK,
}


class Mail:
    """A mail as the vendor got it."""

    def __init__(self, notification_id: str, html: str, headers: dict[str, str]) -> None:
        self.id = notification_id
        self.html = html
        self.headers = headers
        self.links = [unescape(found) for found in re.findall(r'<a [^>]*?href="([^"]*)"', html)]
        self.pixels = re.findall(r'<img src="https://tidings\.example(/t/o/[\w-]+\.gif)"', html)

    @property
    def clicks(self) -> list[str]:
        return [
            link.removeprefix("https://tidings.example")
            for link in self.links
            if link.startswith("https://tidings.example/t/c/")
        ]


async def _mail(world: PipelineWorld, sender: Sender, **wish: Any) -> Mail:
    to = f"laila-{unused()}@example.test"
    wish = {"template": "reservation_reminder", "variables": RESERVED} | wish
    sent = await sender.send(to, **wish)
    await world.settle()
    [received] = world.received(to)
    assert received.html is not None
    return Mail(sent["id"], received.html, received.headers)


async def _visit(world: PipelineWorld, path: str, **headers: str) -> httpx2.Response:
    async with world.http.client() as browser:
        answer = await browser.get(path, headers=PERSON | headers)
    await world.system.notify.visits.settle()
    return answer


async def _row(sender: Sender, mail: Mail) -> dict[str, Any]:
    query = "SELECT status, opened_at, clicked_at FROM notification.notifications WHERE id = $1"
    return (await sender.rows(query, mail.id))[0]


async def _counts(sender: Sender) -> dict[str, int]:
    names = "SELECT name, sum(n)::int AS n FROM notification.counters WHERE name ~ '^(opened|clicked)' GROUP BY name"
    return {row["name"]: row["n"] for row in await sender.rows(names)}


async def test_an_open_and_a_click_are_told_once_and_counted_every_time(world: PipelineWorld) -> None:
    async with world.sender(BOTH) as sender:
        mail = await _mail(world, sender)
        [pixel], [click] = mail.pixels, mail.clicks
        first = await _visit(world, pixel)
        for _ in range(2):
            await _visit(world, pixel)
        followed = await _visit(world, click)
        await _visit(world, click)
        row, counts = await _row(sender, mail), await _counts(sender)
        events = await told(world.db, sender.tenant_id, "notification.")
        explained = await sender.explain(mail.id)
        body = await sender.client.get(f"/api/v1/notifications/{mail.id}/body")

    assert (first.status_code, first.content, first.headers["content-type"]) == (200, PIXEL, "image/gif")
    assert first.headers["cache-control"] == "no-store"
    assert (followed.status_code, followed.headers["location"]) == (302, LINK)
    assert (row["status"], row["opened_at"], row["clicked_at"]) == (
        "delivered",
        world.clock.now(),
        world.clock.now(),
    )
    assert counts == {"opened": 1, "opened_again": 2, "clicked": 1, "clicked_again": 1}
    engaged = [(s, e) for s, e in events if s in {"notification.opened.v1", "notification.clicked.v1"}]
    assert sorted(subject for subject, _ in engaged) == ["notification.clicked.v1", "notification.opened.v1"]
    assert {(e["notification_id"], e["channel"], e["source"]) for _, e in engaged} == {
        (mail.id, "email", "tracking")
    }
    said = [one["text"] for one in explained["timeline"]]
    assert [text for text in said if "opened" in text or "followed" in text] == [
        "It was opened.",
        "A link in it was followed.",
    ]
    # What is shown later are the words: nobody opens anything by looking at it.
    assert (body.json()["exact"], "/t/" in body.json()["html"]) == (True, False)


async def test_saying_no_is_watched_by_nobody(world: PipelineWorld) -> None:
    async with world.sender(BOTH) as sender:
        mail = await _mail(world, sender)

    ours = [link for link in mail.links if link.startswith("https://tidings.example/")]
    assert {link.split("/")[3] for link in ours} - {"t"} == SAYING_NO
    assert "/u/" in next(v for k, v in mail.headers.items() if k.lower() == "list-unsubscribe")
    # No address, in whatever spelling, is part of a link.
    assert not any("laila" in link or "@" in link for link in mail.links if "/t/" in link)


@pytest.mark.parametrize(
    ("tracking", "wish", "pixels", "clicks"),
    [
        (Tracking(), {}, 0, 0),
        (Tracking(opens=True), {}, 1, 0),
        (Tracking(clicks=True), {}, 0, 1),
        # The category forbids it.
        (Tracking(opens=True, clicks=True), {"category": "security"}, 0, 0),
    ],
)
async def test_both_have_to_want_it(
    world: PipelineWorld, tracking: Tracking, wish: dict[str, Any], pixels: int, clicks: int
) -> None:
    async with world.sender(NotificationPolicy(tracking=tracking)) as sender:
        mail = await _mail(world, sender, **wish)

    assert (len(mail.pixels), len(mail.clicks)) == (pixels, clicks)


async def test_what_is_switched_off_later_still_leads_on_and_is_not_kept(world: PipelineWorld) -> None:
    async with world.sender(BOTH) as sender:
        mail = await _mail(world, sender)
        await sender.policy(NotificationPolicy())
        followed = await _visit(world, mail.clicks[0])
        opened = await _visit(world, mail.pixels[0])
        row, counts = await _row(sender, mail), await _counts(sender)

    assert (followed.headers["location"], opened.status_code) == (LINK, 200)
    assert (row["opened_at"], row["clicked_at"], counts) == (None, None, {})


async def test_machines_and_the_erased_teach_nothing(world: PipelineWorld) -> None:
    async with world.sender(BOTH) as sender:
        mail = await _mail(world, sender)
        await _visit(world, mail.pixels[0], **{"user-agent": "Mozilla/5.0"})
        await _visit(world, mail.clicks[0], **{"sec-purpose": "prefetch"})
        by_machines, counts = await _row(sender, mail), await _counts(sender)
        shown = (await sender.client.get(f"/api/v1/notifications/{mail.id}")).json()
        async with world.db.tenant(sender.tenant_id, by_index=True) as tx:
            await world.system.notify.eraser.erase(tx, shown["recipient_id"], actor="test")
        followed = await _visit(world, mail.clicks[0])
        erased, after = await _row(sender, mail), await _counts(sender)

    assert (by_machines["opened_at"], by_machines["clicked_at"]) == (None, None)
    assert counts == {"opened_by_machine": 1, "clicked_by_machine": 1}
    assert (followed.headers["location"], erased["clicked_at"], after) == (LINK, None, counts)


async def test_nonsense_leads_nowhere(world: PipelineWorld) -> None:
    async with world.sender(BOTH) as sender:
        mail = await _mail(world, sender)
        [pixel], [click] = mail.pixels, mail.clicks
        changed = f"{click[:40]}{'A' if click[40] != 'A' else 'B'}{click[41:]}"
        asked = [
            changed,
            click[:-8],
            click.replace("/t/c/", "/t/o/") + ".gif",
            pixel.replace("/t/o/", "/t/c/").removesuffix(".gif"),
            pixel.removesuffix(".gif"),
            "/t/c/x",
            "/t/c/" + "A" * 2000,
            "/t/o/%00.gif",
        ]
        answers = [await _visit(world, path) for path in asked]
        counts = await _counts(sender)

    assert [answer.status_code for answer in answers] == [404] * len(asked)
    assert not any("location" in answer.headers for answer in answers)
    assert answers[0].headers["content-type"].startswith("text/html")
    assert counts == {}


async def test_a_head_leads_on_like_a_get(world: PipelineWorld) -> None:
    async with world.sender(BOTH) as sender:
        mail = await _mail(world, sender)
        async with world.http.client() as browser:
            answer = await browser.head(mail.clicks[0], headers=PERSON)
        await world.system.notify.visits.settle()

    assert (answer.status_code, answer.headers["location"], answer.content) == (302, LINK, b"")


async def test_the_address_that_a_mail_went_to_is_kept_with_it(world: PipelineWorld) -> None:
    """What its vendor says later is about that one; nothing of the address itself is kept."""
    async with world.sender() as sender:
        mail = await _mail(world, sender)
        [kept] = await sender.rows(
            "SELECT render_snapshot, recipient_id FROM notification.notifications WHERE id = $1", mail.id
        )
        [address] = await sender.rows(
            "SELECT id FROM notification.recipient_addresses WHERE recipient_id = $1", kept["recipient_id"]
        )

    assert json.loads(kept["render_snapshot"])["to"] == {"email": address["id"]}
    assert "laila" not in kept["render_snapshot"]
